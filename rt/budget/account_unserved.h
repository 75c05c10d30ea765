// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_unserved.h — the list of accounts that an amount has come into while tasks waited there (INVARIANT
// no-lost-return). Each account is on it at most once. Any thread. docs/decisions/0298
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/budget/account.h"

namespace janus {

class UnservedAccounts {
 public:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  void init() noexcept { first_.store(kEnd, std::memory_order_relaxed); }
  // See Accounts::notify_of_returns().
  void notify(void (*notify)(void*) noexcept, void* context) noexcept {
    notify_ = notify;
    notify_context_ = context;
  }
  void list(Account* account) noexcept;
  // Takes the list, whose first account has this index.
  [[nodiscard]] std::uint32_t take() noexcept { return first_.exchange(kEnd, std::memory_order_seq_cst); }

 private:
  Atomic<std::uint32_t> first_;  // index of the first account, or kEnd
  void (*notify_)(void*) noexcept;
  void* notify_context_;
};

}  // namespace janus
