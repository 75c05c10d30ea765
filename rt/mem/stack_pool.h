// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_pool.h — stacks above guard pages, in few mappings: slabs that grow as long as the machine lets them.
// Freed stacks stay mapped and go out again last-in first-out, while they are warm. As many stay warm as were in use at
// once; the pages of those that nobody wanted again go back when the program rests.
//
// INVARIANT one-page: the pool itself touches no page of a stack but the top one, and that only when the stack goes out
// or, with many out already, into a worker's cache (a stack without a guard also has the page of its canary).
// tests/mem/stack_pool_test.cpp
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/lock_rank.h"
#include "rt/mem/stack.h"
#include "rt/mem/stack_slab.h"

namespace janus {

class PoolCharge;

inline constexpr unsigned kLargeFirstClass = 3;  // 64 KiB
// Bit 0 of a stack in a cache or a batch: its record is still to be built.
inline constexpr std::uintptr_t kToBuild = 1;

// One worker's idle stacks. Owner only; zeroes are a valid empty cache. It serves one pool until StackPool::flush().
class StackCache {
 private:
  friend class StackPool;
  static constexpr unsigned kMaxCached = 64;
  struct List {
    std::uintptr_t items[kMaxCached];  // addresses of records, and kToBuild
  };
  std::atomic<std::uint32_t> counts_[kStackClasses];  // others read them for the statistics
  class StackPool* home_;
  StackCache* next_;
  StackCache* previous_;
  List lists_[kStackClasses];
};

class StackPool {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept;  // everything is unmapped, in use or not; caches must have been flushed

  // Who pays for stacks from now on: each costs its class's size, from when it may have pages until they have gone
  // back. Nobody, as long as this is not called. Of `memory` bytes in all only small shares may lie in the workers'
  // caches, or be out as large-first stacks. Before the first take().
  void charge_to(PoolCharge& pool_charge, std::uint64_t memory, unsigned workers) noexcept;

  // Where the machine lets guards move, stacks begin small and may grow from now on, so that each that somebody starts
  // on has `most` bytes (a multiple of pages) or its class's size. False: sizes are fixed. Before the first take().
  [[nodiscard]] bool let_grow(std::size_t most) noexcept;
  [[nodiscard]] bool grows() const noexcept { return most_ != 0; }

  // The cache's last one, else from the shared pool, else a new one; nullptr when the machine refuses. `cache`: the
  // calling worker's, or nullptr in a foreign thread. size_class < kStackClasses. nullptr when the machine refuses, or
  // nobody can pay.
  [[nodiscard]] Stack* take(StackCache* cache, unsigned size_class) noexcept;
  // After take() gave nothing: gives back the pages of what lies idle, and looks again. `Due::kPaid`: for somebody who
  // has paid already, or without whom nothing goes on (PoolCharge::overdraw).
  enum class Due : bool { kUnpaid, kPaid };
  [[nodiscard]] Stack* alloc_under_pressure(StackCache* cache, unsigned size_class, Due due) noexcept;
  // Nobody stands on it any more. Any worker.
  void give(StackCache* cache, Stack* stack) noexcept;
  void flush(StackCache& cache) noexcept;

  // The stack that has this address within it or within its guard; nullptr: none that was ever used and is still warm.
  // Any thread, lock-free, async-signal-safe.
  [[nodiscard]] Stack* containing(const void* address) noexcept;
  // Whether the address is in the guard below this very stack. As above.
  [[nodiscard]] bool in_guard(const Stack* stack, const void* address) noexcept;
  // Always true of a stack whose guard faults; of others false once something ran over its end.
  [[nodiscard]] static bool canary_intact(const Stack* stack) noexcept {
    return stack->guard != platform::Guard::kNone || canary_words_intact(stack);
  }

  // For the next one who stands on it: once an overrun has been found, it is not to be found again.
  static void renew_canary(Stack* stack) noexcept;

  // --- Growth, by whom the stack is held (rt/mem/stack_growth.cpp); good in a fault handler ---

  // The lowest byte that it may ever have; its limit, if it does not grow.
  [[nodiscard]] std::byte* lowest_of(const Stack* stack) noexcept;
  // From now on it is usable down to `limit`, a page boundary from lowest_of() to what the limit is now. What lies
  // there is kept. False: the machine refuses, and nothing has changed.
  [[nodiscard]] bool extend(Stack* stack, std::byte* limit) noexcept;
  // And no further than it was before: what lies below is forgotten, and nobody stands there. Where the machine
  // refuses, it stays as it is.
  void retract(Stack* stack, std::byte* limit) noexcept;

  // Called before a warm stack's pages go back, so that what the holders left in `fiber` and `owner` can be freed.
  // No lock is held. Set before the first take().
  void on_cold(void (*hook)(Stack*)) noexcept { on_cold_ = hook; }
  // Gives back the pages of all idle stacks that are in no cache. False: there were none.
  bool trim() noexcept;
  // Whether more stacks were in use at once than are now, so that more are warm than may be wanted; and gives back
  // what is beyond the reserve of those in use now. Any thread.
  [[nodiscard]] bool has_excess() const noexcept;
  void give_excess() noexcept;

