// SPDX-License-Identifier: Apache-2.0
// rt/budget/keeping.h — accounts whose keeper is told when little is left, and when tasks wait. Who that is, and how he is
// told, is the layer above's. All functions are called under the queue's lock. docs/decisions/0347
#pragma once

#include "rt/budget/account.h"
#include "rt/optional.h"

namespace janus {

class Accounts;

class Keeping {
 public:
  // From now on `keeper` (0: nobody) is told when less than `low` is left of a component; 0 in `low`: not of that one. What
  // is below its mark already counts as fallen.
  static void set(Accounts& accounts, Account* account, std::uint64_t keeper, const Amounts& low) noexcept;
  // After something has come in: what is above its mark again can fall again, and tasks that wait now are news.
  static void renew(Account* account) noexcept {
    if (account->keeper_ != 0 && renew_kept != nullptr) renew_kept(account);
  }
  // Whether there may be keepers.
  static bool are_any() noexcept { return renew_kept != nullptr; }

  [[nodiscard]] static std::uint64_t keeper(const Account* account) noexcept { return account->keeper_; }
  // Whether the component has fallen below its mark since the last call.
  static bool take_fallen(Account* account, Component component) noexcept {
    const std::uint8_t bit = bit_of(component);
    return (account->fell_low_.load(std::memory_order_relaxed) & bit) != 0 &&
           (account->fell_low_.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_acquire) & bit) != 0;
  }
  // Whether the keeper knows that tasks wait for the component.
  [[nodiscard]] static bool knows_of_wait(const Account* account, Component component) noexcept {
    return (account->was_told_dry_ & bit_of(component)) != 0;
  }
  static void set_knows_of_wait(Account* account, Component component, bool knows) noexcept {
    account->was_told_dry_ =
        static_cast<std::uint8_t>((account->was_told_dry_ & ~bit_of(component)) | (knows ? bit_of(component) : 0));
  }

 private:
  [[JANUS_OPTIONAL]] static void renew_kept(Account* account) noexcept;
  static bool put_below_mark(Account* account, unsigned component) noexcept;
};

}  // namespace janus
