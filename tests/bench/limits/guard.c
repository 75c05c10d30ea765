// SPDX-License-Identifier: Apache-2.0
// guard.c — the least cost of a parked fiber: one page of its stack touched, one guarded. The guards need no mapping
// (MADV_GUARD_INSTALL, Linux 6.13), and hundreds are made by one system call.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fiber.h"
#include "limits.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { kPage = 4096, kStride = 3 * kPage, kBatch = 512 };  // kStride: a guard page and a stack of two pages

static int self;  // a pidfd of this process

static void guard_one(char* page) {
  if (madvise(page, kPage, MADV_GUARD_INSTALL)) fail("this kernel installs no guards: %s", strerror(errno));
}

// Guards the lowest page of each of `count` stacks.
static void guard_batch(char* stacks, long count) {
  struct iovec ranges[kBatch];
  for (long i = 0; i < count; ++i) ranges[i] = (struct iovec){stacks + i * kStride, kPage};
  const long done = syscall(SYS_process_madvise, self, ranges, (unsigned long)count, MADV_GUARD_INSTALL, 0);
  if (done != count * kPage) fail("this kernel installs no guards in batches: %s", done < 0 ? strerror(errno) : "some");
}

static void guard_all(char* stacks, long count) {
  for (long i = 0; i < count; i += kBatch) guard_batch(stacks + i * kStride, count - i < kBatch ? count - i : kBatch);
}

// Writes what a waiting fiber has written: its frame.
static void touch_all(char* stacks, long count) {
  for (long i = 1; i <= count; ++i) *(volatile long*)(stacks + i * kStride - FRAME_BYTES) = i;
}

static void check_all(const char* stacks, long count) {
  for (long i = 1; i <= count; ++i)
    if (*(const volatile long*)(stacks + i * kStride - FRAME_BYTES) != i) fail("stack %ld holds something else", i);
}

static char* begin(long count, int workers) {
  pin(0, workers);
  self = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (self < 0) fail("no file for a process: %s", strerror(errno));
  return pages((size_t)count * kStride);
}

void limit_of_first_touch(long stacks, int workers) {
  const double count = (double)stacks;
  char* const memory = begin(stacks, workers);
  const uint64_t resident = resident_bytes(), start = now_ns();
  guard_all(memory, stacks);
  const uint64_t guarded = now_ns();
  touch_all(memory, stacks);
  const uint64_t touched = now_ns();
  const uint64_t bytes = resident_bytes() - resident;
  check_all(memory, stacks);
  const uint64_t unmapping = now_ns();
  munmap(memory, (size_t)stacks * kStride);
  const uint64_t end = now_ns();
  figure("ns", (double)(touched - start) / count);
  figure("guard", (double)(guarded - start) / count);
  figure("bytes", (double)bytes / count);
  figure("teardown", (double)(end - unmapping) / count);
}

// Installs guards in batches and one by one, where there were no page tables before.
void limit_of_guard(long guards, int workers) {
  char *const batches = begin(guards, workers), *const singles = pages((size_t)guards * kStride);
  const uint64_t start = now_ns();
  guard_all(batches, guards);
  const uint64_t middle = now_ns();
  for (long i = 0; i < guards; ++i) guard_one(singles + i * kStride);
  const uint64_t end = now_ns();
  figure("ns", (double)(middle - start) / (double)guards);
  figure("single", (double)(end - middle) / (double)guards);
}
