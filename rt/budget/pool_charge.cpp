// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/pool_charge.h"

namespace janus {

void PoolCharge::init(RootMemory& root_memory, Reclaim reclaim, void* pools, std::size_t allowance) noexcept {
  root_memory_ = &root_memory;
  reclaim_ = reclaim;
  pools_ = pools;
  allowance_ = static_cast<std::int64_t>(allowance);
  headroom_.store(allowance_, std::memory_order_relaxed);
}

// The amounts publish no other data, so all orders are relaxed.
bool PoolCharge::grow(std::size_t bytes) noexcept {
  if (root_memory_ == nullptr) return true;
  const auto wanted = static_cast<std::int64_t>(bytes);
  std::int64_t headroom = headroom_.load(std::memory_order_relaxed);
  while (headroom >= wanted)
    if (headroom_.compare_exchange_weak(headroom, headroom - wanted, std::memory_order_relaxed)) return true;
  LockGuard guard(lock_);
  // Takes the headroom first; a debt is added to what is paid. Meanwhile other threads find too little and wait for the
  // lock, so none of them is refused for headroom that is given back below.
  std::int64_t part = 0;
  headroom = headroom_.load(std::memory_order_relaxed);
  do {
    part = headroom < wanted ? headroom : wanted;
  } while (!headroom_.compare_exchange_weak(headroom, headroom - part, std::memory_order_relaxed));
  if (pay(static_cast<std::uint64_t>(wanted - part))) return true;
  headroom_.fetch_add(part, std::memory_order_relaxed);
  return false;
}

bool PoolCharge::overdraw(std::size_t bytes) noexcept {
  if (root_memory_ == nullptr) return true;
  const auto wanted = static_cast<std::int64_t>(bytes);
  const std::int64_t most = covered_.load(std::memory_order_relaxed) + allowance_;
  if (headroom_.fetch_sub(wanted, std::memory_order_relaxed) - wanted >= -most) return true;
  headroom_.fetch_add(wanted, std::memory_order_relaxed);
  return false;
}

void PoolCharge::prepay(std::size_t bytes) noexcept {
  covered_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  add_headroom(bytes);
}

void PoolCharge::end_prepayment(std::size_t bytes) noexcept {
  const auto gone = static_cast<std::int64_t>(bytes);
  covered_.fetch_sub(gone, std::memory_order_relaxed);
  if (headroom_.fetch_sub(gone, std::memory_order_relaxed) >= gone) return;
  LockGuard guard(lock_);
  const std::int64_t debt = -headroom_.load(std::memory_order_relaxed);
  if (debt > 0 && pay(static_cast<std::uint64_t>(debt))) headroom_.fetch_add(debt, std::memory_order_relaxed);
}

// Precondition: lock_ is held.
bool PoolCharge::pay(std::uint64_t bytes) noexcept {
  if (!root_memory_->draw(bytes)) return false;
  paid_ += bytes;
  return true;
}

void PoolCharge::add_headroom(std::size_t bytes) noexcept {
  if (root_memory_ == nullptr) return;
  const auto more = static_cast<std::int64_t>(bytes);
  if (headroom_.fetch_add(more, std::memory_order_relaxed) + more > kSlack) credit_excess();
}

// Credits the root account with payments that no pool needs; keeps half of the slack.
[[gnu::noinline]] void PoolCharge::credit_excess() noexcept {
  LockGuard guard(lock_);
  std::int64_t headroom = headroom_.load(std::memory_order_relaxed);
  std::int64_t surplus = 0;
  do {
    surplus = headroom - kSlack / 2;
    if (surplus > static_cast<std::int64_t>(paid_)) surplus = static_cast<std::int64_t>(paid_);
    if (surplus <= 0) return;
  } while (!headroom_.compare_exchange_weak(headroom, headroom - surplus, std::memory_order_relaxed));
  paid_ -= static_cast<std::uint64_t>(surplus);
  root_memory_->credit(static_cast<std::uint64_t>(surplus));
}

bool PoolCharge::reclaim() noexcept {
  return reclaim_ != nullptr && reclaim_(pools_);
}

std::uint64_t PoolCharge::paid() noexcept {
  LockGuard guard(lock_);
  return paid_;
}

}  // namespace janus
