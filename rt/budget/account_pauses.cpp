// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_pauses.cpp — an archive member of its own, linked by a call of mark().
#include "rt/budget/pauses.h"

#include "rt/base/checked.h"
#include "rt/budget/accounts.h"

namespace janus {

// Called by who keeps the account from ending, so that none above it ends either.
bool Pauses::is_marked(const Account* account) noexcept {
  for (; account != nullptr; account = account->parent_)
    if (account->is_paused_.load(std::memory_order_seq_cst)) return true;
  return false;
}

void Pauses::mark(Accounts& accounts, Account* account, bool is_paused) noexcept {
  accounts.begin_aside();
  LockGuard guard(account->queue_.lock);  // a close clears the mark under it, and none may come after that
  if (!account->is_closed_.load(std::memory_order_seq_cst))
    account->is_paused_.store(is_paused, std::memory_order_seq_cst);
}

Pauses::Change Pauses::see_to_number(Accounts& accounts, std::uint32_t index, const Account* paused,
                                     unsigned& steps) noexcept {
  Account* const account = accounts.at(index);
  const Account* above = account;
  {
    LockGuard guard(account->queue_.lock);  // while it is held, a close waits (Accounts::end_aside())
    if (account->references_.load(std::memory_order_acquire) == 0 ||
        account->is_closed_.load(std::memory_order_seq_cst))
      return Change::kNone;
    for (; above != nullptr && above != paused; above = above->parent_) ++steps;
  }
  return above != nullptr ? see_to(account) : Change::kNone;
}

Pauses::Change Pauses::see_to(Account* account) noexcept {
  LockGuard guard(account->queue_.lock);
  if (account->is_closed_.load(std::memory_order_seq_cst)) return Change::kNone;
  const bool is_paused = is_marked(account), was_in_pause = is_in_pause(account);
  if (!is_paused && !was_in_pause) return Change::kNone;
  // While the ops move, a draw that finds too little waits.
  Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(Component::kOps)];
  Atomic<std::uint64_t>& word = account->aside_[static_cast<unsigned>(Component::kOps)];
  std::uint64_t aside = word.load(std::memory_order_relaxed);
  while (aside == Account::kMoving || !word.compare_exchange_weak(aside, Account::kMoving, std::memory_order_seq_cst)) {
    pause();
    aside = word.load(std::memory_order_relaxed);
  }
  if (is_paused) {
    account->is_in_pause_.store(true, std::memory_order_seq_cst);
    const std::uint64_t moved = left.exchange(0, std::memory_order_seq_cst);
    const bool is_unlimited = aside == kUnlimited || moved == kUnlimited;
    word.store(is_unlimited ? kUnlimited : saturating_add(aside, moved, Account::kMoving - 1),
               std::memory_order_seq_cst);
    return was_in_pause ? Change::kNone : Change::kPaused;
  }
  if (aside == kUnlimited)
    AccountWords::grant_unlimited(account, Component::kOps);
  else
    AccountWords::add(account, static_cast<unsigned>(Component::kOps), aside);
  account->is_in_pause_.store(false, std::memory_order_seq_cst);
  word.store(0, std::memory_order_seq_cst);
  AccountWords::pay_debt(account);
  return Change::kResumed;
}

}  // namespace janus
