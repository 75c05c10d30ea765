// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_record.h — takes and frees the records of accounts, and charges for each record. Any thread.
// docs/decisions/0240
#pragma once

#include <cstdint>

#include "rt/budget/account.h"
#include "rt/budget/account_table.h"
#include "rt/budget/account_words.h"

namespace janus {

class PoolCharge;

class AccountRecords {
 public:
  // See Accounts::charge_records().
  void charge(std::uint64_t bytes, PoolCharge* pools) noexcept {
    record_bytes_ = bytes;
    pools_ = pools;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return record_bytes_; }

  // Takes a record, empty and with one reference. nullptr: there is no memory, or it cannot be paid for.
  Account* take(bool has_paid) noexcept;
  // take(), paid by `payer` until the record is free, unless the payer is the root.
  Account* take_paid(AccountWords& words, Account* payer) noexcept;
  void free_paid(AccountWords& words, Account* account, Account* payer) noexcept;
  // Ends the charge of a freed record. Returns the amount, which the caller credits. Precondition: the caller has a
  // reference to `payer`.
  [[nodiscard]] std::uint64_t end_charge(Account* payer) noexcept;

  [[nodiscard]] AccountTable& table() noexcept { return table_; }
  [[nodiscard]] const AccountTable& table() const noexcept { return table_; }

 private:
  friend struct DebuggerLayout;

  bool pay_for_fresh(bool has_paid) noexcept;

  AccountTable table_;
  std::uint64_t record_bytes_;  // the price of a record
  PoolCharge* pools_;           // pays for records that are taken for the first time; nullptr: they are free
};

}  // namespace janus
