// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/account_unserved.h"

namespace janus {

[[gnu::noinline, gnu::cold]] void UnservedAccounts::list(Account* account) noexcept {
  Atomic<std::uint32_t>& next = account->queue_.next_unserved;
  std::uint32_t not_listed = 0;
  // If the account is listed already, the thread that will serve it has not looked at it yet, and will see the new
  // amount.
  if (!next.compare_exchange_strong(not_listed, kEnd, std::memory_order_seq_cst)) return;
  std::uint32_t first = first_.load(std::memory_order_relaxed);
  do {
    next.store(first, std::memory_order_relaxed);
  } while (!first_.compare_exchange_weak(first, account->index_, std::memory_order_seq_cst));
  if (first == kEnd) notify_(notify_context_);
}

}  // namespace janus
