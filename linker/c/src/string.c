// SPDX-License-Identifier: Apache-2.0
// string.c: functions for strings that end in NUL. Those for plain bytes are in bytes.c; memcpy, memmove, memset and
// memcmp are in the runtime.
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linker/c/src/define.h"

// strlen reads eight bytes at a time once aligned: an aligned word is never partly in a page that the string does not
// touch.
typedef uint64_t __attribute__((__may_alias__)) word;

// Returns a word in which the high bit of the first zero byte is set, and perhaps of later bytes; 0 if no byte is zero.
static uint64_t zero_bytes(word w) {
  return (w - 0x0101010101010101u) & ~w & 0x8080808080808080u;
}

JANUS_C_DEFINE size_t strlen(const char* text) {
  const char* at = text;
  for (; (uintptr_t)at % sizeof(word) != 0; at++)
    if (*at == '\0') return (size_t)(at - text);
  uint64_t zeroes;
  while ((zeroes = zero_bytes(*(const word*)at)) == 0) at += sizeof(word);
  return (size_t)(at - text) + (size_t)__builtin_ctzll(zeroes) / 8;
}

JANUS_C_DEFINE size_t strnlen(const char* text, size_t most) {
  const char* end = memchr(text, '\0', most);
  return end == NULL ? most : (size_t)(end - text);
}

JANUS_C_DEFINE int strncmp(const char* left, const char* right, size_t count) {
  for (; count > 0; left++, right++, count--)
    if (*left != *right || *left == '\0') return (unsigned char)*left - (unsigned char)*right;
  return 0;
}

JANUS_C_DEFINE int strcmp(const char* left, const char* right) {
  return strncmp(left, right, SIZE_MAX);
}
JANUS_C_DEFINE int strcoll(const char* left, const char* right) {
  return strcmp(left, right);
}

JANUS_C_DEFINE int strncasecmp(const char* left, const char* right, size_t count) {
  for (; count > 0; left++, right++, count--) {
    const int difference = tolower((unsigned char)*left) - tolower((unsigned char)*right);
    if (difference != 0 || *left == '\0') return difference;
  }
  return 0;
}

JANUS_C_DEFINE int strcasecmp(const char* left, const char* right) {
  return strncasecmp(left, right, SIZE_MAX);
}

JANUS_C_DEFINE char* strchrnul(const char* text, int c) {
  while (*text != '\0' && *text != (char)c) text++;
  return (char*)text;
}

JANUS_C_DEFINE char* strchr(const char* text, int c) {
  char* at = strchrnul(text, c);
  return *at == (char)c ? at : NULL;
}

JANUS_C_DEFINE char* strrchr(const char* text, int c) {
  return memrchr(text, c, strlen(text) + 1);
}
JANUS_C_DEFINE char* strstr(const char* text, const char* needle) {
  return memmem(text, strlen(text), needle, strlen(needle));
}

// For span(), which returns the length of the start of `text` whose characters are all in `set`, or all not in it.
enum Membership { kOutside, kInside };

static size_t span(const char* text, const char* set, enum Membership wanted) {
  uint64_t member[4] = {0};
  for (; *set != '\0'; set++) member[(unsigned char)*set / 64] |= UINT64_C(1) << (unsigned char)*set % 64;
  const char* at = text;
  for (; *at != '\0'; at++) {
    const unsigned char c = (unsigned char)*at;
    if ((member[c / 64] >> c % 64 & 1) != (uint64_t)wanted) break;
  }
  return (size_t)(at - text);
}

JANUS_C_DEFINE size_t strspn(const char* text, const char* accepted) {
  return span(text, accepted, kInside);
}
JANUS_C_DEFINE size_t strcspn(const char* text, const char* rejected) {
  return span(text, rejected, kOutside);
}

JANUS_C_DEFINE char* strpbrk(const char* text, const char* accepted) {
  text += strcspn(text, accepted);
  return *text == '\0' ? NULL : (char*)text;
}

JANUS_C_DEFINE char* stpcpy(char* restrict to, const char* restrict from) {
  const size_t length = strlen(from);
  memcpy(to, from, length + 1);
  return to + length;
}

JANUS_C_DEFINE char* strcpy(char* restrict to, const char* restrict from) {
  stpcpy(to, from);
  return to;
}

JANUS_C_DEFINE char* stpncpy(char* restrict to, const char* restrict from, size_t count) {
  const size_t length = strnlen(from, count);
  memcpy(to, from, length);
  memset(to + length, 0, count - length);
  return to + length;
}

JANUS_C_DEFINE char* strncpy(char* restrict to, const char* restrict from, size_t count) {
  stpncpy(to, from, count);
  return to;
}

JANUS_C_DEFINE char* strcat(char* restrict to, const char* restrict from) {
  stpcpy(to + strlen(to), from);
  return to;
}

JANUS_C_DEFINE char* strncat(char* restrict to, const char* restrict from, size_t count) {
  char* end = to + strlen(to);
  const size_t length = strnlen(from, count);
  memcpy(end, from, length);
  end[length] = '\0';
  return to;
}

JANUS_C_DEFINE size_t strxfrm(char* restrict to, const char* restrict from, size_t count) {
  const size_t length = strlen(from);
  if (length < count) memcpy(to, from, length + 1);
  return length;
}

JANUS_C_DEFINE char* strtok_r(char* restrict text, const char* restrict separators, char** restrict rest) {
  if (text == NULL) text = *rest;
  text += strspn(text, separators);
  char* end = text + strcspn(text, separators);
  *rest = *end == '\0' ? end : end + 1;
  if (end == text) return NULL;
  *end = '\0';
  return text;
}

// The position is shared by the whole program, as C defines it. Tasks that run at the same time need strtok_r.
JANUS_C_DEFINE char* strtok(char* restrict text, const char* restrict separators) {
  static char nothing[1];
  static char* rest = nothing;
  return strtok_r(text, separators, &rest);
}

JANUS_C_DEFINE char* strndup(const char* text, size_t most) {
  const size_t length = strnlen(text, most);
  char* copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

JANUS_C_DEFINE char* strdup(const char* text) {
  return strndup(text, SIZE_MAX - 1);
}
