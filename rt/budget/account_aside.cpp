// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_aside.cpp — INVARIANT aside-is-not-drawn: what draws, closes and moves do about amounts that are aside. An
// archive member of its own, linked by a call of begin_aside(): in a program without keepers and pauses nothing is ever aside.
#include "rt/base/assert.h"
#include "rt/base/checked.h"
#include "rt/budget/accounts.h"
#include "rt/budget/pauses.h"

namespace janus {

void Accounts::begin_aside() noexcept {
  puts_aside_.store(true, std::memory_order_seq_cst);
}

// Whether another look at the account may find the amount. What was aside when a draw looked at `left_` may have been
// taken back before this looks at `aside_`; so it looks at `left_` once more.
bool AccountWords::may_find_more(Account* account, Component component, std::uint64_t amount) noexcept {
  return take_back(account, component) ||
         account->left_[static_cast<unsigned>(component)].load(std::memory_order_seq_cst) >= amount;
}

[[gnu::noinline, gnu::cold]] bool AccountWords::take_with_aside(Account* account, Component component,
                                                                std::uint64_t amount) noexcept {
  Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
  while (may_find_more(account, component, amount)) {
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    while (seen >= amount) {
      if (seen == kUnlimited || left.compare_exchange_weak(seen, seen - amount, std::memory_order_seq_cst)) return true;
    }
  }
  return false;
}
[[gnu::noinline, gnu::cold]] std::uint64_t AccountWords::take_up_to_with_aside(Account* account, Component component,
                                                                               std::uint64_t most) noexcept {
  Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
  while (most != 0 && may_find_more(account, component, 1)) {
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (seen == kUnlimited) return most;
      const std::uint64_t amount = seen < most ? seen : most;
      if (left.compare_exchange_weak(seen, seen - amount, std::memory_order_seq_cst)) return amount;
    }
  }
  return 0;
}

[[gnu::noinline, gnu::cold]] bool AccountWords::take_back(Account* account, Component component) noexcept {
  const auto number = static_cast<unsigned>(component);
  Atomic<std::uint64_t>& aside = account->aside_[number];
  for (;;) {
    std::uint64_t seen = aside.load(std::memory_order_acquire);  // pairs with the stores below and in Pauses::see_to()
    if (seen == 0) return false;
    if (seen == Account::kMoving) {
      while (aside.load(std::memory_order_acquire) == Account::kMoving) pause();
      return true;
    }
    if (component == Component::kOps && account->is_in_pause_.load(std::memory_order_seq_cst)) return false;
    if (!aside.compare_exchange_weak(seen, Account::kMoving, std::memory_order_seq_cst)) continue;
    if (component == Component::kOps && account->is_in_pause_.load(std::memory_order_seq_cst)) {
      aside.store(seen, std::memory_order_seq_cst);
      return false;
    }
    add(account, number, seen);
    aside.store(0, std::memory_order_release);
    account->fell_low_.fetch_or(bit_of(component), std::memory_order_release);
    account->unserved_->list(account);
    return true;
  }
}

std::uint64_t AccountWords::take_aside(Account* account, std::uint64_t most) noexcept {
  Atomic<std::uint64_t>& aside = account->aside_[static_cast<unsigned>(Component::kOps)];
  for (std::uint64_t seen = aside.load(std::memory_order_relaxed);;) {
    if (seen == kUnlimited) return most;
    const std::uint64_t amount = seen < most ? seen : most;
    if (seen != Account::kMoving && aside.compare_exchange_weak(seen, seen - amount, std::memory_order_seq_cst))
      return amount;
    if (seen != Account::kMoving) continue;
    pause();
    seen = aside.load(std::memory_order_relaxed);
  }
}

void AccountWords::add_aside(Account* account, std::uint64_t amount) noexcept {
  Atomic<std::uint64_t>& aside = account->aside_[static_cast<unsigned>(Component::kOps)];
  for (std::uint64_t seen = aside.load(std::memory_order_relaxed);;) {
    if (seen == kUnlimited) return;
    const std::uint64_t sum = amount == kUnlimited ? kUnlimited : saturating_add(seen, amount, Account::kMoving - 1);
    if (seen != Account::kMoving && aside.compare_exchange_weak(seen, sum, std::memory_order_seq_cst)) return;
    if (seen != Account::kMoving) continue;
    pause();
    seen = aside.load(std::memory_order_relaxed);
  }
}

void AccountWords::add(Account* account, unsigned component, std::uint64_t amount) noexcept {
  Atomic<std::uint64_t>& left = account->left_[component];
  std::uint64_t seen = left.load(std::memory_order_relaxed);
  do {
    if (seen == kUnlimited) return;
  } while (!left.compare_exchange_weak(seen, saturating_add(seen, amount, kMaxFinite), std::memory_order_seq_cst,
                                       std::memory_order_relaxed));
}

[[gnu::cold]] void Accounts::see_to_pause(Account* account) noexcept {
  if (!puts_aside_.load(std::memory_order_relaxed) || !Pauses::are_any()) return;
  while (account->is_closed()) account = account->parent_;
  if (account->is_in_pause_.load(std::memory_order_seq_cst)) (void)Pauses::see_to(account);
}

// Of a closed account, into which nothing is put aside any more.
[[gnu::noinline, gnu::cold]] void Accounts::end_aside(Account* account) noexcept {
  LockGuard guard(account->queue_.lock);
  account->keeper_ = 0;
  account->was_told_dry_ = 0;
  account->fell_low_.store(0, std::memory_order_relaxed);
  account->is_in_pause_.store(false, std::memory_order_relaxed);
  account->is_paused_.store(false, std::memory_order_seq_cst);
  for (unsigned i = 0; i < kComponents; ++i) {
    Atomic<std::uint64_t>& word = account->aside_[i];
    std::uint64_t aside = word.load(std::memory_order_relaxed);
    // A put() that has found the account closed may be taking back what is aside.
    while (aside == Account::kMoving || !word.compare_exchange_weak(aside, 0, std::memory_order_seq_cst)) {
      pause();
      aside = word.load(std::memory_order_relaxed);
    }
    if (aside != 0 && aside != kUnlimited) AccountWords::add(account, i, aside);
  }
}

// Takes all of `amount`, or nothing, also out of what is aside in a pause: that stops tasks, and not those who move amounts.
[[gnu::cold]] bool Accounts::take_wherever(Account* from, Component component, std::uint64_t amount) noexcept {
  for (;;) {
    const bool was_aside = is_aside(from, component);
    if (!was_aside && AccountWords::take_with_aside(from, component, amount)) return true;
    if (was_aside) {
      const std::uint64_t taken = AccountWords::take_aside(from, amount);
      if (taken == amount) return true;
      AccountWords::add_aside(from, taken);
    }
    // A pause may have begun or ended meanwhile, and the amount was in neither place when it was looked for there.
    if (component != Component::kOps || left_in_all(from, component) < amount) return false;
  }
}

// A draw may take back what is aside meanwhile: then `aside` shows that, and both are read again.
std::uint64_t Accounts::left_with_aside(const Account* account, Component component) const noexcept {
  const Atomic<std::uint64_t>& word = account->aside_[static_cast<unsigned>(component)];
  for (;;) {
    const std::uint64_t aside = word.load(std::memory_order_acquire);
    const std::uint64_t left = this->left(account, component);
    if (aside == 0) return left;  // the usual case
    if (aside == Account::kMoving || word.load(std::memory_order_acquire) != aside) {
      pause();
      continue;
    }
    return left == kUnlimited || aside == kUnlimited ? kUnlimited : left + aside;
  }
}

}  // namespace janus
