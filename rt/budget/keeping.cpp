// SPDX-License-Identifier: Apache-2.0
// rt/budget/keeping.cpp — an archive member of its own, linked by a call of set().
#include "rt/budget/keeping.h"

#include "rt/budget/accounts.h"

namespace janus {

// Puts as much aside as the mark says. False: less than that is left.
bool Keeping::put_below_mark(Account* account, unsigned component) noexcept {
  const std::uint64_t low = account->low_[component];
  const bool is_in_pause =
      component_at(component) == Component::kOps && account->is_in_pause_.load(std::memory_order_relaxed);
  Atomic<std::uint64_t>& left = account->left_[component];
  Atomic<std::uint64_t>& aside = account->aside_[component];
  std::uint64_t seen = left.load(std::memory_order_relaxed);
  if (low == 0 || is_in_pause || seen == kUnlimited) return true;
  // What comes back to an account in a pause that has just ended (Accounts::uncarve()) may be aside.
  std::uint64_t nothing = 0;
  if (!aside.compare_exchange_strong(nothing, Account::kMoving, std::memory_order_seq_cst)) return true;
  do {
    if (seen < low) {
      aside.store(0, std::memory_order_seq_cst);
      return false;
    }
  } while (!left.compare_exchange_weak(seen, seen - low, std::memory_order_seq_cst, std::memory_order_relaxed));
  aside.store(low, std::memory_order_seq_cst);
  return true;
}

void Keeping::set(Accounts& accounts, Account* account, std::uint64_t keeper, const Amounts& low) noexcept {
  accounts.begin_aside();
  if (account->is_closed_.load(std::memory_order_seq_cst)) return;
  account->keeper_ = keeper;
  account->was_told_dry_ = 0;
  for (unsigned i = 0; i < kComponents; ++i) {
    account->low_[i] = 0;
    (void)AccountWords::take_back(account, component_at(i));
  }
  account->fell_low_.store(0, std::memory_order_relaxed);
  if (keeper == 0) return;
  for (unsigned i = 0; i < kComponents; ++i) {
    account->low_[i] = low.of[i] < kMaxFinite / 2 ? low.of[i] : kMaxFinite / 2;
    if (!put_below_mark(account, i)) account->fell_low_.fetch_or(bit_of(component_at(i)), std::memory_order_relaxed);
  }
}

void Keeping::renew_kept(Account* account) noexcept {
  if (account->is_closed_.load(std::memory_order_seq_cst)) return;
  account->was_told_dry_ = 0;
  for (unsigned i = 0; i < kComponents; ++i) (void)put_below_mark(account, i);
}

}  // namespace janus
