// SPDX-License-Identifier: Apache-2.0
// Bare: no, there are no pipes
// Thousands of tasks panic, and stderr is a pipe that no process reads, or whose reader takes a page each 80 ms:
// reports that the reader does not take in time are dropped, and no worker waits for them.
#include <sys/syscall.h>

#include "hostile.h"

static int64_t panic(void* unused) {
  (void)unused;
  janus_task_panic("a reason that is long enough to fill a pipe of 64 KiB some time before all have been printed");
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int round = 0; round < 10; ++round) {
    janus_nursery* cage = open_cage(roomy());
    for (int i = 0; i < 100; ++i) spawn_roomy(cage, panic, NULL);
    CHECK_EQ(close_cage(cage), JANUS_PANIC);
  }
  return 0;
}

// Makes a system call without the runtime: the child process has only one of its threads.
static long call_kernel(long number, long first, long second, long third) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third)
                   : "rcx", "r11", "memory");
  return result;
}

// Not janus_now_ns(), which is virtual in deterministic mode.
static uint64_t clock_ns(void) {
  struct {
    int64_t seconds, nanoseconds;
  } now;
  call_kernel(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)&now, 0);
  return (uint64_t)now.seconds * 1000000000 + (uint64_t)now.nanoseconds;
}

// Starts a slow reader; returns its process id.
static long read_slowly(int from) {
  const long reader = call_kernel(SYS_fork, 0, 0, 0);
  if (reader != 0) return reader;
  static char page[4096];
  const struct { int64_t seconds, nanoseconds; } pause = {0, 80000000};
  do {
    call_kernel(SYS_nanosleep, (long)&pause, 0, 0);
  } while (call_kernel(SYS_read, from, (long)page, sizeof page) > 0);
  for (;;) call_kernel(SYS_exit_group, 0, 0, 0);
}

// The ns up to `now` in which this thread has neither run nor waited for a processor. 0: the kernel does not tell.
static int64_t slept_ns(uint64_t now) {
  char text[64] = {0};
  const long file = janus_syscall(SYS_open, "/proc/thread-self/schedstat", 0);
  const long size = file >= 0 ? janus_syscall(SYS_read, file, text, sizeof text - 1) : -1;
  if (file >= 0) janus_syscall(SYS_close, file);
  if (size <= 0) return 0;
  char* rest = NULL;
  const uint64_t ran = strtoull(text, &rest, 10);
  return (int64_t)(now - ran - strtoull(rest, NULL, 10));
}

int main(void) {
  const janus_stats stats = read_accounts().stats;
  const int is_one_thread = stats.workers == 1 || stats.order_hash != 0;
  for (int has_reader = 0; has_reader <= 1; ++has_reader) {
    int ends[2];
    CHECK_EQ(janus_syscall(SYS_pipe2, ends, 0), 0);
    const long reader = has_reader ? read_slowly(ends[0]) : 0;
    CHECK(reader >= 0);
    CHECK_EQ(janus_syscall(SYS_dup2, ends[1], 2), 2);
    const int64_t before = slept_ns(clock_ns());
    CHECK_EQ(beside_a_neighbour(500, attack, NULL), 0);
    const int64_t slept = slept_ns(clock_ns()) - before;
    if (is_one_thread) CHECK_THAT(slept / 1000000, slept < 500000000);
    if (reader > 0) janus_syscall(SYS_kill, reader, 9);
  }
  return end();
}
