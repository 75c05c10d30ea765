// SPDX-License-Identifier: Apache-2.0
// chatty.c — output of every kind. `speed BYTES PIECE`: writes BYTES in pieces of PIECE, and prints the time on stderr.
// `lines TASKS LINES`: many tasks print lines of 0 to 9,000 letters at once; the text of each line follows from its
// numbers, so a reader can check it.
#include <janus/rt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxLine = 9100 };

static int speed(long bytes, long piece) {
  char* const text = malloc((size_t)piece);
  if (text == NULL) return 1;
  for (long n = 0; n < piece; ++n) text[n] = n % 64 == 63 || n == piece - 1 ? '\n' : (char)('0' + n % 64);
  const uint64_t began = janus_now_ns();
  for (long done = 0; done < bytes; done += piece)
    if (janus_write(1, text, (size_t)piece) != 0) return 1;
  const uint64_t took = janus_now_ns() - began;
  janus_print(2, "speed %lu us\n", (unsigned long)(took / 1000));
  free(text);
  return 0;
}

// Prints lines "TASK LINE letters", whose number and kind of letters follow from TASK and LINE.
static int64_t say(void* argument) {
  const long task = (long)argument >> 32, lines = (long)argument & 0xffffffff;
  char* const text = malloc(kMaxLine);
  for (long line = 0; line < lines; ++line) {
    const int letters = (int)((task * 977 + line * line * 131) % 9001);
    if (letters < 300) {
      memset(text, 'a' + (int)(task % 26), (size_t)letters);
      text[letters] = '\0';
      if (janus_print(1, "%ld %ld %s\n", task, line, text) < 0) return -1;
    } else {
      const long head = snprintf(text, 64, "%ld %ld ", task, line);
      memset(text + head, 'a' + (int)(task % 26), (size_t)letters);
      text[head + letters] = '\n';
      if (janus_write(1, text, (size_t)(head + letters + 1)) != 0) return -1;
    }
    janus_yield();
  }
  free(text);
  return 0;
}

static int many_lines(long tasks, long lines) {
  janus_nursery* const nursery = janus_nursery_open(NULL, NULL);
  for (long task = 0; task < tasks; ++task)
    janus_task_release(janus_nursery_spawn_in(nursery, say, (void*)(task << 32 | lines), NULL));
  janus_result result;
  return janus_nursery_await(nursery, &result) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "speed") == 0) return speed(atol(argv[2]), atol(argv[3]));
  if (argc == 4 && strcmp(argv[1], "lines") == 0) return many_lines(atol(argv[2]), atol(argv[3]));
  return 2;
}
