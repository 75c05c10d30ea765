// SPDX-License-Identifier: Apache-2.0
// slow_reader HOW: writes to slow readers. process_test.py is the reader.
//   write BYTES       a task writes BYTES to descriptor 1, main awaits it; then prints "written" on stderr and reads its input to the end
//   two BYTES         as `write`; another task writes BYTES to descriptor 5 as soon as the first one waits
//   cancel            two tasks write to descriptor 1, which nobody reads; main cancels both, first the one that waits for the other
#include <errno.h>
#include <janus/rt.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes;
static char* text;

static int64_t write_to(void* descriptor) {
  return janus_write((int)(intptr_t)descriptor, text, bytes);
}

static void read_to_end(void) {
  char byte;
  int64_t got;
  do got = janus_syscall(0, 0L, &byte, 1L);
  while (got > 0 || got == -EINTR);
}

static void until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

static int write_some(int writers) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_task task = janus_nursery_spawn_in(nursery, write_to, (void*)1, NULL);
  if (writers == 2) {
    until_blocked(task);
    janus_nursery_spawn_in(nursery, write_to, (void*)5, NULL);
  }
  if (janus_nursery_await(nursery, NULL) != 0) return 1;
  janus_print(2, "written\n");
  read_to_end();
  return 0;
}

static int cancel(void) {
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  janus_task writer = janus_nursery_spawn_in(nursery, write_to, (void*)1, NULL);
  until_blocked(writer);
  janus_task waiter = janus_nursery_spawn_in(nursery, write_to, (void*)1, NULL);
  until_blocked(waiter);
  int64_t result = 0;
  if (janus_task_cancel(waiter) != 0 || janus_task_join(waiter, &result) != 0 || result != JANUS_CANCELLED) return 1;
  if (janus_task_cancel(writer) != 0 || janus_task_join(writer, &result) != 0 || result != JANUS_CANCELLED) return 2;
  (void)janus_nursery_await(nursery, NULL);
  janus_print(2, "cancelled\n");
  read_to_end();
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  bytes = argc > 2 ? (size_t)atol(argv[2]) : (size_t)4 << 20;
  text = janus_alloc(bytes);
  if (text == NULL) return 65;
  memset(text, 'x', bytes);
  if (!strcmp(argv[1], "write")) return write_some(1);
  if (!strcmp(argv[1], "two")) return write_some(2);
  return cancel();
}