  // Of one class: held, or in caches. Any thread.
  [[nodiscard]] std::size_t out(unsigned size_class) const noexcept {
    return pools_[size_class].out.load(std::memory_order_relaxed);
  }
  // Whether a stack of kLargeFirstClass may go out to somebody who needs less.
  [[nodiscard]] bool gives_large_first() const noexcept { return out(kLargeFirstClass) < max_large_first_; }
  // Exact while no one takes or gives, else near.
  [[nodiscard]] std::size_t stacks_in_use() noexcept;
  [[nodiscard]] std::size_t stacks_cached() noexcept;  // idle and warm, or in a worker's cache
  [[nodiscard]] std::size_t guard_pages() const noexcept { return guards_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mprotected() const noexcept { return protected_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t unguarded() const noexcept { return unguarded_.load(std::memory_order_relaxed); }
  // As the kernel counts them, neighbours not merged: a slab each, and two for every guard made by mprotect.
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return mapped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kMaxSlabs = 4096;
  static constexpr std::size_t kMaxSlabBytes = std::size_t{1} << 30;
  static constexpr std::size_t kMaxGrowingSlabBytes = std::size_t{8} << 30;  // they are mostly address space
  static constexpr std::size_t kMaxLargeFirst = 1024;
  static constexpr unsigned kMaxRefill = StackCache::kMaxCached / 2;
  struct GroupList {
    StackGroup* first;
    StackGroup* last;
  };
  // What no cache holds of one class.
  struct alignas(arch::kPrefetchPair) ClassPool {
    RankedLock<LockRank::kStacks> lock;
    GroupList lists[3] = {};           // by StackGroup::List; those with a warm free stack, those with cold ones only
    StackSlab* growing = nullptr;      // the slab that has unprepared groups
    std::uint32_t next_count = 0;      // stacks in the next slab
    std::size_t warm = 0;              // free and warm
    std::atomic<std::size_t> out{0};   // held, or in caches
    std::atomic<std::size_t> most{0};  // the most that were out since the last give_excess(), nearly
  };
  using Items = std::uintptr_t[kMaxRefill];

  [[nodiscard]] StackExtent extent_of(unsigned size_class) const noexcept {
    return grows() ? growing_extent(size_class, most_) : fixed_extent(size_class);
  }

  // In parts, each of which calls those before it alone: stack_lookup, stack_depot, stack_reserve, stack_cache.
  void hand_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept;
  [[nodiscard]] unsigned fetch(unsigned size_class, Items& items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_paid(unsigned size_class, Items& items, unsigned count) noexcept;
  void populate(const Items& items, unsigned count) noexcept;
  [[nodiscard]] unsigned pay_for(unsigned size_class, unsigned wanted) noexcept;
  void pay_back(unsigned size_class, unsigned count) noexcept;
  [[nodiscard]] unsigned fetch_warm(ClassPool& pool, Items& items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_cold(ClassPool& pool, Items& items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_unprepared(unsigned size_class, Items& items, unsigned wanted) noexcept;
  [[nodiscard]] StackGroup* claim_group(ClassPool& pool, unsigned size_class) noexcept;
  [[nodiscard]] bool grow(ClassPool& pool, unsigned size_class) noexcept;
  void count_guards(const StackGroup& group) noexcept;
  [[nodiscard]] Stack* build(std::uintptr_t item) noexcept;
  [[nodiscard]] Stack* handed_out(Stack* stack) const noexcept;
  void take_in(Stack* stack) const noexcept;
  void put_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept;
  void count_out(ClassPool& pool, unsigned count) noexcept;
  void put_back_one(ClassPool& pool, std::uintptr_t item) noexcept;
  void keep_reserve(unsigned size_class) noexcept;
  [[nodiscard]] bool decommit_one_group(unsigned size_class, std::size_t reserve) noexcept;

  void sort(ClassPool& pool, StackGroup* group) noexcept;
  void unlist(ClassPool& pool, StackGroup* group) noexcept;
  [[nodiscard]] StackSlab* slab_at(const void* address) const noexcept;
  [[nodiscard]] static bool canary_words_intact(const Stack* stack) noexcept;

  void link(StackCache& cache) noexcept;
  void unlink(StackCache& cache) noexcept;

  std::atomic<StackSlab*>* slabs_ = nullptr;  // what is below slab_count_ never changes again
  std::atomic<std::uint32_t> slab_count_{0};
  RankedLock<LockRank::kStackSlabs> slabs_lock_;
  std::uint64_t canary_key_ = 0;
  PoolCharge* pool_charge_ = nullptr;
  std::size_t max_large_first_ = kMaxLargeFirst;
  std::size_t most_ = 0;                     // what whoever starts on a stack may grow to; 0: sizes are fixed
  std::uint8_t depths_[kStackClasses] = {};  // how many a worker's cache holds
  void (*on_cold_)(Stack*) = nullptr;
  RankedLock<LockRank::kCaches> caches_lock_;
  StackCache* caches_ = nullptr;
  std::atomic<std::size_t> guards_{0};
  std::atomic<std::size_t> protected_{0};  // of those, made by mprotect
  std::atomic<std::size_t> unguarded_{0};
  std::atomic<std::size_t> mappings_{0};
  std::atomic<std::size_t> mapped_{0};
  ClassPool pools_[kStackClasses];
};

}  // namespace janus
