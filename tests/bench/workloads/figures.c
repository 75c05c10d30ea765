// SPDX-License-Identifier: Apache-2.0
// figures.c: prints the figures of workloads, and asks the system for memory figures.
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "bench.h"

void figure(const char* name, int64_t total, int64_t count) {
  const int64_t size = total < 0 ? -total : total, whole = size / count;
  const int64_t thousandths = (size % count) * 1000 / count;
  EXPECT(janus_print(1, "%s %s%lld.%03lld\n", name, total < 0 ? "-" : "", (long long)whole, (long long)thousandths) ==
         0);
}

static int ascending(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

void percentiles(uint64_t* samples, long count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  figure("p50", (int64_t)samples[count / 2], 1);
  figure("p99", (int64_t)samples[count * 99 / 100], 1);
}

janus_stats statistics(void) {
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  return stats;
}

static uint64_t kilobytes_after(const char* text, const char* label) {
  const char* at = strstr(text, label);
  EXPECT(at != NULL);
  return strtoull(at + strlen(label), NULL, 10);
}

uint64_t resident_bytes(void) {
  char text[4096];
  const int64_t file = janus_syscall(SYS_open, "/proc/self/status", 0, 0);
  EXPECT(file >= 0);
  const int64_t length = janus_syscall(SYS_read, file, text, sizeof text - 1);
  janus_syscall(SYS_close, file);
  EXPECT(length > 0);
  text[length] = '\0';
  return 1024 * (kilobytes_after(text, "\nVmRSS:") + kilobytes_after(text, "\nVmPTE:"));
}

int has_memory_left(void) {
  return resident_bytes() < statistics().bytes_limit;
}
