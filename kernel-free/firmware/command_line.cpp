// SPDX-License-Identifier: Apache-2.0
// command_line.cpp — see command_line.h.
#include "kernel-free/firmware/command_line.h"

namespace janus::bare {
namespace {

char g_no_name[] = "program";

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Unquotes the word at `from` in place and ends it with a zero byte; returns where the next word may begin.
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

constexpr char kDevice[] = "virtio_mmio.device=";

// Returns the text behind `prefix` in the word; nullptr: the word does not begin with it.
char* behind(const char* prefix, char* word) {
  while (*prefix != '\0')
    if (*word++ != *prefix++) return nullptr;
  return word;
}

bool is_setting(char* word) {
  word = behind("JANUS_", word);
  if (word == nullptr) return false;
  while (*word != '\0' && *word != '=') ++word;
  return *word == '=';
}

// Strips kDevice from the device words at the end and moves them up by one place, so that the nullptr that ends argv
// fits before them. Returns the first of them.
char** part_devices(char** end, char** begin) {
  char** first = end;
  while (first != begin && behind(kDevice, first[-1]) != nullptr) --first;
  for (char** word = end; word != first; --word) *word = behind(kDevice, word[-1]);
  end[1] = nullptr;
  *first = nullptr;
  return first + 1;
}

}  // namespace

Words parse_command_line(char* line, char** pointers) noexcept {
  Words words{0, nullptr, pointers, nullptr};
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
  }
  if (in_settings) {
    *next++ = nullptr;
    words.argv = next;
  }
  words.devices = part_devices(next, words.argv);
  words.argc = static_cast<int>(words.devices - 1 - words.argv);
  if (words.argc != 0) return words;
  // The line names no program: moves the devices and their nullptr one place further, writes argv's nullptr before
  // them, and puts g_no_name where that nullptr was.
  for (char** word = next + 1; word >= words.devices; --word) word[1] = word[0];
  *words.devices++ = nullptr;
  words.argv[0] = g_no_name;
  words.argc = 1;
  return words;
}

}  // namespace janus::bare
