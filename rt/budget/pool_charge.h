// SPDX-License-Identifier: Apache-2.0
// rt/budget/pool_charge.h — who pays for records and stacks. They are taken of the machine in batches and by whole
// pools, so the root account pays for them in bulk, where a pool grows: nothing is charged where a single one is taken
// or given. What tasks below an explicit budget have paid for by themselves is not paid for twice.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"

namespace janus {

// INVARIANT paid-before-taken: what the pools hold (records that were ever cut, stacks that may have pages, each at its
// full size) is at most what the root account has paid for it, plus what accounts below the root pay for tasks of
// theirs that live, plus a constant `allowance` without which nothing could start. It may be exceeded by overdraw(), up
// to as much again as those accounts pay, and by what a task has left behind that had paid for itself; such a debt is
// paid before anything else is. tests/budget/pool_charge_test.cpp
//
// All-zero bytes are valid; before init() nobody pays for anything. Any thread.
class PoolCharge {
 public:
  // Gives idle memory of the pools back to the machine, and tells PoolCharge by shrink(). False: there was none.
  using Reclaim = bool (*)(void* pools) noexcept;
  void init(Accounts& accounts, Reclaim reclaim, void* pools, std::size_t allowance) noexcept;

  // Before so much is taken of the machine. False: the root account has not that much, nothing has happened.
  [[nodiscard]] bool grow(std::size_t bytes) noexcept;
  // The same for somebody who has paid for it already, or without whom nothing goes on, when grow() said no.
  [[nodiscard]] bool overdraw(std::size_t bytes) noexcept;
  // So much has gone back to the machine.
  void shrink(std::size_t bytes) noexcept { add_headroom(bytes); }

  // An account below the root pays for so much from now on, and no more.
  void prepay(std::size_t bytes) noexcept;
  void end_prepayment(std::size_t bytes) noexcept;

  // Idle stacks lose their pages, and the root account is credited. False: there were none.
  [[nodiscard]] bool reclaim() noexcept;

  [[nodiscard]] std::uint64_t paid() noexcept;  // by the root account

 private:
  // Kept, so that what breathes does not go to the root account every time.
  static constexpr std::int64_t kSlack = std::int64_t{256} << 10;

  [[nodiscard]] bool pay(std::uint64_t bytes) noexcept;
  void credit_excess() noexcept;
  void add_headroom(std::size_t bytes) noexcept;

  Accounts* accounts_ = nullptr;
  Reclaim reclaim_ = nullptr;
  void* pools_ = nullptr;
  RankedLock<LockRank::kPoolCharge> lock_;
  std::uint64_t paid_ = 0;  // under lock_
  std::int64_t allowance_ = 0;
  alignas(kAccountLine) std::atomic<std::int64_t> covered_{0};  // by accounts below the root
  // Paid for and not taken; below zero: taken and not paid for.
  std::atomic<std::int64_t> headroom_{0};
};

}  // namespace janus
