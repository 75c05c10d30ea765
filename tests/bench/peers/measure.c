// SPDX-License-Identifier: Apache-2.0
// measure.c — see measure.h.
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// --- Ends -----------------------------------------------------------------------------------------------------------

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  fflush(stdout);
  _Exit(1);  // not exit(): other threads may be running
}

static long positive(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  return *text && !*end && value > 0 ? value : 0;
}

static cpu_set_t allowed;  // the CPUs allowed before anything was pinned

int run_workload(const struct workload* table, int argc, char** argv) {
  const long size = argc == 4 ? positive(argv[2]) : 0, workers = argc == 4 ? positive(argv[3]) : 0;
  if (!size || !workers || workers > CPU_SETSIZE) {
    fprintf(stderr, "usage: %s WORKLOAD SIZE WORKERS\n", argv[0]);
    return 2;
  }
  if (sched_getaffinity(0, sizeof allowed, &allowed)) fail("no CPU affinity");
  for (; table->name; ++table) {
    if (strcmp(table->name, argv[1])) continue;
    table->run(size, (int)workers);
    return fflush(stdout) ? 1 : 0;
  }
  return 3;
}

// --- The machine ----------------------------------------------------------------------------------------------------

static uint64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void) {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t processor_ns(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void pin(int worker, int workers) {
  const int cpus = CPU_COUNT(&allowed);
  int nth = workers == 1 ? cpus - 1 : worker % cpus, cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || nth-- > 0) ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one)) fail("cannot pin a worker to CPU %d", cpu);
}

uint64_t resident_bytes(void) {
  FILE* status = fopen("/proc/self/status", "r");
  if (!status) fail("no /proc/self/status");
  char line[256];
  unsigned long kib, sum = 0;
  while (fgets(line, sizeof line, status))
    if (sscanf(line, "VmRSS: %lu", &kib) == 1 || sscanf(line, "VmPTE: %lu", &kib) == 1) sum += kib;
  fclose(status);
  return (uint64_t)sum * 1024;
}

// --- Figures --------------------------------------------------------------------------------------------------------

void figure(const char* name, double value) {
  printf("%s %.3f\n", name, value);
}

static int by_value(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

void figures_of_samples(uint64_t* samples, size_t count) {
  qsort(samples, count, sizeof *samples, by_value);
  figure("p50", (double)samples[count / 2]);
  figure("p99", (double)samples[count * 99 / 100]);
}

void figure_of_others(uint64_t processor_ns, uint64_t wall_ns) {
  figure("others_percent", 100.0 * ((double)processor_ns - (double)wall_ns) / (double)wall_ns);
}

size_t wake_samples(long idle_us) {
  const long fit = 500000 / idle_us;
  return fit < 300 ? 300 : fit > 3000 ? 3000 : (size_t)fit;
}

void spin_for_us(long us) {
  const uint64_t until = now_ns() + (uint64_t)us * 1000;
  while (now_ns() < until) __builtin_ia32_pause();
}

// --- Expected results -----------------------------------------------------------------------------------------------

double spawns_of_fib(long n) {
  double before = 0, spawns = 0;
  for (long i = 2; i <= n; ++i) {
    const double next = spawns + before + 1;
    before = spawns;
    spawns = next;
  }
  return spawns;
}

long fib_by_adding(long n) {
  long a = 0, b = 1;
  for (; n > 0; --n) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return a;
}

double tasks_of_skynet(long leaves) {
  double tasks = 0;
  for (long level = leaves; level > 1; level /= 10) {
    if (level % 10) fail("skynet wants a power of ten of leaves");
    tasks += (double)level;
  }
  return tasks;
}

long solutions_of_queens(long board) {
  static const long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  if (board >= (long)(sizeof known / sizeof *known)) fail("nqueens: a board of 14 at most");
  return known[board];
}
