// SPDX-License-Identifier: Apache-2.0
// many SPAWNED BLOCKED: runs SPAWNED tasks to their ends, then BLOCKED tasks that all wait at once. Walks the page
// tables and counts the waiting tasks whose stacks have a guard page.
#include <janus/rt.h>
#include <stdlib.h>

enum { kPage = 4096, kMaxStack = 17 * kPage };  // kMaxStack: of a task's stack while there are few tasks
static const uint64_t kPresent = 1, kWritable = 2, kLarge = 0x80, kNoExecute = 1ull << 63;
static const uint64_t kWhyAbsent = 0xf, kGuard = 4;  // kernel-free/memory/page_tables.h
static const uint64_t kAddress = 0x000ffffffffff000, kAllMemory = 0xffff800000000000;

static long count;
static uint64_t* stacks;  // an address on the stack of each waiting task
static janus_channel* gate;

static int64_t run(void* unused) {
  (void)unused;
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  return 0;
}
static int64_t block(void* unused) {
  (void)unused;
  char nothing;
  stacks[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)] = (uint64_t)&nothing;
  return janus_channel_recv(gate, &nothing) == JANUS_E_CLOSED ? 0 : -1;
}

static int spawn_all(janus_task_fn fn, long tasks) {
  janus_nursery_create();
  for (long n = 0; n < tasks; ++n)
    if (janus_nursery_spawn(fn, NULL) != 0) return 0;
  return 1;
}

static const uint64_t* table_of(uint64_t entry) {
  return (const uint64_t*)(kAllMemory + (entry & kAddress));
}

static const uint64_t* top_table(void) {
  uint64_t top;
  __asm__ volatile("mov %%cr3, %0" : "=r"(top));
  return table_of(top);
}

static uint64_t entry_of(uint64_t address) {
  const uint64_t* table = top_table();
  for (int shift = 39;; shift -= 9) {
    const uint64_t entry = table[address >> shift & 511];
    if (shift == 12 || (entry & kPresent) == 0 || (entry & kLarge) != 0) return entry;
    table = table_of(entry);
  }
}

// The number of the guard page below the stack; 0 if there is none. A page that was only never touched is no guard.
static uint64_t guard_of(uint64_t stack) {
  const uint64_t expected = kPresent | kWritable | kNoExecute;
  if ((entry_of(stack) & expected) != expected) return 0;
  for (uint64_t down = kPage; down <= kMaxStack; down += kPage)
    if ((entry_of(stack - down) & kWhyAbsent) == kGuard) return (stack - down) / kPage;
  return 0;
}

static int by_address(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

// The number of stacks that have a guard page of their own.
static long count_guards(uint64_t* places, long count) {
  long guards = 0;
  for (long n = 0; n < count; ++n) places[n] = guard_of(places[n]);
  qsort(places, (size_t)count, sizeof *places, by_address);
  for (long n = 0; n < count; ++n) guards += places[n] != (n == 0 ? 0 : places[n - 1]);
  return guards;
}

// Counts all pages of the machine, and those that are both writable and executable.
static void count_pages(const uint64_t* table, int level, long* pages, long* both) {
  for (int n = 0; n < 512; ++n) {
    if ((table[n] & kPresent) == 0) continue;
    if (level > 1 && (table[n] & kLarge) == 0) {
      count_pages(table_of(table[n]), level - 1, pages, both);
    } else {
      ++*pages;
      *both += (table[n] & kWritable) != 0 && (table[n] & kNoExecute) == 0;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long spawned = atol(argv[1]), blocked = atol(argv[2]);
  if (!spawn_all(run, spawned) || janus_nursery_await_all() != 0) return 3;
  janus_print(1, "%ld ran\n", count);
  count = 0;
  stacks = calloc((size_t)blocked, sizeof *stacks);
  gate = janus_channel_create(1, 0);
  if (stacks == NULL || gate == NULL || !spawn_all(block, blocked)) return 4;
  while (__atomic_load_n(&count, __ATOMIC_RELAXED) != blocked) janus_sleep_ns(1000000);
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  const long guards = count_guards(stacks, blocked);
  long pages = 0, both = 0;
  count_pages(top_table(), 4, &pages, &both);
  janus_channel_close(gate);
  if (janus_nursery_await_all() != 0) return 5;
  janus_print(1, "%ld blocked, all guarded: %d\n", count,
              stats.guard_pages >= (unsigned long)blocked && stats.stacks_canaried == 0);
  janus_print(1, "%ld absent pages below them, enough present ones: %d, of these writable and executable: %ld\n",
              guards, pages >= blocked, both);
  return 0;
}
