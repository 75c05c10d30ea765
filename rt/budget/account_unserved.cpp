// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_unserved.cpp — the list of accounts that something has come into while others waited there
// (INVARIANT no-lost-return), on which each is at most once. docs/decisions/0298
#include "rt/budget/account.h"

namespace janus {

[[gnu::noinline, gnu::cold]] void Accounts::list_unserved(Account* account) noexcept {
  Atomic<std::uint32_t>& next = account->queue_.next_unserved;
  std::uint32_t not_listed = 0;
  // If it is listed, its server has yet to look.
  if (!next.compare_exchange_strong(not_listed, kEndOfUnserved, std::memory_order_seq_cst)) return;
  std::uint32_t first = unserved_.load(std::memory_order_relaxed);
  do {
    next.store(first, std::memory_order_relaxed);
  } while (!unserved_.compare_exchange_weak(first, account->index_, std::memory_order_seq_cst));
  if (first == kEndOfUnserved) notify_(notify_context_);
}

}  // namespace janus
