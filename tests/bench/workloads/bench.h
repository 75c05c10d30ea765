// SPDX-License-Identifier: Apache-2.0
// bench.h: common parts of the workloads. A workload does its work once in the root task, checks the result and prints
// its figures; it does its own timing, warm-up and checks. It is a user's program: main, rt.h, janus-cc.
#pragma once

#include <janus/rt.h>

#ifdef __cplusplus
extern "C" {
#endif

// Ends the process: the measurement is invalid.
#define FAIL(...) (janus_print(2, "bench: " __VA_ARGS__), janus_exit(1))
#define EXPECT(claim) ((claim) ? (void)0 : FAIL("%s:%d: this does not hold: %s\n", __FILE__, __LINE__, #claim))

// Prints `name total/count`, with three decimals.
void figure(const char* name, int64_t total, int64_t count);
// Sorts the samples and prints their p50 and p99.
void percentiles(uint64_t* samples, long count);

// The process's resident memory, page tables included.
uint64_t resident_bytes(void);
// Whether that is less than the runtime's share of the memory of the machine or of its cgroup. Takes some 20 us.
int has_memory_left(void);
janus_stats statistics(void);

// The workloads. The meaning of `size` is explained at each; `workers` is the runtime's number of workers.
typedef void workload(long size, int workers);
workload bench_switch, bench_yield, bench_spawn, bench_spawn_join, bench_spawned, bench_fib, bench_skynet, bench_crowd,
    bench_nqueens, bench_parked, bench_channel, bench_wake, bench_busy, bench_steal, bench_deque, bench_check,
    bench_call, bench_alloc, bench_alloc_batch, bench_alloc_mixed, bench_alloc_elsewhere, bench_fork, bench_sort,
    bench_reduce, bench_spawn_10, bench_spawn_100, bench_spawn_10000, bench_uts, bench_channel_16, bench_channel_64,
    bench_channel_in_cage, bench_deadline, bench_sleepers, bench_late, bench_late_busy, bench_select_2, bench_select_8,
    bench_select_64, bench_select_wait_2, bench_select_wait_8, bench_select_wait_64, bench_lock, bench_contend_2,
    bench_contend_8;

#ifdef __cplusplus
}
#endif
