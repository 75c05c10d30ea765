// SPDX-License-Identifier: Apache-2.0
// helpers.c HOW — functions on helper threads that read from descriptor 0: "read": COUNT tasks read a byte each, then main
// reads until the end; "exit": main ends the process while a function waits for a byte.
#include <janus/rt.h>
#include <string.h>
#include <sys/syscall.h>

enum { COUNT = 20 };

static int64_t read_byte(void* unused) {
  (void)unused;
  char byte;
  return janus_syscall(SYS_read, 0L, &byte, 1L);
}

static int64_t call(void* unused) {
  return janus_blocking(read_byte, unused) == 1 ? 0 : -100;
}

int main(int argc, char** argv) {
  (void)argc;
  janus_nursery_create();
  for (int i = 0; i < COUNT; ++i) janus_nursery_spawn(call, NULL);
  if (strcmp(argv[1], "exit") == 0) {
    janus_sleep_ns(100000000);
    janus_exit(5);
  }
  if (janus_nursery_await_all() != 0) return 3;
  janus_print(1, "all have read\n");
  char byte;
  return (int)janus_syscall(SYS_read, 0L, &byte, 1L);
}
