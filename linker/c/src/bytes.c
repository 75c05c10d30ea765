// SPDX-License-Identifier: Apache-2.0
// bytes.c: looking through bytes, and the odd copies that other systems have. memcpy, memmove, memset and memcmp are
// the runtime's.
#include <stdint.h>
#include <string.h>

#include "linker/c/src/define.h"

JANUS_C_DEFINE void* memchr(const void* bytes, int value, size_t count) {
  const unsigned char* at = bytes;
  for (; count > 0; at++, count--)
    if (*at == (unsigned char)value) return (void*)at;
  return NULL;
}

JANUS_C_DEFINE void* memrchr(const void* bytes, int value, size_t count) {
  const unsigned char* at = (const unsigned char*)bytes + count;
  while (count-- > 0)
    if (*--at == (unsigned char)value) return (void*)at;
  return NULL;
}

// Horspool: on a mismatch the last byte of the window says how far the needle moves on. Linear on what programs search.
JANUS_C_DEFINE void* memmem(const void* bytes, size_t count, const void* needle, size_t needle_count) {
  if (needle_count == 0) return (void*)bytes;
  if (needle_count == 1) return memchr(bytes, *(const unsigned char*)needle, count);
  const unsigned char* pattern = needle;
  const size_t last = needle_count - 1;
  size_t step[256];
  for (size_t c = 0; c < 256; c++) step[c] = needle_count;
  for (size_t i = 0; i < last; i++) step[pattern[i]] = last - i;
  const unsigned char* at = bytes;
  while (count >= needle_count) {
    if (at[last] == pattern[last] && memcmp(at, pattern, last) == 0) return (void*)at;
    const size_t advance = step[at[last]];
    at += advance;
    count = advance > count ? 0 : count - advance;
  }
  return NULL;
}

JANUS_C_DEFINE void* mempcpy(void* restrict to, const void* restrict from, size_t count) {
  return (char*)memcpy(to, from, count) + count;
}

JANUS_C_DEFINE int bcmp(const void* left, const void* right, size_t count) {
  return memcmp(left, right, count);
}
JANUS_C_DEFINE void bcopy(const void* from, void* to, size_t count) {
  memmove(to, from, count);
}
JANUS_C_DEFINE void bzero(void* bytes, size_t count) {
  memset(bytes, 0, count);
}

JANUS_C_DEFINE void explicit_bzero(void* bytes, size_t count) {
  memset(bytes, 0, count);
  __asm__ volatile("" : : "r"(bytes) : "memory");  // the zeroes are looked at, so they are stored
}
