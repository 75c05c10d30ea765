// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/account_words.h"

#include "rt/base/assert.h"
#include "rt/base/checked.h"
#include "rt/budget/recharges.h"

namespace janus {

// The amounts publish no other data, so relaxed orders would suffice, except that close() and put() order two words of
// an account.

// In the place where a draw fails anyway, so that those that succeed do not pay for it.
[[gnu::noinline, gnu::cold]] bool AccountWords::take_more(Account* account, Component component,
                                                          std::uint64_t amount) noexcept {
  return has_aside() && account->parent() != nullptr && take_with_aside(account, component, amount);
}

bool AccountWords::take(Account* account, Component component, std::uint64_t amount) noexcept {
  if (!take_left(account, component, amount)) [[unlikely]]
    return take_more(account, component, amount);
  return true;
}

std::uint64_t AccountWords::take_all(Account* account, Component component) noexcept {
  Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
  if (has_aside()) (void)take_back(account, component);
  std::uint64_t seen = left.load(std::memory_order_seq_cst);
  do {
    if (seen == kUnlimited || seen == 0) return seen;
  } while (!left.compare_exchange_weak(seen, 0, std::memory_order_seq_cst));
  return seen;
}

// The account that receives an amount which comes into a closed account.
[[gnu::noinline, gnu::cold]] Account* AccountWords::next_above(Account* closed, Component component,
                                                               std::uint64_t amount) noexcept {
  if (Recharges::pass_on_drawn != nullptr) Recharges::pass_on_drawn(closed, component, amount);
  return closed->parent_;
}

// INVARIANT nothing-rests-in-a-closed-account: put() adds and then checks whether the account is closed; close() marks
// it closed and then takes what is left. All four are seq_cst, so at least one of the two sees the other's first step,
// and moves the amount on.
void AccountWords::put_some(Account* account, Component component, std::uint64_t amount) noexcept {
  do {
    while (account->is_closed_.load(std::memory_order_seq_cst)) account = next_above(account, component, amount);
    Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    do {
      if (seen == kUnlimited) return;
    } while (!left.compare_exchange_weak(seen, saturating_add(seen, amount, kMaxFinite), std::memory_order_seq_cst,
                                         std::memory_order_relaxed));
    if (component == Component::kOps) pay_debt(account);
    if (!account->is_closed_.load(std::memory_order_seq_cst)) {
      if (!account->queue_.waits[static_cast<unsigned>(component)].is_empty()) [[unlikely]]
        unserved_.list(account);
      return;
    }
    amount = take_all(account, component);
    if (amount == kUnlimited) return;
  } while (amount != 0);
}

// Pays as much of the debt as there are ops. Claims the debt first, so that two threads do not pay it twice.
void AccountWords::pay_debt(Account* account) noexcept {
  while (account->owed_.load(std::memory_order_seq_cst) != 0) {
    const std::uint64_t claimed = account->owed_.exchange(0, std::memory_order_seq_cst);
    const std::uint64_t paid = take_up_to(account, Component::kOps, claimed);
    if (paid == claimed) continue;
    account->owed_.fetch_add(claimed - paid, std::memory_order_seq_cst);
    // A thread that has put ops in while the debt was claimed saw none, so look again unless there are no ops.
    if (account->left_[static_cast<unsigned>(Component::kOps)].load(std::memory_order_seq_cst) == 0) return;
  }
}

[[gnu::noinline, gnu::cold]] void AccountWords::owe(Account* account, std::uint64_t amount) noexcept {
  amount -= take_up_to(account, Component::kOps, amount);
  while (amount != 0) {
    while (account->is_closed_.load(std::memory_order_seq_cst)) {
      account = account->parent_;
      if (amount > kMaxDebtAbove) amount = kMaxDebtAbove;
    }
    account->owed_.fetch_add(amount, std::memory_order_seq_cst);
    pay_debt(account);
    if (!account->is_closed_.load(std::memory_order_seq_cst)) return;
    amount = account->owed_.exchange(0, std::memory_order_seq_cst);  // as in put()
  }
}

std::uint64_t AccountWords::borrow(Account* account, std::uint64_t most, std::uint32_t limit) noexcept {
  Atomic<std::uint32_t>& on_loan = account->lender_->on_loan_;
  std::uint32_t seen = on_loan.load(std::memory_order_relaxed);
  std::uint32_t amount = 0;
  do {
    if (seen >= limit) return 0;
    amount = limit - seen < most ? limit - seen : static_cast<std::uint32_t>(most);
  } while (!on_loan.compare_exchange_weak(seen, seen + amount, std::memory_order_relaxed));
  return amount;
}

[[gnu::noinline, gnu::cold]] void AccountWords::give_back(Account* account, std::uint64_t amount) noexcept {
  Account* const lender = account->lender_;
  std::uint32_t seen = lender->on_loan_.load(std::memory_order_relaxed);
  std::uint32_t part = 0;
  do {
    part = seen < amount ? seen : static_cast<std::uint32_t>(amount);
  } while (!lender->on_loan_.compare_exchange_weak(seen, seen - part, std::memory_order_relaxed));
  put(lender, Component::kOps, amount - part);  // the lender has repaid this part meanwhile
}

std::uint64_t AccountWords::take_up_to(Account* account, Component component, std::uint64_t most) noexcept {
  Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
  std::uint64_t seen = left.load(std::memory_order_relaxed);
  std::uint64_t amount = most;
  do {
    if (seen == kUnlimited) return most;
    amount = seen < most ? seen : most;
    if (amount == 0) return 0;
  } while (!left.compare_exchange_weak(seen, seen - amount, std::memory_order_seq_cst, std::memory_order_relaxed));
  return amount;
}

// The finite amount that was left is dropped: it vanishes into the unlimited one (INVARIANT conservation).
void AccountWords::grant_unlimited(Account* account, Component component) noexcept {
  account->left_[static_cast<unsigned>(component)].store(kUnlimited, std::memory_order_seq_cst);
}

[[gnu::noinline, gnu::cold]] void AccountWords::raise_peak(Account* account, std::uint64_t held) noexcept {
  std::uint64_t peak = account->peak_held_.load(std::memory_order_relaxed);
  while (peak < held && !account->peak_held_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
}

[[gnu::cold]] void AccountWords::note_income(Account* account, Component component, std::uint64_t amount) noexcept {
  Atomic<std::uint64_t>& came_in = account->came_in_[static_cast<unsigned>(component)];
  std::uint64_t seen = came_in.load(std::memory_order_relaxed);
  std::uint64_t sum = 0;
  do {
    if (seen == kUnlimited) return;
    sum = amount == kUnlimited ? kUnlimited : saturating_add(seen, amount, kMaxFinite);
  } while (!came_in.compare_exchange_weak(seen, sum, std::memory_order_relaxed));
}

void AccountWords::retain(Account* account) noexcept {
  [[maybe_unused]] const std::uint32_t before = account->references_.fetch_add(1, std::memory_order_relaxed);
  JANUS_ASSERT(before != 0);  // the caller has a reference, or another party holds one for it
}

// The reference for charged memory. The caller's own one keeps the account until this is counted.
[[gnu::always_inline]] inline void AccountWords::count_held(Account* account, std::uint64_t bytes) noexcept {
  if (account->held_.fetch_add(bytes, std::memory_order_relaxed) == 0) retain(account);
}

[[gnu::noinline, gnu::cold]] bool AccountWords::hold_more(Account* account, std::uint64_t bytes) noexcept {
  if (!take_more(account, Component::kMemory, bytes)) return false;
  count_held(account, bytes);
  return true;
}

bool AccountWords::hold(Account* account, std::uint64_t bytes) noexcept {
  if (!take_left(account, Component::kMemory, bytes)) [[unlikely]]
    return hold_more(account, bytes);
  count_held(account, bytes);
  return true;
}

}  // namespace janus
