// SPDX-License-Identifier: Apache-2.0
// pair.c — two threads on two CPUs: a word to and fro in one cache line, a bare futex wake, and a fence that makes the
// other thread fence as well.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "limits.h"

// Read by both sides, and not written after they have started.
static long rounds;

static pthread_t other_side(void* (*body)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL)) fail("no second thread");
  pin(0, 2);
  return thread;
}

static void want_two(int workers) {
  if (workers != 2) fail("this takes two workers");
}

// --- One cache line -------------------------------------------------------------------------------------------------

static struct {
  _Alignas(128) atomic_long word;
  _Alignas(128) char behind;
} line;

static void await_word(long value) {
  while (atomic_load_explicit(&line.word, memory_order_acquire) != value) __builtin_ia32_pause();
}

static void* answer(void* unused) {
  pin(1, 2);
  for (long i = 0; i < rounds; ++i) {
    await_word(2 * i + 1);
    atomic_store_explicit(&line.word, 2 * i + 2, memory_order_release);
  }
  return unused;
}

void limit_of_round_trip(long round_trips, int workers) {
  want_two(workers);
  const long warm_up = round_trips / 10 + 1;
  rounds = round_trips + warm_up;
  const pthread_t thread = other_side(answer);
  uint64_t start = 0;
  for (long i = 0; i < rounds; ++i) {
    if (i == warm_up) start = now_ns();
    atomic_store_explicit(&line.word, 2 * i + 1, memory_order_release);
    await_word(2 * i + 2);
  }
  figure("ns", (double)(now_ns() - start) / (double)round_trips);
  pthread_join(thread, NULL);
}

// --- A futex --------------------------------------------------------------------------------------------------------

static struct {
  _Alignas(128) _Atomic unsigned rung;  // how often it was rung
  _Alignas(128) _Atomic uint64_t heard_at;
} bell;

static void* sleep_for_the_bell(void* unused) {
  pin(1, 2);
  for (unsigned seen = 0; seen < (unsigned)rounds; ++seen) {
    while (atomic_load(&bell.rung) == seen) syscall(SYS_futex, &bell.rung, FUTEX_WAIT_PRIVATE, seen, NULL);
    atomic_store(&bell.heard_at, now_ns());
  }
  return unused;
}

static uint64_t ring_once(void) {
  const uint64_t start = now_ns();
  atomic_store(&bell.heard_at, 0);
  atomic_fetch_add(&bell.rung, 1);
  syscall(SYS_futex, &bell.rung, FUTEX_WAKE_PRIVATE, 1);
  uint64_t heard;
  while (!(heard = atomic_load(&bell.heard_at))) __builtin_ia32_pause();
  return heard - start;
}

void limit_of_futex_wake(long idle_us, int workers) {
  want_two(workers);
  const size_t warm_up = 10, count = wake_samples(idle_us);
  rounds = (long)(warm_up + count);
  uint64_t* const samples = malloc(count * sizeof *samples);
  if (!samples) fail("no memory");
  const pthread_t thread = other_side(sleep_for_the_bell);
  for (size_t i = 0; i < warm_up; ++i) ring_once();
  for (size_t i = 0; i < count; ++i) {
    spin_for_us(idle_us);
    samples[i] = ring_once();
  }
  pthread_join(thread, NULL);
  figures_of_samples(samples, count);
  free(samples);
}

// How late a wait ends whose time is over. The kernel is asked not to collect wake-ups.
void limit_of_futex_timeout(long microseconds, int workers) {
  (void)workers;
  const size_t count = wake_samples(microseconds);
  uint64_t* const samples = malloc(count * sizeof *samples);
  if (!samples || prctl(PR_SET_TIMERSLACK, 1)) fail("no memory, or no slack");
  unsigned word = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t until = now_ns() + (uint64_t)microseconds * 1000;
    const struct timespec time = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 0, &time, NULL, ~0u);
    samples[i] = now_ns() - until;
  }
  figures_of_samples(samples, count);
  free(samples);
}

// --- A fence for which the other side pays --------------------------------------------------------------------------

static atomic_bool ended, running;

static void* run_on(void* unused) {
  pin(1, 2);
  while (!atomic_load(&ended)) atomic_store(&running, true);
  return unused;
}

static void barrier(int command) {
  if (syscall(SYS_membarrier, command, 0, 0)) fail("no membarrier: %s", strerror(errno));
}

// With one worker there is nobody to interrupt; with two the other one runs.
void limit_of_heavy_fence(long fences, int workers) {
  pthread_t thread;
  if (workers == 2) {
    thread = other_side(run_on);
    while (!atomic_load(&running)) __builtin_ia32_pause();
  } else {
    pin(0, workers);
  }
  barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  for (long i = 0; i < fences / 10; ++i) barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  const uint64_t start = now_ns();
  for (long i = 0; i < fences; ++i) barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  figure("ns", (double)(now_ns() - start) / (double)fences);
  atomic_store(&ended, true);
  if (workers == 2) pthread_join(thread, NULL);
}
