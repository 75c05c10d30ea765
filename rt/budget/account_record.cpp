// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/account_record.h"

#include "rt/base/assert.h"
#include "rt/budget/pool_charge.h"

namespace janus {

// Accounts::fill() sets what came in, and Accounts::end_aside() has cleared what is aside, and the keeper.
Account* AccountRecords::take(bool has_paid) noexcept {
  Account* account = table_.pop_free();
  if (account == nullptr && pay_for_fresh(has_paid)) account = table_.fresh_record();
  if (account == nullptr) return nullptr;
  JANUS_ASSERT(account->references_.load(std::memory_order_relaxed) == 0);
  JANUS_ASSERT(account->held_.load(std::memory_order_relaxed) == 0);
  account->owed_.store(0, std::memory_order_relaxed);
  account->peak_held_.store(0, std::memory_order_relaxed);
  account->times_dry_.store(0, std::memory_order_relaxed);
  for (Atomic<std::uint64_t>& returned : account->returned_) returned.store(0, std::memory_order_relaxed);
  account->on_loan_.store(0, std::memory_order_relaxed);
  for (Atomic<std::uint64_t>& recharged : account->recharged_) recharged.store(0, std::memory_order_relaxed);
  account->drawn_memory_.store(0, std::memory_order_relaxed);
  account->drawn_ops_.store(0, std::memory_order_relaxed);
  account->is_closed_.store(true, std::memory_order_relaxed);  // until its amounts are there (Accounts::open_for_all())
  account->references_.store(1, std::memory_order_release);    // pairs with the load in Pauses::see_to_number()
  table_.count_taken();
  return account;
}

Account* AccountRecords::take_paid(AccountWords& words, Account* payer) noexcept {
  const bool pays = payer->parent_ != nullptr;
  if (pays && record_bytes_ != 0 && !AccountWords::hold(payer, record_bytes_)) return nullptr;
  if (pays && pools_ != nullptr) pools_->prepay(record_bytes_);
  Account* const account = take(pays);
  if (account == nullptr && pays) words.put(payer, Component::kMemory, end_charge(payer));
  return account;
}

void AccountRecords::free_paid(AccountWords& words, Account* account, Account* payer) noexcept {
  table_.free_record(account);
  words.put(payer, Component::kMemory, end_charge(payer));
}

std::uint64_t AccountRecords::end_charge(Account* payer) noexcept {
  if (payer->parent_ == nullptr || record_bytes_ == 0) return 0;
  if (pools_ != nullptr) pools_->end_prepayment(record_bytes_);
  const std::uint64_t held = payer->held_.fetch_sub(record_bytes_, std::memory_order_acq_rel);
  JANUS_CHECK(held >= record_bytes_);
  AccountWords::note_held(payer, held);
  if (held == record_bytes_)
    payer->references_.fetch_sub(1, std::memory_order_acq_rel);  // as in Accounts::credit_memory()
  return record_bytes_;
}

// If the payer has paid already (prepay()), grow() finds that amount in its headroom, unless an old debt took it.
bool AccountRecords::pay_for_fresh(bool has_paid) noexcept {
  return pools_ == nullptr || pools_->grow(record_bytes_) || (has_paid && pools_->overdraw(record_bytes_));
}

}  // namespace janus
