// SPDX-License-Identifier: Apache-2.0
// time.c: the runtime's two clocks, and the processor time that the kernel counts.
#include <time.h>

#include <errno.h>
#include <janus/rt.h>
#include <sys/syscall.h>

#include "linker/c/src/define.h"

enum { kNsPerSecond = 1000000000, kClockOfProcess = 2 };

JANUS_C_DEFINE time_t time(time_t* also) {
  const time_t now = janus_unix_time_ns() / kNsPerSecond;
  if (also != NULL) *also = now;
  return now;
}

JANUS_C_DEFINE int clock_gettime(clockid_t clock, struct timespec* now) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
    errno = EINVAL;
    return -1;
  }
  const int64_t ns = clock == CLOCK_REALTIME ? janus_unix_time_ns() : (int64_t)janus_now_ns();
  now->tv_sec = ns / kNsPerSecond;
  now->tv_nsec = ns % kNsPerSecond;
  return 0;
}

JANUS_C_DEFINE clock_t clock(void) {
  struct timespec used = {0, 0};
  if (janus_syscall(SYS_clock_gettime, (long)kClockOfProcess, &used) < 0) return -1;
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (kNsPerSecond / CLOCKS_PER_SEC);
}
