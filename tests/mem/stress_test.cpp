// SPDX-License-Identifier: Apache-2.0
// stress_test.cpp — several workers exchange blocks, records and stacks through mailboxes, so that most frees are done
// by another worker than the allocation. The receiver checks that nobody else had the object in between.
#include "rt/base/spinlock.h"
#include "rt/mem/heap.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_pool.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

using namespace janus;
using janus::test::ThreadGroup;

namespace {

constexpr unsigned kWorkers = 4;
constexpr unsigned kPlaces = 256;

// Fewer with JANUS_TEST_FEW, which is set on an emulated processor, where each takes ten times as long, and in builds
// that only repeat the tests of another (tests/harness/gate.py).
unsigned rounds() {
  return test::environment_number("JANUS_TEST_FEW", 0) != 0 ? 4'000 : 40'000;
}

// Objects on their way from one worker to another.
std::atomic<void*> g_mail[kPlaces];
std::atomic<std::uint64_t> g_wrong;

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  }
};

// The mark inside a travelling object is made of the object's address, so two holders of one object would overwrite
// each other's marks.
std::uint64_t mark_of(const void* thing) {
  return address_of(thing) ^ 0x5bd1e9955bd1e995u;
}
void wrong() {
  g_wrong.fetch_add(1, std::memory_order_relaxed);
}

template <class Take, class Give>
void storm(unsigned self, Take take, Give give) {
  Random random{(test::environment_number("JANUS_TEST_SEED", 0) << 8) + self + 1};
  for (unsigned n = rounds(); n != 0; n--) {
    void* mine = random.next() % 8 < 5 ? take(random.next()) : nullptr;
    if (void* theirs = g_mail[random.next() % kPlaces].exchange(mine, std::memory_order_acq_rel)) give(theirs);
  }
}

template <class Give>
void clear_mail(Give give) {
  for (std::atomic<void*>& place : g_mail)
    if (void* left = place.exchange(nullptr)) give(left);
}

Heap g_heap;
HeapCache g_heap_caches[kWorkers];
Slab g_slab;
SlabCache g_slab_caches[kWorkers];
StackPool g_pool;
StackCache g_stack_caches[kWorkers];
SpinLock g_lock;
std::uint64_t g_guarded;

// --- The heap: sizes from all classes, large blocks too -------------------------------------------------------------

