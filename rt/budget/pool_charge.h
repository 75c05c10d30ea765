// SPDX-License-Identifier: Apache-2.0
// rt/budget/pool_charge.h — how records and stacks are paid for. The pools map and unmap memory in batches, so the root
// account pays in bulk, when a pool grows; taking or giving back a single record or stack is free. The root does not
// pay for the part that tasks with an explicit budget have paid for. docs/decisions/0085
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/budget/root_memory.h"

namespace janus {

// INVARIANT paid-before-taken: held <= paid + covered + allowance, where
//   held       what the pools hold: records ever cut, and stacks that may have pages, each at its full size
//   paid       what the root account has paid for them
//   covered    what accounts below the root pay for their live tasks
//   allowance  a constant, without which nothing could start
// Two exceptions: overdraw() may exceed the sum by covered + allowance, and memory of a task that had paid for itself
// may stay behind when it ends. Such a debt is paid before anything else. tests/budget/pool_charge_test.cpp
//
// Any thread. All-zero bytes are valid; before init() nothing is charged.
class PoolCharge {
 public:
  // Gives idle memory of the pools back to the machine, and tells PoolCharge by shrink(). False: there was none.
  using Reclaim = bool (*)(void* pools) noexcept;
  void init(RootMemory& root_memory, Reclaim reclaim, void* pools, std::size_t allowance) noexcept;

  // Pays for `bytes` before a pool takes them. False: the root account does not have that much, and nothing has
  // happened.
  [[nodiscard]] bool grow(std::size_t bytes) noexcept;
  // Call after grow() has failed: takes `bytes` unpaid, as a debt. Only if the task has paid for them from its own
  // budget, or if nothing could go on without these bytes. False: the debt would become too large.
  [[nodiscard]] bool overdraw(std::size_t bytes) noexcept;
  // `bytes` of a pool have gone back to the machine.
  void shrink(std::size_t bytes) noexcept { add_headroom(bytes); }

  // An account below the root pays for `bytes` from prepay() until end_prepayment().
  void prepay(std::size_t bytes) noexcept;
  void end_prepayment(std::size_t bytes) noexcept;

  // Gives back the pages of idle stacks, which credits the root account. False: there were none.
  [[nodiscard]] bool reclaim() noexcept;

  [[nodiscard]] std::uint64_t paid() noexcept;  // what the root account has paid

 private:
  // When headroom_ exceeds this, what is beyond half of it is credited to the root account, as far as that account has
  // paid. So pools that grow and shrink do not go to the root account every time.
  static constexpr std::int64_t kSlack = std::int64_t{256} << 10;

  [[nodiscard]] bool pay(std::uint64_t bytes) noexcept;
  void credit_excess() noexcept;
  void add_headroom(std::size_t bytes) noexcept;

  RootMemory* root_memory_ = nullptr;
  Reclaim reclaim_ = nullptr;
  void* pools_ = nullptr;
  RankedLock<LockRank::kPoolCharge> lock_;
  std::uint64_t paid_ = 0;  // under lock_
  std::int64_t allowance_ = 0;
  alignas(kAccountLine) std::atomic<std::int64_t> covered_{0};  // paid by accounts below the root
  // Bytes that are paid for and not taken; negative: bytes that are taken and not paid for.
  std::atomic<std::int64_t> headroom_{0};
};

}  // namespace janus
