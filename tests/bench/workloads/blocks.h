// SPDX-License-Identifier: Apache-2.0
// blocks.h: patterns of allocation, one text for the project's program and for the peers. Whoever includes it defines
// take_block(bytes), which ends the program if there is no memory, give_block(block), and let_other_thread_run(). A
// holder writes to its block.
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline void* take_and_write(size_t bytes) {
  void* block = take_block(bytes);
  *(volatile char*)block = 1;
  __asm__ volatile("" : : "r"(block) : "memory");  // makes the compiler keep the block
  return block;
}

enum { kBlock = 64, kBatch = 1000, kSlots = 1024, kMostBytes = 1024, kRing = 1024, kPart = 16 };

static inline void one_by_one(long count) {
  for (long i = 0; i < count; ++i) give_block(take_and_write(kBlock));
}

// At least `count` blocks in batches: all of a batch are allocated, then all are freed. Returns how many.
static inline long in_batches(long count) {
  static void* blocks[kBatch];
  long done = 0;
  for (; done < count; done += kBatch) {
    for (long i = 0; i < kBatch; ++i) blocks[i] = take_and_write(kBlock);
    for (long i = 0; i < kBatch; ++i) give_block(blocks[i]);
  }
  return done;
}

// `count` blocks of 8 to kMostBytes bytes. Each replaces one that is chosen at random.
static inline void of_mixed_sizes(long count) {
  static void* slots[kSlots];
  uint64_t random = 88172645463325252u;
  for (long i = 0; i < count; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    void** slot = &slots[random % kSlots];
    if (*slot) give_block(*slot);
    *slot = take_and_write(8 + (random >> 32) % (kMostBytes - 7));
  }
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i]) give_block(slots[i]);
    slots[i] = NULL;
  }
}

// --- Freed by another thread -------------------------------------------------------------------------------------------

// Blocks on their way from the thread that allocates to the one that frees, which announce their positions after each
// kPart blocks.
static struct {
  void* blocks[kRing];
  _Alignas(128) long taken;
  _Alignas(128) long given;
} ring;

// Where the other thread has no CPU of its own, it gets this one.
static inline void wait_for(const long* position, long at_least) {
  for (int looks = 1; __atomic_load_n(position, __ATOMIC_ACQUIRE) < at_least; ++looks) {
    __builtin_ia32_pause();
    if (looks % 1024 == 0) let_other_thread_run();
  }
}

// Both return when `count` blocks are through, a multiple of kPart. The ring is empty before and after.
static inline void allocate_for_another(long count) {
  const long start = ring.taken;
  for (long i = 0; i < count; i += kPart) {
    wait_for(&ring.given, start + i + kPart - kRing);
    for (long n = start + i; n < start + i + kPart; ++n) ring.blocks[n % kRing] = take_and_write(kBlock);
    __atomic_store_n(&ring.taken, start + i + kPart, __ATOMIC_RELEASE);
  }
  wait_for(&ring.given, start + count);
}

static inline void free_of_another(long count) {
  const long start = ring.given;
  for (long i = 0; i < count; i += kPart) {
    wait_for(&ring.taken, start + i + kPart);
    for (long n = start + i; n < start + i + kPart; ++n) give_block(ring.blocks[n % kRing]);
    __atomic_store_n(&ring.given, start + i + kPart, __ATOMIC_RELEASE);
  }
}
