// SPDX-License-Identifier: Apache-2.0
// measure.h — common parts of the C and C++ programs: `PROGRAM WORKLOAD SIZE WORKERS`, the clock, the CPU of each
// worker, resident memory, and the printing of figures. It measures nothing itself.
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

// Runs the workload that argv names and returns the exit status: 3 if `table`, which ends with a nameless row, does not
// have it.
int run_workload(const struct workload* table, int argc, char** argv);

uint64_t now_ns(void);
// The processor time of all threads of the process.
uint64_t processor_ns(void);

// Pins the calling thread: worker i of several to the i-th allowed CPU; a single worker to the last one, since CPU 0
// does work for the whole system.
void pin(int worker, int workers);

// Resident bytes, page tables included.
uint64_t resident_bytes(void);

void figure(const char* name, double value);
// Prints the median and the 99th percentile. Sorts the samples.
void figures_of_samples(uint64_t* samples, size_t count);
// Prints the processor time that all threads except the measuring one used in `wall_ns`, in percent of a CPU.
void figure_of_others(uint64_t processor_ns, uint64_t wall_ns);

// How many wake-ups to sample if each waits `idle_us` for the other side to fall asleep: half a second of them.
size_t wake_samples(long idle_us);
void spin_for_us(long us);

// The spawns of fib(n) if each call spawns one; calls with n < 2 spawn none.
double spawns_of_fib(long n);
long fib_by_adding(long n);
// The tasks of a skynet with `leaves` leaves (a power of ten), without the root.
double tasks_of_skynet(long leaves);
// The number of ways to place `board` queens on a board of that size.
long solutions_of_queens(long board);

// Ends the program with status 1 and the reason as the last line on stderr.
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char* format, ...);

#ifdef __cplusplus
}
#endif
