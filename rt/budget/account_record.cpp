// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_record.cpp — taking and freeing the records of accounts, and what pays for each.
// docs/decisions/0240
#include "rt/base/assert.h"
#include "rt/budget/account.h"
#include "rt/budget/pool_charge.h"

namespace janus {

// Takes a record, empty and with one reference. nullptr: there is no memory, or it cannot be paid for.
Account* Accounts::take_record(bool has_paid) noexcept {
  Account* account = pop_free();
  if (account == nullptr && pay_for_fresh_record(has_paid)) account = fresh_record();
  if (account == nullptr) return nullptr;
  JANUS_ASSERT(account->references_.load(std::memory_order_relaxed) == 0);
  JANUS_ASSERT(account->held_.load(std::memory_order_relaxed) == 0);
  account->owed_.store(0, std::memory_order_relaxed);
  account->on_loan_.store(0, std::memory_order_relaxed);
  for (Atomic<std::uint64_t>& recharged : account->recharged_) recharged.store(0, std::memory_order_relaxed);
  account->drawn_memory_.store(0, std::memory_order_relaxed);
  account->drawn_ops_.store(0, std::memory_order_relaxed);
  account->references_.store(1, std::memory_order_relaxed);
  account->is_closed_.store(false, std::memory_order_relaxed);
  live_.fetch_add(1, std::memory_order_relaxed);
  return account;
}

// take_record(), paid by `payer` until the record is free, unless that is the root.
Account* Accounts::take_paid_record(Account* payer) noexcept {
  const bool pays = payer->parent_ != nullptr;
  if (pays && !draw_memory(nullptr, payer, record_bytes_)) return nullptr;
  if (pays && pools_ != nullptr) pools_->prepay(record_bytes_);
  Account* const account = take_record(pays);
  if (account == nullptr && pays) put(payer, Component::kMemory, end_charge_of_record(payer));
  return account;
}

void Accounts::free_paid_record(Account* account, Account* payer) noexcept {
  free_record(account);
  put(payer, Component::kMemory, end_charge_of_record(payer));
}

// Ends the charge of a freed record. Returns the amount, which the caller credits. Precondition: the caller has a
// reference to `payer`.
std::uint64_t Accounts::end_charge_of_record(Account* payer) noexcept {
  if (payer->parent_ == nullptr || record_bytes_ == 0) return 0;
  if (pools_ != nullptr) pools_->end_prepayment(record_bytes_);
  const std::uint64_t held = payer->held_.fetch_sub(record_bytes_, std::memory_order_acq_rel);
  JANUS_CHECK(held >= record_bytes_);
  if (held == record_bytes_) payer->references_.fetch_sub(1, std::memory_order_acq_rel);  // as in credit_memory()
  return record_bytes_;
}

// If the payer has paid already (prepay()), grow() finds that amount in its headroom, unless an old debt took it.
bool Accounts::pay_for_fresh_record(bool has_paid) noexcept {
  return pools_ == nullptr || pools_->grow(record_bytes_) || (has_paid && pools_->overdraw(record_bytes_));
}

}  // namespace janus
