// SPDX-License-Identifier: Apache-2.0
// check.c: what a yield check adds to a loop whose body takes a nanosecond, and to each call of a function that takes
// five. The plain and the checked version run alternately; the fastest run of each counts, since the rest is noise.
#include "bench.h"

enum { kTurns = 150 };

// A multiplication that depends on the one before: three cycles, a nanosecond or a little more.
static inline uint64_t body(uint64_t x) {
  __asm__ volatile("imul %0, %0" : "+r"(x));
  return x;
}

__attribute__((noinline)) static uint64_t plain_loop(long count, uint64_t x) {
  for (long i = 0; i < count; ++i) x = body(x);
  return x;
}

__attribute__((noinline)) static uint64_t checked_loop(long count, uint64_t x) {
  uint32_t counter = 0;
  for (long i = 0; i < count; ++i) {
    if (JANUS_LOOP_CHECK(counter) < 0) return 0;
    x = body(x);
  }
  JANUS_LOOP_END(counter);
  return x;
}

__attribute__((noinline)) static uint64_t five_nanoseconds(uint64_t x) {
  return body(body(body(body(body(x)))));
}

__attribute__((noinline)) static uint64_t plain_calls(long count, uint64_t x) {
  for (long i = 0; i < count; ++i) x = five_nanoseconds(x);
  return x;
}

__attribute__((noinline)) static uint64_t checked_calls(long count, uint64_t x) {
  for (long i = 0; i < count; ++i) {
    if (janus_yield_check(1) < 0) return 0;
    x = five_nanoseconds(x);
  }
  return x;
}

typedef uint64_t work(long count, uint64_t x);

static uint64_t time_of(work* run, long count, uint64_t* result) {
  const uint64_t start = janus_now_ns();
  *result = run(count, 3);
  return janus_now_ns() - start;
}

static void compare(work* plain, work* checked, long size) {
  uint64_t least[2] = {UINT64_MAX, UINT64_MAX}, result[2];
  const long count = size / kTurns + 1;
  for (int turn = 0; turn < kTurns; ++turn)
    for (int i = 0; i < 2; ++i) {
      const uint64_t time = time_of(i ? checked : plain, count, &result[i]);
      if (time < least[i]) least[i] = time;
    }
  EXPECT(result[0] == result[1]);
  figure("percent", ((int64_t)least[1] - (int64_t)least[0]) * 100, (int64_t)least[0]);
  figure("ns", (int64_t)least[0], count);
}

// `size` iterations of each.
void bench_check(long size, int workers) {
  (void)workers;
  compare(plain_loop, checked_loop, size);
}

// `size` calls of each.
void bench_call(long size, int workers) {
  (void)workers;
  compare(plain_calls, checked_calls, size);
}
