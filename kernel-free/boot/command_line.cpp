// SPDX-License-Identifier: Apache-2.0
// command_line.cpp — see command_line.h.
#include "kernel-free/boot/command_line.h"

namespace janus::bare {
namespace {

char g_no_name[] = "program";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Unquotes the word at `from` and ends it with a zero byte; gives where the next one may begin.
char* cut_word(char* from) {
  char* to = from;
  bool is_quoted = false;
  for (; *from != '\0' && (is_quoted || !is_space(*from)); ++from) {
    if (*from == '"') {
      is_quoted = !is_quoted;
    } else {
      if (*from == '\\' && from[1] != '\0') ++from;
      *to++ = *from;
    }
  }
  char* const next = *from == '\0' ? from : from + 1;
  *to = '\0';
  return next;
}

bool is_setting(const char* word) {
  constexpr char kPrefix[] = "JANUS_";
  for (const char* p = kPrefix; *p != '\0'; ++p)
    if (*word++ != *p) return false;
  while (*word != '\0' && *word != '=') ++word;
  return *word == '=';
}

}  // namespace

Words parse_command_line(char* line, char** pointers) noexcept {
  Words words{0, nullptr, pointers};
  char** next = pointers;
  bool in_settings = true;
  for (;;) {
    while (is_space(*line)) ++line;
    if (*line == '\0') break;
    char* const word = line;
    line = cut_word(line);
    if (in_settings && !is_setting(word)) {
      in_settings = false;
      *next++ = nullptr;
      words.argv = next;
    }
    *next++ = word;
    if (!in_settings) ++words.argc;
  }
  if (in_settings) {
    *next++ = nullptr;
    words.argv = next;
    *next++ = g_no_name;
    words.argc = 1;
  }
  *next = nullptr;
  return words;
}

}  // namespace janus::bare
