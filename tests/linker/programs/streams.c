// SPDX-License-Identifier: Apache-2.0
// streams.c FILE: eight tasks share one input stream and print to one output stream. Each line of the file is read by
// one of them as a whole, and printed with the task's number in front.
#include <errno.h>
#include <janus/rt.h>
#include <stdio.h>
#include <string.h>

enum { kReaders = 8 };

static FILE* input;

static int64_t copy_lines(void* argument) {
  char line[100];
  while (fgets(line, sizeof line, input) != NULL) {
    if (printf("%d %s", *(int*)argument, line) < 0) return -1;
    janus_yield();
  }
  return ferror(input) ? -1 : 0;
}

int main(int argc, char** argv) {
  input = argc > 1 ? fopen(argv[1], "r") : stdin;
  if (input == NULL) {
    perror(argv[1]);
    return errno == ENOENT ? 3 : 4;
  }
  int numbers[kReaders];
  janus_nursery_create();
  for (int i = 0; i < kReaders; i++) {
    numbers[i] = i;
    janus_nursery_spawn(copy_lines, &numbers[i]);
  }
  const long result = janus_nursery_await_all();
  if (!feof(input) || fclose(input) != 0) return 5;
  fputs("done\n", stderr);
  return result < 0 ? 1 : 0;
}
