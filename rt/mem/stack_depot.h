// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_depot.h — the stacks of one class that are in no worker's cache: groups, from which batches are taken and
// to which they are returned. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/lock_rank.h"
#include "rt/mem/stack.h"
#include "rt/mem/stack_slab.h"
#include "rt/mem/stack_table.h"

namespace janus {

// A batch has items: addresses of stacks' records. Bit 0: the record is still to be built.
inline constexpr std::uintptr_t kToBuild = 1;

class alignas(arch::kPrefetchPair) StackDepot {
 public:
  void init(unsigned size_class) noexcept;
  void destroy() noexcept;  // forgets all slabs, which the table unmaps

  // Each takes up to `wanted` stacks of one group, the lowest last, so that they are taken by rising address. Returns
  // how many.
  [[nodiscard]] unsigned take_warm(std::uintptr_t* items, unsigned wanted) noexcept;
  [[nodiscard]] unsigned take_cold(std::uintptr_t* items, unsigned wanted) noexcept;
  // Takes stacks that were never used; maps a slab if there are none.
  [[nodiscard]] unsigned take_new(StackTable& table, std::uintptr_t* items, unsigned wanted) noexcept;
  // Takes stacks back. Returns how many of them were never built, and so have no pages.
  [[nodiscard]] unsigned put_back(const StackTable& table, const std::uintptr_t* items, unsigned count) noexcept;

  // Stacks of a group whose pages are about to go back. They are neither free nor held until end_cooling().
  struct Cooling {
    StackGroup* group;  // nullptr: none
    std::uint64_t stacks;
  };
  // Chooses all warm stacks of the group that has been warm longest, if more than `reserve` stacks are warm.
  [[nodiscard]] Cooling begin_cooling(std::size_t reserve) noexcept;
  void end_cooling(const Cooling& cooling) noexcept;

  // Called for stacks that have been taken or put back.
  void count_out(unsigned count) noexcept;
  void count_in(unsigned count) noexcept;
  // How many stacks are held, or in caches.
  [[nodiscard]] std::size_t out() const noexcept { return out_.load(std::memory_order_relaxed); }
  // The most that were out in this period or the last one, approximately.
  [[nodiscard]] std::size_t most_out() const noexcept {
    const std::size_t now = most_now_.load(std::memory_order_relaxed);
    const std::size_t before = most_before_.load(std::memory_order_relaxed);
    return now > before ? now : before;
  }
  // The most that were ever out at once, approximately.
  [[nodiscard]] std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  void begin_period() noexcept {
    most_before_.store(most_now_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    most_now_.store(out(), std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t warm() noexcept {
    LockGuard guard(lock_);
    return warm_;
  }

 private:
  struct GroupList {
    StackGroup* first;
    StackGroup* last;
  };

  [[nodiscard]] StackGroup* claim_group(StackTable& table) noexcept;
  void put_back_one(const StackTable& table, std::uintptr_t item) noexcept;
  void sort(StackGroup* group) noexcept;
  void unlist(StackGroup* group) noexcept;

  RankedLock<LockRank::kStacks> lock_;
  GroupList lists_[3] = {};       // by StackGroup::List: kWarm has a warm free stack, kCold only cold free ones
  StackSlab* growing_ = nullptr;  // the slab that has unprepared groups
  std::uint32_t next_count_ = 0;  // stacks in the next slab
  std::uint8_t size_class_ = 0;
  std::size_t warm_ = 0;  // stacks that are free and warm
  std::atomic<std::size_t> out_{0};
  std::atomic<std::size_t> most_now_{0}, most_before_{0};  // in this period, and in the last one
  std::atomic<std::size_t> peak_{0};
};

}  // namespace janus
