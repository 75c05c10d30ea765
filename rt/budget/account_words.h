// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_words.h — the amounts of one account: left, owed and lent. Any thread.
#pragma once

#include <cstdint>

#include "rt/budget/account.h"
#include "rt/budget/account_unserved.h"
#include "rt/optional.h"

namespace janus {

class AccountWords {
 public:
  // Takes all of `amount`, or nothing; also out of what is aside below a mark.
  static bool take(Account* account, Component component, std::uint64_t amount) noexcept;
  // The same but for what is aside, for a caller that goes on elsewhere if there is too little.
  [[gnu::always_inline]] static bool take_left(Account* account, Component component, std::uint64_t amount) noexcept {
    Atomic<std::uint64_t>& left = account->left_[static_cast<unsigned>(component)];
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    do {
      if (seen == kUnlimited) return true;
      if (seen < amount) return false;
    } while (!left.compare_exchange_weak(seen, seen - amount, std::memory_order_seq_cst, std::memory_order_relaxed));
    return true;
  }
  // Takes and returns everything that is left; if that is kUnlimited, takes nothing.
  static std::uint64_t take_all(Account* account, Component component) noexcept;
  static std::uint64_t take_up_to(Account* account, Component component, std::uint64_t most) noexcept;
  // Adds the amount to the account, or if that is closed, to the nearest open one above; pays debts, and lists the
  // account if tasks wait there.
  void put(Account* account, Component component, std::uint64_t amount) noexcept {
    if (amount != 0) put_some(account, component, amount);
  }
  // put() of more than nothing.
  void put_some(Account* account, Component component, std::uint64_t amount) noexcept;
  // Whether anything may be aside, and the functions for that are there.
  static bool has_aside() noexcept { return take_back != nullptr; }
  // Takes back what is aside of the component, unless it stays there in a pause. False: there is nothing. For a draw that
  // has found too little, which then tries again.
  [[nodiscard, JANUS_OPTIONAL]] static bool take_back(Account* account, Component component) noexcept;
  // Of an account in a pause: takes up to `most` of the ops that are aside, or adds to them.
  [[JANUS_OPTIONAL]] static std::uint64_t take_aside(Account* account, std::uint64_t most) noexcept;
  [[JANUS_OPTIONAL]] static void add_aside(Account* account, std::uint64_t amount) noexcept;
  // Adds to `left_`, and does nothing else.
  static void add(Account* account, unsigned component, std::uint64_t amount) noexcept;
  static void grant_unlimited(Account* account, Component component) noexcept;

  static void retain(Account* account) noexcept;
  // Takes memory of an account below the root, and the reference that charged memory holds to the account. The caller's
  // own reference keeps the account meanwhile.
  static bool hold(Account* account, std::uint64_t bytes) noexcept;
  // What take() does when it has found too little, and whoever would wait otherwise after take_up_to().
  [[JANUS_OPTIONAL]] static bool take_with_aside(Account* account, Component component, std::uint64_t amount) noexcept;
  [[JANUS_OPTIONAL]] static std::uint64_t take_up_to_with_aside(Account* account, Component component,
                                                                std::uint64_t most) noexcept;

  // Called with what was held before a credit of memory.
  static void note_held(Account* account, std::uint64_t held) noexcept {
    if (account->peak_held_.load(std::memory_order_relaxed) < held) [[unlikely]]
      raise_peak(account, held);
  }
  // Notes what came in from above (books-balance).
  static void note_income(Account* account, Component component, std::uint64_t amount) noexcept;

  // See Accounts.
  static constexpr std::uint64_t kMaxDebtAbove = 16384;
  static void owe(Account* account, std::uint64_t amount) noexcept;
  static void pay_debt(Account* account) noexcept;
  static std::uint64_t borrow(Account* account, std::uint64_t most, std::uint32_t limit) noexcept;
  void give_back(Account* account, std::uint64_t amount) noexcept;

  [[nodiscard]] UnservedAccounts& unserved() noexcept { return unserved_; }

 private:
  static bool take_more(Account* account, Component component, std::uint64_t amount) noexcept;
  static bool hold_more(Account* account, std::uint64_t bytes) noexcept;
  static void count_held(Account* account, std::uint64_t bytes) noexcept;
  static bool may_find_more(Account* account, Component component, std::uint64_t amount) noexcept;
  static void raise_peak(Account* account, std::uint64_t held) noexcept;
  static Account* next_above(Account* closed, Component component, std::uint64_t amount) noexcept;

  UnservedAccounts unserved_;
};

}  // namespace janus
