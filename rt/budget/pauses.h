// SPDX-License-Identifier: Apache-2.0
// rt/budget/pauses.h — pauses of accounts: the ops of a paused account and of all below it are aside, where no draw finds
// them (INVARIANT aside-is-not-drawn). docs/decisions/0348
//
// INVARIANT paused-by-marks: an account is in a pause exactly if it, or one above it, is marked as paused, once everyone who
// has changed a mark, or opened an account, has looked at the accounts concerned (see_to()). Each looks at the marks under
// the account's lock, and after its own change, so whoever looks last finds all marks that count.
#pragma once

#include "rt/budget/account.h"
#include "rt/optional.h"

namespace janus {

class Accounts;

class Pauses {
 public:
  enum class Change : std::uint8_t { kNone, kPaused, kResumed };
  // Any thread. Puts the account's ops aside, or back, as the marks say; in a pause also what has come back meanwhile.
  [[JANUS_OPTIONAL]] static Change see_to(Account* account) noexcept;

  // Whether there may be pauses.
  static bool are_any() noexcept { return see_to != nullptr; }

  // Marks the account. The caller then sees to each account (see_to_number()) until it has come to Accounts::end().
  static void mark(Accounts& accounts, Account* account, bool is_paused) noexcept;
  // Sees to the account with that index, if it is in use, and `paused` or below it. `steps` grows with the walk up.
  static Change see_to_number(Accounts& accounts, std::uint32_t index, const Account* paused, unsigned& steps) noexcept;
  // Whether its ops are aside.
  [[nodiscard]] static bool is_in_pause(const Account* account) noexcept {
    return account->is_in_pause_.load(std::memory_order_relaxed);
  }

 private:
  static bool is_marked(const Account* account) noexcept;
};

}  // namespace janus
