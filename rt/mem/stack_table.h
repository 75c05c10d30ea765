// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_table.h — all slabs of stacks, by number and by address: maps new slabs, and finds the stack that an
// address belongs to. docs/decisions/0022
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/mem/stack.h"
#include "rt/mem/stack_slab.h"

namespace janus {

class StackTable {
 public:
  [[nodiscard]] bool init() noexcept;
  void destroy() noexcept;                                                    // unmaps all slabs
  [[nodiscard]] bool is_empty() const noexcept { return slabs_ == nullptr; }  // before init() and after destroy()

  // See StackPool::let_grow().
  [[nodiscard]] bool let_grow(std::size_t most) noexcept;
  [[nodiscard]] bool grows() const noexcept { return most_ != 0; }

  // Maps a slab of `stacks` stacks, or of as many of them as the machine allows. nullptr: it allows none. Any thread.
  [[nodiscard]] StackSlab* add_slab(unsigned size_class, std::uint32_t stacks) noexcept;
  // How many stacks the next slab after this one should have: twice as many, as long as it is not too large.
  [[nodiscard]] std::uint32_t stacks_after(const StackSlab& slab) const noexcept;
  // Counts the guards that were made for a group.
  void count_guards(const StackGroup& group) noexcept;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  [[nodiscard]] StackSlab* slab(std::uint32_t number) const noexcept {
    return slabs_[number].load(std::memory_order_relaxed);
  }

  // Any thread, lock-free, async-signal-safe.
  // The slab that the address is in, behind its header; nullptr: none.
  [[nodiscard]] StackSlab* slab_at(const void* address) const noexcept;
  [[nodiscard]] Stack* containing(const void* address) const noexcept;
  [[nodiscard]] bool in_guard(const Stack* stack, const void* address) const noexcept;
  [[nodiscard]] std::byte* lowest_of(const Stack* stack) const noexcept {
    return slab(stack->slab)->lowest_of(stack->index);
  }

  [[nodiscard]] std::size_t guard_pages() const noexcept { return guards_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mprotected() const noexcept { return protected_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t unguarded() const noexcept { return unguarded_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t mappings() const noexcept { return mappings_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t bytes_mapped() const noexcept { return mapped_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kMaxSlabs = 4096;
  static constexpr std::size_t kTableBytes = round_up(kMaxSlabs * sizeof(void*), kPageBytes);
  static constexpr std::size_t kMaxSlabBytes = std::size_t{1} << 30;
  static constexpr std::size_t kMaxGrowingSlabBytes = std::size_t{8} << 30;  // stacks that grow: mostly address space

  [[nodiscard]] StackExtent extent_of(unsigned size_class) const noexcept {
    return grows() ? growing_extent(size_class, most_) : fixed_extent(size_class);
  }

  std::atomic<StackSlab*>* slabs_ = nullptr;  // entries below count_ do not change any more
  std::atomic<std::uint32_t> count_{0};
  RankedLock<LockRank::kStackSlabs> lock_;  // held to add a slab
  std::uint64_t canary_key_ = 0;
  std::size_t most_ = 0;  // the most that a task that starts on a stack may use; 0: sizes are fixed
  std::atomic<std::size_t> guards_{0};
  std::atomic<std::size_t> protected_{0};  // of `guards_`, those made by mprotect
  std::atomic<std::size_t> unguarded_{0};
  std::atomic<std::size_t> mappings_{0};
  std::atomic<std::size_t> mapped_{0};
};

}  // namespace janus
