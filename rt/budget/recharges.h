// SPDX-License-Identifier: Apache-2.0
// rt/budget/recharges.h — recharges: amounts added to an account, which accounts below it may draw. docs/decisions/0296
#pragma once

#include <cstdint>

#include "rt/budget/account.h"
#include "rt/optional.h"

namespace janus {

class Accounts;
class AccountWords;

class Recharges {
 public:
  // See Accounts::draw_recharged().
  [[JANUS_OPTIONAL]] static void draw(Accounts& accounts, Account* from, Account* to, Component component,
                                      std::uint64_t amount, std::uint64_t ahead) noexcept;
  // Called when an amount comes into a closed account and goes on to its parent: the part of a recharge that the account
  // has drawn may be drawn again.
  [[JANUS_OPTIONAL]] static void pass_on_drawn(Account* closed, Component component, std::uint64_t amount) noexcept;

 private:
  friend class Accounts;

  static void add(Account* account, Component component, std::uint64_t amount) noexcept;
  static std::uint64_t pay_loans(AccountWords& words, Account* lender, std::uint64_t most) noexcept;
};

}  // namespace janus
