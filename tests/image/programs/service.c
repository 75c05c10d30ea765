// SPDX-License-Identifier: Apache-2.0
// service BEAT            works until it is told to end, and writes the time into the file BEAT at each beat
//  service --alive BEAT    its own probe: status 0 if the last beat is no older than three seconds
#include <fcntl.h>
#include <janus/rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kBeatMs = 200, kDeadAfterS = 3 };

static int64_t work(void* done) {
  uint32_t checked = 0;
  for (volatile int i = 0; i < 10000; ++i)
    if (JANUS_LOOP_CHECK(checked) < 0) return JANUS_CANCELLED;
  JANUS_LOOP_END(checked);
  __atomic_fetch_add((long*)done, 1, __ATOMIC_RELAXED);
  return 0;
}

static int beat(const char* path) {
  char text[24];
  const int bytes = snprintf(text, sizeof text, "%lld\n", (long long)(janus_unix_time_ns() / 1000000000));
  // not truncated: a reader finds the old time until the new one, which is as long, replaces it
  const int file = open(path, O_WRONLY | O_CREAT, 0644);
  if (file < 0) return -1;
  const int written = write(file, text, (size_t)bytes) == bytes;
  return close(file) == 0 && written ? 0 : -1;
}

static int is_alive(const char* path) {
  char text[24] = {0};
  const int file = open(path, O_RDONLY);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) return 0;
  close(file);
  return janus_unix_time_ns() / 1000000000 - strtoll(text, NULL, 10) <= kDeadAfterS;
}

// Blocks the worker, which does no harm in this program.
static void rest(void) {
  const struct timespec time = {0, kBeatMs * 1000000};
  janus_syscall(SYS_nanosleep, &time, NULL);
}

int main(int argc, char** argv) {
  if (argc == 3 && !strcmp(argv[1], "--alive")) return is_alive(argv[2]) ? 0 : 1;
  if (argc != 2) {
    janus_print(2, "usage: %s [--alive] BEAT\n", argv[0]);
    return 2;
  }
  long done = 0;
  janus_print(1, "working\n");
  while (!janus_cancelled()) {
    janus_nursery_create();
    for (int i = 0; i < 8; ++i) janus_nursery_spawn(work, &done);
    const long status = janus_nursery_await_all();
    if (status < 0 && status != JANUS_CANCELLED) return 3;
    if (beat(argv[1]) < 0) return 4;
    rest();
  }
  janus_print(1, "told to end after %ld pieces of work; everything is tidy\n", done);
  return 0;
}