void* take_block(HeapCache* cache, std::uint64_t dice) {
  const std::size_t bytes = 16 + (dice % 64 == 0 ? dice % 300'000 : dice % 700);
  auto* block = static_cast<std::uint64_t*>(g_heap.allocate(cache, bytes, 16, static_cast<std::uint32_t>(bytes)));
  if (block == nullptr) return wrong(), nullptr;
  block[0] = mark_of(block);
  block[1] = bytes;
  return block;
}
void give_block(HeapCache* cache, void* thing) {
  auto* block = static_cast<std::uint64_t*>(thing);
  if (block[0] != mark_of(block) || g_heap.tag_of(block) != block[1] || g_heap.size_of(block) < block[1]) wrong();
  block[0] = 0;
  g_heap.free(cache, block);
}
void heap_worker(unsigned self) {
  HeapCache* cache = self == 0 ? nullptr : &g_heap_caches[self];  // worker 0 acts as a thread outside tasks
  storm(
      self, [cache](std::uint64_t dice) { return take_block(cache, dice); },
      [cache](void* block) { give_block(cache, block); });
  if (cache != nullptr) g_heap.flush(*cache);
}

// --- Records --------------------------------------------------------------------------------------------------------

struct Record {
  void* link;
  std::uint64_t mark;
  std::uint64_t rest[14];
};
void* take_record(SlabCache* cache) {
  auto* record = static_cast<Record*>(g_slab.take(cache));
  if (record == nullptr || record->mark != 0) return wrong(), nullptr;
  record->mark = mark_of(record);
  return record;
}
void give_record(SlabCache* cache, void* thing) {
  auto* record = static_cast<Record*>(thing);
  if (record->mark != mark_of(record) || g_slab.at(g_slab.index_of(record)) != record) wrong();
  record->mark = 0;
  g_slab.give(cache, record);
}
void slab_worker(unsigned self) {
  SlabCache* cache = self == 0 ? nullptr : &g_slab_caches[self];
  storm(
      self, [cache](std::uint64_t) { return take_record(cache); }, [cache](void* r) { give_record(cache, r); });
  if (cache != nullptr) g_slab.flush(*cache);
}

// --- Stacks ---------------------------------------------------------------------------------------------------------

void* take_stack(StackCache* cache, std::uint64_t dice) {
  Stack* stack = g_pool.take(cache, dice % 16 == 0 ? 2 : 0);
  if (stack == nullptr) return wrong(), nullptr;
  auto* word = reinterpret_cast<std::uint64_t*>(stack->start) - 1;
  *word = mark_of(stack);
  stack->owner = stack;
  return stack;
}
void give_stack(StackCache* cache, void* thing) {
  auto* stack = static_cast<Stack*>(thing);
  if (reinterpret_cast<std::uint64_t*>(stack->start)[-1] != mark_of(stack) || stack->owner != stack) wrong();
  if (g_pool.containing(stack->start - 100) != stack) wrong();
  stack->owner = nullptr;
  g_pool.give(cache, stack);
}
void stack_worker(unsigned self) {
  StackCache* cache = self == 0 ? nullptr : &g_stack_caches[self];
  storm(
      self, [cache](std::uint64_t dice) { return take_stack(cache, dice); },
      [cache](void* stack) { give_stack(cache, stack); });
  if (cache != nullptr) g_pool.flush(*cache);
}

// Takes far more stacks than the pool keeps, while other workers do the same: the pool gives back groups of stacks
// while others use them.
void breathing_worker(unsigned self) {
  constexpr unsigned kMax = 3000;
  static Stack* held[kWorkers][kMax];
  for (unsigned round = 0; round < 4; round++) {
    for (unsigned n = 0; n < kMax; n++) held[self][n] = static_cast<Stack*>(take_stack(&g_stack_caches[self], 1));
    for (unsigned n = 0; n < kMax; n++)
      if (Stack* stack = held[self][(n * 7u + self) % kMax]) give_stack(&g_stack_caches[self], stack);
    if (round == 2) g_pool.trim();
  }
  g_pool.flush(g_stack_caches[self]);
}

void locking_worker(unsigned) {
  for (unsigned n = rounds(); n != 0; n--) {
    LockGuard guard(g_lock);
    g_guarded = g_guarded + 1;
  }
}

}  // namespace

TEST(storm, blocks_that_others_free_are_never_lost_nor_held_twice) {
  g_wrong = 0;
  REQUIRE(g_heap.init());
  REQUIRE(ThreadGroup::run(kWorkers, heap_worker));
  clear_mail([](void* block) { give_block(nullptr, block); });
  CHECK_EQ(g_wrong.load(), 0u);
  CHECK_EQ(g_heap.bytes_in_use(), 0u);
  g_heap.destroy();
}

TEST(storm, records_that_others_give_are_never_lost_nor_held_twice) {
  g_wrong = 0;
  REQUIRE(g_slab.init(sizeof(Record)));
  REQUIRE(ThreadGroup::run(kWorkers, slab_worker));
  clear_mail([](void* record) { give_record(nullptr, record); });
  CHECK_EQ(g_wrong.load(), 0u);
  CHECK_EQ(g_slab.count(), 0u);
  g_slab.destroy();
}

TEST(storm, stacks_that_others_give_are_never_lost_nor_held_twice) {
  g_wrong = 0;
  REQUIRE(g_pool.init());
  REQUIRE(ThreadGroup::run(kWorkers, stack_worker));
  clear_mail([](void* stack) { give_stack(nullptr, stack); });
  CHECK_EQ(g_pool.stacks_in_use(), 0u);
  REQUIRE(ThreadGroup::run(kWorkers, breathing_worker));
  CHECK_EQ(g_wrong.load(), 0u);
  CHECK_EQ(g_pool.stacks_in_use(), 0u);
  g_pool.destroy();
}

TEST(storm, the_lock_lets_in_one_at_a_time_and_strands_nobody) {
  g_guarded = 0;
  // many more threads than CPUs, so that holders of the lock are preempted
  REQUIRE(ThreadGroup::run(16, locking_worker));
  CHECK_EQ(g_guarded, std::uint64_t{16} * rounds());
  REQUIRE(g_lock.try_lock());
  CHECK(!g_lock.try_lock());
  g_lock.unlock();
}
