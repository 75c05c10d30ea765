// SPDX-License-Identifier: Apache-2.0
// The only argument of these programs: a size. Ends the program with status 2 if it is not valid.
#ifndef JANUS_TESTS_PROGRAMS_SIZE_H
#define JANUS_TESTS_PROGRAMS_SIZE_H

#include <janus/rt.h>

// A decimal number up to `most`, or -1.
static inline long parse_size(const char* text, long most) {
  long value = *text ? 0 : -1;
  for (; *text && value >= 0; ++text) {
    const int digit = *text - '0';
    value = digit >= 0 && digit <= 9 && value <= (most - digit) / 10 ? 10 * value + digit : -1;
  }
  return value;
}

static inline long size_argument(int argc, char** argv, long standard, long most) {
  if (argc < 2) return standard;
  const long size = parse_size(argv[1], most);
  if (argc == 2 && size >= 1) return size;
  janus_print(2, "usage: %s [SIZE]     1 <= SIZE <= %ld, %ld if not given\n", argv[0], most, standard);
  janus_exit(2);
}

#endif
