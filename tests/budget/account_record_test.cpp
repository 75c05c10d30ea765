// SPDX-License-Identifier: Apache-2.0
// account_record_test.cpp — who pays for the records of accounts. For an account below the root, the account above pays
// while the record exists. The root pays for all records that were ever taken, except those that others pay for.
#include "rt/budget/accounts.h"
#include "rt/budget/pool_charge.h"
#include "tests/harness/test.h"

namespace {

using janus::Account;
using janus::Accounts;
using janus::Amounts;
using janus::Component;
using janus::kUnlimited;
using janus::PoolCharge;

constexpr std::uint64_t kRecord = 500;
constexpr std::uint64_t kTotal = std::uint64_t{64} << 20;

constexpr Amounts memory(std::uint64_t amount) {
  Amounts amounts{};
  amounts[Component::kMemory] = amount;
  return amounts;
}

struct Table {
  Table() {
    CHECK(accounts.init(memory(kTotal)));
    pools.init(accounts.root_memory(), nullptr, nullptr, 0);
    accounts.charge_records(kRecord, &pools);
  }
  ~Table() { accounts.destroy(); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Account* open(Account* parent, std::uint64_t bytes) { return accounts.open(parent, memory(bytes), nullptr); }
  std::uint64_t left(const Account* account) { return accounts.left(account, Component::kMemory); }
  // What the root has left, plus what the pools have paid for.
  std::uint64_t total() { return left(accounts.root()) + pools.paid(); }

  Accounts accounts{};
  PoolCharge pools;
};

TEST(account_record, below_the_root_the_account_above_pays_until_the_record_is_free) {
  Table table;
  Account* const cage = table.open(table.accounts.root(), 2 * kRecord + 100);
  REQUIRE(cage != nullptr);
  Account* const inner = table.open(cage, 100);
  REQUIRE(inner != nullptr);
  CHECK_EQ(table.left(cage), kRecord);
  CHECK(table.accounts.draw(inner, Component::kMemory, 60));
  table.accounts.close(inner);
  CHECK_EQ(table.left(cage), kRecord + 40);  // the record stays while a block names it
  table.accounts.credit(inner, Component::kMemory, 60);
  CHECK_EQ(table.left(cage), 2 * kRecord + 100);
  CHECK(table.accounts.is_unused(cage));
}

TEST(account_record, an_account_that_cannot_be_paid_for_is_not_opened_and_takes_nothing) {
  Table table;
  Account* const cage = table.open(table.accounts.root(), kRecord + 100);
  REQUIRE(cage != nullptr);
  Component short_of{};
  CHECK_EQ(table.accounts.open(cage, memory(101), &short_of), nullptr);
  CHECK_EQ(short_of, Component::kMemory);
  CHECK_EQ(table.left(cage), kRecord + 100);
  CHECK(table.accounts.draw(cage, Component::kMemory, 101));
  CHECK_EQ(table.accounts.open(cage, memory(0), &short_of), nullptr);
  CHECK_EQ(short_of, Component::kMemory);
  table.accounts.credit(cage, Component::kMemory, 101);
  CHECK_EQ(table.accounts.count(), 2u);
}

TEST(account_record, a_table_that_was_destroyed_begins_anew) {
  Accounts accounts{};
  for (int round = 0; round < 3; ++round) {
    REQUIRE(accounts.init(memory(kTotal)));
    CHECK_EQ(accounts.count(), 1u);
    constexpr int kCages = 600;  // more than one segment of the table holds
    Account* cages[kCages];
    for (Account*& cage : cages) {
      cage = accounts.open(accounts.root(), memory(1), nullptr);
      REQUIRE(cage != nullptr);
    }
    CHECK_EQ(accounts.count(), kCages + 1u);
    CHECK_EQ(accounts.left(accounts.root(), Component::kMemory), kTotal - kCages);
    for (Account* const cage : cages) accounts.close(cage);
    CHECK_EQ(accounts.count(), 1u);
    accounts.destroy();
  }
}

TEST(account_record, the_root_pays_for_every_record_that_was_taken_and_that_no_other_account_pays_for) {
  Table table;
  constexpr unsigned kMany = 1000;
  static Account* opened[kMany];
  const std::uint64_t before = table.left(table.accounts.root());
  for (Account*& account : opened) account = table.open(table.accounts.root(), 0);
  CHECK_EQ(before - table.left(table.accounts.root()), kMany * kRecord);
  for (Account* const account : opened) table.accounts.close(account);
  for (Account*& account : opened) account = table.open(table.accounts.root(), 0);
  CHECK_EQ(before - table.left(table.accounts.root()), kMany * kRecord);
  Account* const cage = table.open(table.accounts.root(), kTotal / 2);
  REQUIRE(cage != nullptr);
  const std::uint64_t beside = table.left(table.accounts.root());
  static Account* below[kMany];
  for (Account*& account : below) account = table.open(cage, 0);
  CHECK_EQ(table.left(cage), kTotal / 2 - kMany * kRecord);
  CHECK_EQ(table.left(table.accounts.root()), beside);
  for (Account* const account : below) table.accounts.close(account);
  CHECK_EQ(table.left(cage), kTotal / 2);
  CHECK_EQ(table.total() + table.left(cage), kTotal);
}

// The inner accounts have closed, but a block of the innermost keeps all their records.
TEST(account_record, a_chain_of_closed_accounts_gives_back_what_all_of_them_cost) {
  Table table;
  constexpr unsigned kDepth = 20'000;
  constexpr std::uint64_t kCage = std::uint64_t{kDepth} * kRecord + 1000;
  static Account* chain[kDepth];
  Account* const cage = table.open(table.accounts.root(), kCage);
  REQUIRE(cage != nullptr);
  Account* above = cage;
  for (unsigned i = 0; i < kDepth; ++i) {
    chain[i] = table.accounts.open(above, memory(kUnlimited), nullptr);
    REQUIRE(chain[i] != nullptr);
    above = chain[i];
  }
  CHECK(table.accounts.draw(above, Component::kMemory, 10));
  for (unsigned i = kDepth; i-- > 0;) table.accounts.close(chain[i]);
  CHECK_EQ(table.left(cage), kCage - kDepth * kRecord - 10);
  table.accounts.credit(above, Component::kMemory, 10);
  CHECK_EQ(table.left(cage), kCage);
  CHECK_EQ(table.accounts.count(), 2u);
}

}  // namespace
