// SPDX-License-Identifier: Apache-2.0
// The one argument of these programs: how much of it. Ends the program with status 2 if it makes no sense.
#ifndef JANUS_TESTS_PROGRAMS_SIZE_H
#define JANUS_TESTS_PROGRAMS_SIZE_H

#include <janus/rt.h>
#include <stdlib.h>

static inline long size_argument(int argc, char** argv, long standard, long most) {
  if (argc < 2) return standard;
  char* end = argv[1];
  const long size = strtol(argv[1], &end, 10);
  if (argc == 2 && *end == 0 && end != argv[1] && size >= 1 && size <= most) return size;
  janus_print(2, "usage: %s [SIZE]     1 <= SIZE <= %ld, %ld if not given\n", argv[0], most, standard);
  janus_exit(2);
}

#endif
