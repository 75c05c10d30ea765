// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_books.cpp — INVARIANT books-balance as users see it, and what goes back to the account above. An archive member of its own, linked by a call.
#include "rt/base/assert.h"
#include "rt/budget/accounts.h"

namespace janus {

Books Accounts::books(const Account* account) const noexcept {
  Books books;
  for (unsigned i = 0; i < kComponents; ++i) {
    // In this order: an income of an account below is noted here before anything of it can come here.
    const std::uint64_t left = left_in_all(account, component_at(i));
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t came_in = account->came_in_[i].load(std::memory_order_relaxed);
    const bool is_unlimited = came_in == kUnlimited || left == kUnlimited;
    books.returned.of[i] = account->returned_[i].load(std::memory_order_relaxed);
    books.left.of[i] = is_unlimited ? kUnlimited : left;
    books.spent.of[i] = is_unlimited ? 0 : came_in - books.returned.of[i] - left;
    JANUS_ASSERT(is_unlimited || came_in - books.returned.of[i] >= left);
  }
  books.held = held(account);
  const std::uint64_t peak = account->peak_held_.load(std::memory_order_relaxed);
  books.most_held = peak < books.held ? books.held : peak;
  books.times_dry = account->times_dry_.load(std::memory_order_relaxed);
  return books;
}

Amounts Accounts::withdraw(Account* account, const Amounts& most) noexcept {
  Amounts taken{};
  for (unsigned i = 0; i < kComponents; ++i) {
    const Component component = component_at(i);
    if (left_in_all(account, component) == kUnlimited) continue;
    if (is_aside(account, component))
      taken.of[i] = AccountWords::take_aside(account, most.of[i]);
    else
      taken.of[i] = AccountWords::take_up_to(account, component, most.of[i]);
    if (AccountWords::has_aside() && !is_aside(account, component))  // below a mark
      for (std::uint64_t part;
           (part = AccountWords::take_up_to_with_aside(account, component, most.of[i] - taken.of[i])) != 0;)
        taken.of[i] += part;
    account->returned_[i].fetch_add(taken.of[i], std::memory_order_relaxed);
    words_.put(account->parent_, component, taken.of[i]);
  }
  return taken;
}

}  // namespace janus
