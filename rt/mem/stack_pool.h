// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_pool.h — stacks above guard pages, in few mappings: each new slab is larger, as far as the machine
// allows. Freed stacks stay mapped and are taken again last-in first-out, while they are warm. As many stay warm as
// were in use at once; the pages of those that were not needed again go back to the machine when the program rests.
//
// INVARIANT one-page: the pool itself touches no page of a stack but the top one, and that only when the stack is taken
// or, if many are out already, moved to a worker's cache (of a stack without a guard also the page of its canary).
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
// Bit 0 of an item in a cache or a batch: the stack's record is still to be built.
inline constexpr std::uintptr_t kToBuild = 1;

// One worker's idle stacks. Owner only; all zero bytes are a valid empty cache. Used with one pool until
// StackPool::flush().
class StackCache {
 private:
  friend class StackPool;
  static constexpr unsigned kMaxCached = 64;
  struct List {
    std::uintptr_t items[kMaxCached];  // addresses of records, or'ed with kToBuild
  };
  std::atomic<std::uint32_t> counts_[kStackClasses];  // other threads read them for the statistics
  class StackPool* home_;
  StackCache* next_;
  StackCache* previous_;
  List lists_[kStackClasses];
};

class StackPool {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept;  // unmaps everything, in use or not; caches must have been flushed

  // Makes `pool_charge` pay for stacks from now on: each costs its class's size from when it may have pages until these
  // have gone back. Unless this is called, stacks are not charged. Of `memory` bytes in all only small shares may be in
  // the workers' caches, or out as large-first stacks. Call it before the first take().
  void charge_to(PoolCharge& pool_charge, std::uint64_t memory, unsigned workers) noexcept;

  // If the machine can move guards, stacks begin small from now on and may grow, so that a task that starts on one may
  // use `most` bytes (a multiple of pages) or the class's size, whichever is more. False: it cannot, and sizes are
  // fixed. Call it before the first take().
  [[nodiscard]] bool let_grow(std::size_t most) noexcept;
  [[nodiscard]] bool grows() const noexcept { return most_ != 0; }

  // Returns the stack last put into the cache, else one from the shared pool, else a new one. `cache`: the calling
  // worker's, or nullptr in a foreign thread. size_class < kStackClasses. nullptr: the machine has no memory, or the
  // payer cannot pay.
  [[nodiscard]] Stack* take(StackCache* cache, unsigned size_class) noexcept;
  // Called after take() has failed: gives back the pages of idle stacks, and tries again. `Due::kPaid`: the task has
  // paid already, or without the stack nothing could go on (PoolCharge::overdraw).
  enum class Due : bool { kUnpaid, kPaid };
  [[nodiscard]] Stack* alloc_under_pressure(StackCache* cache, unsigned size_class, Due due) noexcept;
  // Any worker; `cache` is its own, or nullptr in a foreign thread. Precondition: no code runs on the stack any more.
  void give(StackCache* cache, Stack* stack) noexcept;
  void flush(StackCache& cache) noexcept;

  // The stack that contains this address, in its usable part or its guard; nullptr: none does, or that stack was never
  // used or is cold. Any thread, lock-free, async-signal-safe.
  [[nodiscard]] Stack* containing(const void* address) noexcept;
  // Whether the address is in the guard below this very stack. Any thread, lock-free, async-signal-safe.
  [[nodiscard]] bool in_guard(const Stack* stack, const void* address) noexcept;
  // Always true of a stack with a guard page; of others false once a task has overrun its end.
  [[nodiscard]] static bool canary_intact(const Stack* stack) noexcept {
    return stack->guard != platform::Guard::kNone || canary_words_intact(stack);
  }

  // Writes the canary anew after an overrun has been reported, so that the next task on the stack is not blamed for it.
  static void renew_canary(Stack* stack) noexcept;

  // --- Growth, for the holder of the stack only (rt/mem/stack_growth.cpp); may be called in a fault handler ---

  // The lowest address to which the stack may grow; its limit, if it does not grow.
  [[nodiscard]] std::byte* lowest_of(const Stack* stack) noexcept;
  // Makes the stack usable down to `limit`, a page boundary between lowest_of() and the present limit. Its contents are
  // kept. False: the machine refuses, and nothing has changed.
  [[nodiscard]] bool extend(Stack* stack, std::byte* limit) noexcept;
  // Raises the limit again: the contents below are lost. Precondition: no frame is below `limit`. If the machine
  // refuses, nothing changes.
  void retract(Stack* stack, std::byte* limit) noexcept;

