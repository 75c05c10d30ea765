// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_pool.h — stacks above guard pages, in few mappings: each new slab is larger, as far as the machine
// allows. Freed stacks stay mapped and are taken again last-in first-out. As many as were in use at once stay *warm*,
// i.e. keep their pages; those that were not needed again lose them when the program rests.
//
// Class StackPool is a facade for four classes. It has the StackCaches, these have the StackReserve, and that has the
// other two:
//   StackCaches   the workers' caches                               rt/mem/stack_cache.h
//   StackReserve  all other idle stacks: their payer and warmth     rt/mem/stack_reserve.h
//   StackDepot    those of one class, in groups                     rt/mem/stack_depot.h
//   StackTable    the slabs, and stacks by address                  rt/mem/stack_table.h
//
// INVARIANT one-page: the pool itself touches no page of a stack but the top one, and that only when the stack is taken
// or, if many are out already, moved to a worker's cache (of a stack without a guard also the page of its canary).
// tests/mem/stack_pool_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/mem/stack.h"
#include "rt/mem/stack_cache.h"

namespace janus {

class PoolCharge;

inline constexpr unsigned kLargeFirstClass = 3;  // 64 KiB

class StackPool {
 public:
  static constexpr std::size_t kMaxLargeFirst = 1024;  // see gives_large_first()

  [[nodiscard]] bool init() noexcept { return caches_.init(); }
  void destroy() noexcept { caches_.destroy(); }  // unmaps everything, in use or not; caches must have been flushed

  // Makes `pool_charge` pay for stacks from now on: each costs its class's size from when it may have pages until these
  // have gone back. Unless this is called, stacks are not charged. Of `memory` bytes in all only small shares may be in
  // the caches of so many workers, or given to tasks of smaller classes (gives_large_first()). Call it before the first
  // take().
  void charge_to(PoolCharge& pool_charge, std::uint64_t memory, unsigned workers) noexcept;

  // If the machine can move guards, stacks begin small from now on and may grow, so that a task that starts on one may
  // use `most` bytes (a multiple of pages) or the class's size, whichever is more. False: it cannot, and sizes are
  // fixed. Call it before the first take().
  [[nodiscard]] bool let_grow(std::size_t most) noexcept { return table().let_grow(most); }
  [[nodiscard]] bool grows() const noexcept { return table().grows(); }

  // Returns the stack last put into the cache, else one from the reserve, else a new one. `cache`: the calling
  // worker's, or nullptr in a foreign thread. size_class < kStackClasses. nullptr: the machine has no memory, or the
  // payer cannot pay.
  [[nodiscard]] Stack* take(StackCache* cache, unsigned size_class) noexcept { return caches_.take(cache, size_class); }
  // Called after take() has failed: gives back the pages of idle stacks, and tries again. `Due::kPaid`: the task has
  // paid already, or without the stack nothing could go on (PoolCharge::overdraw).
  enum class Due : bool { kUnpaid, kPaid };
  [[nodiscard]] Stack* alloc_under_pressure(StackCache* cache, unsigned size_class, Due due) noexcept;
  // Any worker; `cache` is its own, or nullptr in a foreign thread. Precondition: no code runs on the stack any more.
  void give(StackCache* cache, Stack* stack) noexcept { caches_.give(cache, stack); }
  void flush(StackCache& cache) noexcept { caches_.flush(cache); }

  // The stack that contains this address, in its usable part or its guard; nullptr: none does, or that stack was never
  // used or is cold. Any thread, lock-free, async-signal-safe.
  [[nodiscard]] Stack* containing(const void* address) const noexcept { return table().containing(address); }
  // Whether the address is in the guard below this very stack. Any thread, lock-free, async-signal-safe.
  [[nodiscard]] bool in_guard(const Stack* stack, const void* address) const noexcept {
    return table().in_guard(stack, address);
  }
  // The lowest address to which the stack may grow (rt/mem/stack_limit.h); its limit, if it does not grow. For the
  // stack's holder; async-signal-safe.
  [[nodiscard]] std::byte* lowest_of(const Stack* stack) const noexcept { return table().lowest_of(stack); }

  // Sets a hook that is called before a warm stack's pages go back, so that what holders left in `fiber` and `owner`
  // can be freed. No lock is held then. Set before the first take().
  void on_cold(void (*hook)(Stack*)) noexcept { reserve().on_cold(hook); }
  // Gives back the pages of all idle stacks that are in no cache. False: there were none.
  bool trim() noexcept { return reserve().trim(); }
  // give_excess() begins a new period, and reduces the reserve of warm stacks to the most that were in use at once in
  // the period that ends. has_excess(): more were in use in this period or the last one than are now, so give_excess()
  // gives something back, at the second call at the latest. Any thread.
  [[nodiscard]] bool has_excess() const noexcept { return reserve().has_excess(); }
  void give_excess() noexcept { reserve().give_excess(); }

  // How many stacks of a class are held or in caches. Any thread.
  [[nodiscard]] std::size_t out(unsigned size_class) const noexcept { return reserve().out(size_class); }
  // Whether a task that needs a smaller stack may get one of kLargeFirstClass: while tasks have fewer than kMaxLargeFirst
  // of these, if all caches are full of them.
  [[nodiscard]] bool gives_large_first() const noexcept { return out(kLargeFirstClass) < max_large_first_; }
  // Exact while no thread takes or gives a stack, otherwise approximate.
  [[nodiscard]] std::size_t stacks_in_use() noexcept { return reserve().stacks_out() - caches_.stacks_cached(); }
  // Idle and warm, or in a worker's cache.
  [[nodiscard]] std::size_t stacks_cached() noexcept { return reserve().stacks_warm() + caches_.stacks_cached(); }
  // The most that were ever held or in caches at once, added up over the classes.
  [[nodiscard]] std::size_t stacks_peak() const noexcept { return reserve().stacks_peak(); }
  [[nodiscard]] std::size_t guard_pages() const noexcept { return table().guard_pages(); }
  [[nodiscard]] std::size_t mprotected() const noexcept { return table().mprotected(); }
  [[nodiscard]] std::size_t unguarded() const noexcept { return table().unguarded(); }
  // An upper bound of what the kernel counts, since it may merge neighbours: one for each slab, and two for each guard
  // made by mprotect.
  [[nodiscard]] std::size_t mappings() const noexcept { return table().mappings(); }
  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return table().bytes_mapped(); }

 private:
  [[nodiscard]] StackReserve& reserve() noexcept { return caches_.reserve(); }
  [[nodiscard]] const StackReserve& reserve() const noexcept { return caches_.reserve(); }
  [[nodiscard]] StackTable& table() noexcept { return reserve().table(); }
  [[nodiscard]] const StackTable& table() const noexcept { return reserve().table(); }

  std::size_t max_large_first_ = kMaxLargeFirst;
  StackCaches caches_;
};

}  // namespace janus
