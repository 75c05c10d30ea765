// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_words.h — the amounts of one account: left, owed and lent. Any thread.
#pragma once

#include <cstdint>

#include "rt/budget/account.h"
#include "rt/budget/account_unserved.h"

namespace janus {

class AccountWords {
 public:
  // Takes all of `amount`, or nothing.
  static bool take(Account* account, Component component, std::uint64_t amount) noexcept;
  // Takes and returns everything that is left; if that is kUnlimited, takes nothing.
  static std::uint64_t take_all(Account* account, Component component) noexcept;
  static std::uint64_t take_up_to(Account* account, Component component, std::uint64_t most) noexcept;
  // Adds the amount to the account, or if that is closed, to the nearest open one above; pays debts, and lists the
  // account if tasks wait there.
  void put(Account* account, Component component, std::uint64_t amount) noexcept;
  static void grant_unlimited(Account* account, Component component) noexcept;

  static void retain(Account* account) noexcept;
  // Takes memory of an account below the root, and the reference that charged memory holds to the account. The caller's
  // own reference keeps the account meanwhile.
  static bool hold(Account* account, std::uint64_t bytes) noexcept;

  // See Accounts.
  static constexpr std::uint64_t kMaxDebtAbove = 16384;
  static void owe(Account* account, std::uint64_t amount) noexcept;
  static void pay_debt(Account* account) noexcept;
  static std::uint64_t borrow(Account* account, std::uint64_t most, std::uint32_t limit) noexcept;
  void give_back(Account* account, std::uint64_t amount) noexcept;

  [[nodiscard]] UnservedAccounts& unserved() noexcept { return unserved_; }

 private:
  static Account* next_above(Account* closed, Component component, std::uint64_t amount) noexcept;

  UnservedAccounts unserved_;
};

}  // namespace janus
