// SPDX-License-Identifier: Apache-2.0
// measure.h — what the programs of C and C++ share: `PROGRAM WORKLOAD SIZE WORKERS`, the clock, the CPU that a worker
// belongs on, resident memory, and the figures that go to stdout. It does no measuring of its own.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct workload {
  const char* name;
  void (*run)(long size, int workers);
};

// Runs the workload that argv names and gives the status to end with: 3 if `table`, which a nameless row ends, lacks
// it.
int run_workload(const struct workload* table, int argc, char** argv);

uint64_t now_ns(void);
// What all threads of the process have run for.
uint64_t processor_ns(void);

// Worker i of several lives on the i-th CPU that the process may use; a single one on the last, away from what CPU 0
// does for everybody.
void pin(int worker, int workers);

// Resident bytes, page tables included.
uint64_t resident_bytes(void);

void figure(const char* name, double value);
// The median and the 99th percentile. Sorts the samples.
void figures_of_samples(uint64_t* samples, size_t count);
// What the others than the one that measured ran for in `wall_ns`, in percent of a CPU.
void figure_of_others(uint64_t processor_ns, uint64_t wall_ns);

// How many wake-ups to sample when each waits that long for the other side to fall asleep: half a second of them.
size_t wake_samples(long idle_us);
void spin_for_us(long us);

// Spawns that fib(n) makes if each call spawns one; calls with n < 2 spawn none.
double spawns_of_fib(long n);
long fib_by_adding(long n);
// All tasks of a skynet that is given a power of ten of leaves, the root left out.
double tasks_of_skynet(long leaves);
// In how many ways so many queens stand on a board of their size.
long solutions_of_queens(long board);

// Ends the program with status 1; the last line on stderr says why.
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char* format, ...);

#ifdef __cplusplus
}
#endif
