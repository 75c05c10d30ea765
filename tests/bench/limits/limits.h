// SPDX-License-Identifier: Apache-2.0
// limits.h — the workloads of the limit program: lower bounds for any runtime on this machine. None of them has
// budgets, cancels or counters, and only `guard` and `first_touch` have guard pages.
#pragma once
#include "tests/bench/peers/measure.h"

void limit_of_switch(long switches, int workers);
void limit_of_ring(long fibers, int workers);
void limit_of_lazy_spawn(long tasks, int workers);
void limit_of_forkjoin(long n, int workers);
void limit_of_first_touch(long stacks, int workers);
void limit_of_guard(long guards, int workers);
void limit_of_futex_wake(long idle_us, int workers);
void limit_of_futex_timeout(long microseconds, int workers);
void limit_of_round_trip(long round_trips, int workers);
void limit_of_heavy_fence(long fences, int workers);
void limit_of_steal(long items, int workers);
void limit_of_deque(long pairs, int workers);
