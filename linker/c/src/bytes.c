// SPDX-License-Identifier: Apache-2.0
// bytes.c: searching in bytes, and variants of memcpy and memset that other systems have. memcpy, memmove, memset and
// memcmp are the runtime's.
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

// The Two-Way algorithm (Crochemore and Perrin, 1991), which takes time linear in `count` for every input, with
// Horspool's step, which alone decides most moves in practice.

enum Order { kLess, kGreater };

// The largest suffix of the needle in one order of bytes: where it begins, and its period.
struct suffix {
  size_t start, period;
};

static struct suffix largest_suffix(const unsigned char* needle, size_t count, enum Order order) {
  // needle[start..] is the largest suffix so far; needle[other..] is compared with it and has `same` bytes in common.
  size_t start = 0, other = 1, same = 0, period = 1;
  while (other + same < count) {
    const unsigned char of_other = needle[other + same], of_largest = needle[start + same];
    if (of_other == of_largest) {
      if (++same == period) {
        other += period;
        same = 0;
      }
    } else if ((of_other < of_largest) == (order == kLess)) {
      other += same + 1;
      same = 0;
      period = other - start;
    } else {
      start = other++;
      same = 0;
      period = 1;
    }
  }
  return (struct suffix){start, period};
}

// The needle is compared from `cut.start` to the right, then to the left of it. A mismatch on the right moves the
// needle so that `cut.start` is behind the mismatch, since no shorter move lines up with the bytes that have matched. A
// mismatch on the left moves it by the period; if the whole needle has that period, the bytes that overlap then are
// known to match, and `known` is their number. The needle's last byte is compared before all that: if another byte is
// there, `step` says how far to move, but at least by `known`, since any shorter move would need the needle's last byte
// at that place.
JANUS_C_DEFINE void* memmem(const void* bytes, size_t count, const void* needle, size_t needle_count) {
  if (needle_count == 0) return (void*)bytes;
  if (needle_count == 1) return memchr(bytes, *(const unsigned char*)needle, count);
  if (needle_count > count) return NULL;
  const unsigned char* pattern = needle;
  const size_t last = needle_count - 1;
  size_t step[256];  // for each byte: the distance from its last occurrence to the needle's last byte
  for (size_t c = 0; c < 256; c++) step[c] = needle_count;
  for (size_t i = 0; i <= last; i++) step[pattern[i]] = last - i;
  const struct suffix less = largest_suffix(pattern, needle_count, kLess);
  const struct suffix greater = largest_suffix(pattern, needle_count, kGreater);
  const struct suffix cut = less.start > greater.start ? less : greater;
  const int repeats = memcmp(pattern, pattern + cut.period, cut.start) == 0;
  const size_t right = needle_count - cut.start, longer = cut.start > right ? cut.start : right;
  const size_t period = repeats ? cut.period : longer + 1;
  const unsigned char* at = bytes;
  for (size_t known = 0; count >= needle_count;) {
    size_t advance = step[at[last]];
    if (advance != 0) {
      if (advance < known) advance = known;
      known = 0;
    } else {
      size_t i = cut.start > known ? cut.start : known;
      while (i < needle_count && pattern[i] == at[i]) i++;
      if (i < needle_count) {
        advance = i - cut.start + 1;
        known = 0;
      } else {
        i = cut.start;
        while (i > known && pattern[i - 1] == at[i - 1]) i--;
        if (i <= known) return (void*)at;
        advance = period;
        known = repeats ? needle_count - period : 0;
      }
    }
    at += advance;
    count -= advance;
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
  __asm__ volatile("" : : "r"(bytes) : "memory");  // counts as a read, so the zeroes are stored
}