  // Sets a hook that is called before a warm stack's pages go back, so that what holders left in `fiber` and `owner`
  // can be freed. No lock is held then. Set before the first take().
  void on_cold(void (*hook)(Stack*)) noexcept { on_cold_ = hook; }
  // Gives back the pages of all idle stacks that are in no cache. False: there were none.
  bool trim() noexcept;
  // give_excess() begins a new period, and reduces the reserve of warm stacks to the most that were in use at once in
  // the period that ends. has_excess(): more have been in use in this period or the last one than are now, so
  // give_excess() may give something back, at the second call at the latest. Any thread.
  [[nodiscard]] bool has_excess() const noexcept;
  void give_excess() noexcept;

  // How many stacks of a class are held or in caches. Any thread.
  [[nodiscard]] std::size_t out(unsigned size_class) const noexcept {
    return pools_[size_class].out.load(std::memory_order_relaxed);
  }
  // Whether a task that needs a smaller stack may get one of kLargeFirstClass.
  [[nodiscard]] bool gives_large_first() const noexcept { return out(kLargeFirstClass) < max_large_first_; }
  // Exact while no thread takes or gives a stack, otherwise approximate.
  [[nodiscard]] std::size_t stacks_in_use() noexcept;
  [[nodiscard]] std::size_t stacks_cached() noexcept;  // idle and warm, or in a worker's cache
  [[nodiscard]] std::size_t guard_pages() const noexcept { return guards_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mprotected() const noexcept { return protected_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t unguarded() const noexcept { return unguarded_.load(std::memory_order_relaxed); }
  // An upper bound of what the kernel counts, since it may merge neighbours: one for each slab, and two for each guard
  // made by mprotect.
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return mapped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kMaxSlabs = 4096;
  static constexpr std::size_t kMaxSlabBytes = std::size_t{1} << 30;
  static constexpr std::size_t kMaxGrowingSlabBytes = std::size_t{8} << 30;  // stacks that grow: mostly address space
  static constexpr std::size_t kMaxLargeFirst = 1024;
  static constexpr unsigned kMaxRefill = StackCache::kMaxCached / 2;
  struct GroupList {
    StackGroup* first;
    StackGroup* last;
  };
  // The stacks of one class that are in no worker's cache.
  struct alignas(arch::kPrefetchPair) ClassPool {
    RankedLock<LockRank::kStacks> lock;
    GroupList lists[3] = {};           // by StackGroup::List: kWarm has a warm free stack, kCold only cold free ones
    StackSlab* growing = nullptr;      // the slab that has unprepared groups
    std::uint32_t next_count = 0;      // stacks in the next slab
    std::size_t warm = 0;              // stacks that are free and warm
    std::atomic<std::size_t> out{0};   // stacks held, or in caches
    std::atomic<std::size_t> most{0};  // the most that were out in this period, approximately
    std::atomic<std::size_t> most_before{0};  // in the last one
  };

  [[nodiscard]] StackExtent extent_of(unsigned size_class) const noexcept {
    return grows() ? growing_extent(size_class, most_) : fixed_extent(size_class);
  }

  // The sources are layered: stack_lookup, stack_depot, stack_reserve, stack_cache. Each calls only those before it.
  void hand_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept;
  // `items` has room for `wanted`, at most kMaxRefill.
  [[nodiscard]] unsigned fetch(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_paid(unsigned size_class, std::uintptr_t* items, unsigned count) noexcept;
  void populate(const std::uintptr_t* items, unsigned count) noexcept;
  [[nodiscard]] unsigned pay_for(unsigned size_class, unsigned wanted) noexcept;
  void pay_back(unsigned size_class, unsigned count) noexcept;
  [[nodiscard]] unsigned fetch_warm(ClassPool& pool, std::uintptr_t* items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_cold(ClassPool& pool, std::uintptr_t* items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned fetch_unprepared(unsigned size_class, std::uintptr_t* items, unsigned wanted) noexcept;
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

  std::atomic<StackSlab*>* slabs_ = nullptr;  // entries below slab_count_ do not change any more
  std::atomic<std::uint32_t> slab_count_{0};
  RankedLock<LockRank::kStackSlabs> slabs_lock_;
  std::uint64_t canary_key_ = 0;
  PoolCharge* pool_charge_ = nullptr;
  std::size_t max_large_first_ = kMaxLargeFirst;
  std::size_t most_ = 0;                     // the most that a task that starts on a stack may use; 0: sizes are fixed
  std::uint8_t depths_[kStackClasses] = {};  // how many stacks a worker's cache holds
  void (*on_cold_)(Stack*) = nullptr;
  RankedLock<LockRank::kCaches> caches_lock_;
  StackCache* caches_ = nullptr;
  std::atomic<std::size_t> guards_{0};
  std::atomic<std::size_t> protected_{0};  // of `guards_`, those made by mprotect
  std::atomic<std::size_t> unguarded_{0};
  std::atomic<std::size_t> mappings_{0};
  std::atomic<std::size_t> mapped_{0};
  ClassPool pools_[kStackClasses];
};

}  // namespace janus
