// SPDX-License-Identifier: Apache-2.0
// switch.c: two bare fibers that switch to each other, without a scheduler.
#include "bench.h"
#include "tests/bench/bare_context.h"

static context here, there;
static long arrivals;

static void bounce(void) {
  for (;;) {
    ++arrivals;
    janus_context_switch(&there, &here);
  }
}

static void there_and_back(long switches) {
  for (long i = 0; i < switches; i += 2) janus_context_switch(&here, &there);
}

// `size` switches, half of them in each direction.
void bench_switch(long size, int workers) {
  (void)workers;
  static uint64_t stack[1024] __attribute__((aligned(16)));
  stack[1022] = (uint64_t)&bounce;  // the target of the first switch; the stack is then aligned as after a call
  there.sp = (uint64_t)&stack[1022];
  there.mxcsr = 0x1f80;
  there.fcw = 0x37f;
  const long switches = (size + 1) / 2 * 2, warm_up = 1000;
  there_and_back(warm_up);
  const uint64_t start = janus_now_ns();
  there_and_back(switches);
  const uint64_t end = janus_now_ns();
  EXPECT(arrivals == (switches + warm_up) / 2);
  figure("ns", (int64_t)(end - start), switches);
}
