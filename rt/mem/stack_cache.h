// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_cache.h — each worker's cache of idle stacks, last-in first-out. Behind all of them is the StackReserve.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/mem/stack.h"
#include "rt/mem/stack_reserve.h"

namespace janus {

// One worker's idle stacks. Owner only; all zero bytes are a valid empty cache. Used with one pool until
// StackPool::flush().
class StackCache {
 private:
  friend class StackCaches;
  static constexpr unsigned kMaxCached = 64;
  struct List {
    std::uintptr_t items[kMaxCached];  // addresses of records, or'ed with kToBuild
  };
  std::atomic<std::uint32_t> counts_[kStackClasses];  // other threads read them for the statistics
  class StackCaches* home_;
  StackCache* next_;
  StackCache* previous_;
  List lists_[kStackClasses];
};

class StackCaches {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept { reserve_.destroy(); }
  // Of `memory` bytes in all, only a small share may be in the caches of so many workers.
  void limit_to(std::uint64_t memory, unsigned workers) noexcept;
  // The most stacks of a class that one worker's cache holds.
  [[nodiscard]] unsigned depth(unsigned size_class) const noexcept { return depths_[size_class]; }

  // See StackPool. `cache`: nullptr in a foreign thread.
  [[nodiscard]] Stack* take(StackCache* cache, unsigned size_class) noexcept;
  [[nodiscard]] Stack* take_overdrawn(unsigned size_class) noexcept;
  void give(StackCache* cache, Stack* stack) noexcept;
  void flush(StackCache& cache) noexcept;

  [[nodiscard]] std::size_t stacks_cached() noexcept;

  [[nodiscard]] StackReserve& reserve() noexcept { return reserve_; }
  [[nodiscard]] const StackReserve& reserve() const noexcept { return reserve_; }

 private:
  [[nodiscard]] Stack* handed_out(Stack* stack) const noexcept;
  void take_in(Stack* stack) const noexcept;
  void link(StackCache& cache) noexcept;
  void unlink(StackCache& cache) noexcept;

  StackReserve reserve_;
  std::uint8_t depths_[kStackClasses] = {};  // see depth()
  RankedLock<LockRank::kCaches> lock_;       // of the list of caches
  StackCache* caches_ = nullptr;
};

}  // namespace janus
