// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/pool_charge.h"

#include "rt/mem/stack_pool.h"

namespace janus {

void Footprint::init(Accounts& accounts, StackPool& stacks, std::size_t allowance) noexcept {
  accounts_ = &accounts;
  stacks_ = &stacks;
  allowance_ = static_cast<std::int64_t>(allowance);
  room_.store(allowance_, std::memory_order_relaxed);
}

// The amounts guard no other data: every order is relaxed.
bool Footprint::grow(std::size_t bytes) noexcept {
  if (accounts_ == nullptr) return true;
  const auto wanted = static_cast<std::int64_t>(bytes);
  std::int64_t room = room_.load(std::memory_order_relaxed);
  while (room >= wanted)
    if (room_.compare_exchange_weak(room, room - wanted, std::memory_order_relaxed)) return true;
  LockGuard guard(lock_);
  // What there is is taken first, a debt with it. Others find too little meanwhile, and wait for the lock: so whoever
  // is refused is refused for good reason.
  std::int64_t part = 0;
  room = room_.load(std::memory_order_relaxed);
  do {
    part = room < wanted ? room : wanted;
  } while (!room_.compare_exchange_weak(room, room - part, std::memory_order_relaxed));
  if (pay(static_cast<std::uint64_t>(wanted - part))) return true;
  room_.fetch_add(part, std::memory_order_relaxed);
  return false;
}

bool Footprint::owe(std::size_t bytes) noexcept {
  if (accounts_ == nullptr) return true;
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::int64_t most = covered_.load(std::memory_order_relaxed) + allowance_;
  if (room_.fetch_sub(wanted, std::memory_order_relaxed) - wanted >= -most) return true;
  room_.fetch_add(wanted, std::memory_order_relaxed);
  return false;
}

void Footprint::cover(std::size_t bytes) noexcept {
  covered_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  add_room(bytes);
}

void Footprint::uncover(std::size_t bytes) noexcept {
  const auto gone = static_cast<std::int64_t>(bytes);
  covered_.fetch_sub(gone, std::memory_order_relaxed);
  if (room_.fetch_sub(gone, std::memory_order_relaxed) >= gone) return;
  LockGuard guard(lock_);
  const std::int64_t debt = -room_.load(std::memory_order_relaxed);
  if (debt > 0 && pay(static_cast<std::uint64_t>(debt))) room_.fetch_add(debt, std::memory_order_relaxed);
}

// Under the lock.
bool Footprint::pay(std::uint64_t bytes) noexcept {
  if (!accounts_->draw_memory(nullptr, accounts_->root(), bytes)) return false;
  paid_ += bytes;
  return true;
}

void Footprint::add_room(std::size_t bytes) noexcept {
  if (accounts_ == nullptr) return;
  const auto more = static_cast<std::int64_t>(bytes);
  if (room_.fetch_add(more, std::memory_order_relaxed) + more > kSlack) settle();
}

// What the root has paid and nobody needs goes back to it; half of the slack stays.
[[gnu::noinline]] void Footprint::settle() noexcept {
  LockGuard guard(lock_);
  std::int64_t room = room_.load(std::memory_order_relaxed);
  std::int64_t surplus = 0;
  do {
    surplus = room - kSlack / 2;
    if (surplus > static_cast<std::int64_t>(paid_)) surplus = static_cast<std::int64_t>(paid_);
    if (surplus <= 0) return;
  } while (!room_.compare_exchange_weak(room, room - surplus, std::memory_order_relaxed));
  paid_ -= static_cast<std::uint64_t>(surplus);
  accounts_->credit(accounts_->root(), Component::kMemory, static_cast<std::uint64_t>(surplus));
}

bool Footprint::reclaim() noexcept {
  return stacks_ != nullptr && stacks_->trim();
}

std::uint64_t Footprint::paid() noexcept {
  LockGuard guard(lock_);
  return paid_;
}

}  // namespace janus
