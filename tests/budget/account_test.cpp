// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/accounts.h"

#include "tests/harness/test.h"

namespace {

using janus::Account;
using janus::Accounts;
using janus::Amounts;
using janus::Component;
using janus::kComponents;
using janus::kMaxFinite;
using janus::kUnlimited;

constexpr Amounts kNothing{};
constexpr Amounts kAll{{kUnlimited, kUnlimited, kUnlimited, kUnlimited, kUnlimited}};
constexpr Amounts kSome{{1000, 2000, 30, 40, 50}};

Amounts only(Component component, std::uint64_t amount) {
  Amounts amounts{};
  amounts[component] = amount;
  return amounts;
}

// A table with its root, for one test.
struct Table {
  explicit Table(const Amounts& root) { CHECK(accounts.init(root)); }
  ~Table() { accounts.destroy(); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Account* root() { return accounts.root(); }
  std::uint64_t left(const Account* account, Component component) { return accounts.left(account, component); }
  Account* open(Account* parent, const Amounts& wanted) { return accounts.open(parent, wanted, nullptr); }

  bool has(const Account* account, const Amounts& amounts) {
    bool same = true;
    for (unsigned i = 0; i < kComponents; ++i) {
      const auto component = static_cast<Component>(i);
      same = CHECK_EQ(left(account, component), amounts[component]) && same;
    }
    return same;
  }

  Accounts accounts{};
};

TEST(account, the_root_has_what_it_was_given) {
  Table table(kSome);
  CHECK_EQ(table.root()->index(), 1);
  CHECK_EQ(table.accounts.at(1), table.root());
  CHECK_EQ(table.root()->parent(), nullptr);
  CHECK(table.has(table.root(), kSome));
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, drawing_is_all_or_nothing) {
  Table table(kSome);
  CHECK(table.accounts.draw(table.root(), Component::kOps, 999));
  CHECK(!table.accounts.draw(table.root(), Component::kOps, 2));
  CHECK_EQ(table.left(table.root(), Component::kOps), 1);
  CHECK(table.accounts.draw(table.root(), Component::kOps, 1));
  CHECK(!table.accounts.draw(table.root(), Component::kOps, 1));
  CHECK(table.accounts.draw(table.root(), Component::kOps, 0));
  table.accounts.credit(table.root(), Component::kOps, 5);
  CHECK_EQ(table.left(table.root(), Component::kOps), 5);
}

TEST(account, drawing_up_to_takes_what_there_is) {
  Table table(Amounts{{10, 0, kUnlimited, 0, 0}});
  CHECK_EQ(table.accounts.draw_up_to(table.root(), Component::kOps, 7), 7);
  CHECK_EQ(table.accounts.draw_up_to(table.root(), Component::kOps, 7), 3);
  CHECK_EQ(table.accounts.draw_up_to(table.root(), Component::kOps, 7), 0);
  CHECK_EQ(table.accounts.draw_up_to(table.root(), Component::kSpawns, 7), 7);
  CHECK_EQ(table.accounts.draw_up_to(table.root(), Component::kSyscalls, 7), 0);
}

TEST(account, drawing_does_not_diminish_what_is_unlimited) {
  Table table(kAll);
  for (unsigned i = 0; i < kComponents; ++i) {
    CHECK(table.accounts.draw(table.root(), static_cast<Component>(i), kMaxFinite));
    table.accounts.credit(table.root(), static_cast<Component>(i), 17);
  }
  CHECK(table.has(table.root(), kAll));
}

TEST(account, a_literal_zero_is_not_granted_and_what_is_used_up_was) {
  Table table(Amounts{{3, 0, 0, kUnlimited, 0}});
  Accounts& accounts = table.accounts;
  CHECK(accounts.granted(table.root(), Component::kOps));
  CHECK(!accounts.granted(table.root(), Component::kMemory));
  CHECK(accounts.granted(table.root(), Component::kChannelOps));
  CHECK(accounts.draw(table.root(), Component::kOps, 3));
  CHECK(accounts.granted(table.root(), Component::kOps));
  CHECK(!accounts.draw(table.root(), Component::kMemory, 1));

  Account* const child = table.open(table.root(), only(Component::kChannelOps, 4));
  REQUIRE(child != nullptr);
  CHECK(!accounts.granted(child, Component::kOps));
  CHECK(accounts.granted(child, Component::kChannelOps));
  accounts.close(child);
}

TEST(account, opening_carves_out_of_the_parent_and_closing_gives_the_rest_back) {
  Table table(kSome);
  Account* const child = table.open(table.root(), {{100, 200, 3, 4, 5}});
  REQUIRE(child != nullptr);
  CHECK(table.has(child, {{100, 200, 3, 4, 5}}));
  CHECK(table.has(table.root(), {{900, 1800, 27, 36, 45}}));
  CHECK_EQ(child->parent(), table.root());
  CHECK_EQ(table.accounts.at(child->index()), child);
  CHECK(table.accounts.draw(child, Component::kOps, 60));
  CHECK(table.accounts.draw(child, Component::kSpawns, 3));
  table.accounts.close(child);
  CHECK(table.has(table.root(), {{940, 2000, 27, 40, 50}}));
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, opening_is_all_or_nothing_and_says_what_was_short) {
  Table table(kSome);
  for (unsigned i = 0; i < kComponents; ++i) {
    const auto component = static_cast<Component>(i);
    Amounts wanted = kSome;
    wanted[component] += 1;
    Component short_of{};
    CHECK_EQ(table.accounts.open(table.root(), wanted, &short_of), nullptr);
    CHECK_EQ(short_of, component);
    CHECK(table.has(table.root(), kSome));
    CHECK_EQ(table.accounts.count(), 1);
  }
}

TEST(account, asking_for_all_takes_everything_left) {
  Table table(Amounts{{kUnlimited, 2000, 30, 0, 50}});
  CHECK(table.accounts.draw(table.root(), Component::kSyscalls, 50));
  Account* const child = table.open(table.root(), kAll);
  REQUIRE(child != nullptr);
  CHECK(table.has(child, {{kUnlimited, 2000, 30, 0, 0}}));
  CHECK(table.has(table.root(), {{kUnlimited, 0, 0, 0, 0}}));
  // channel_ops were not granted to the parent, so the child has none. The parent has used up its syscalls, so the
  // child has 0 of a granted component.
  CHECK(!table.accounts.granted(child, Component::kChannelOps));
  CHECK(table.accounts.granted(child, Component::kSyscalls));
  table.accounts.close(child);
  CHECK(table.has(table.root(), {{kUnlimited, 2000, 30, 0, 0}}));
}

TEST(account, a_finite_child_of_an_unlimited_parent_gives_nothing_back_when_it_closes) {
  Table table(kAll);
  Account* const child = table.open(table.root(), {{10, kMaxFinite, 1, 1, 1}});
  REQUIRE(child != nullptr);
  CHECK(!table.accounts.draw(child, Component::kOps, 11));
  table.accounts.close(child);
  CHECK(table.has(table.root(), kAll));
}

TEST(account, memory_outlives_its_account_and_forwards_to_the_parent) {
  Table table(kSome);
  Account* const child = table.open(table.root(), only(Component::kMemory, 500));
  REQUIRE(child != nullptr);
  const std::uint32_t index = child->index();
  CHECK(table.accounts.draw(child, Component::kMemory, 300));
  CHECK_EQ(table.accounts.held(child), 300);
  table.accounts.close(child);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 1700);
  CHECK_EQ(table.accounts.count(), 2);  // the record stays while blocks name it

  Account* const other = table.open(table.root(), kNothing);
  REQUIRE(other != nullptr);
  CHECK_NE(other->index(), index);
  table.accounts.credit(table.accounts.at(index), Component::kMemory, 100);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 1800);
  table.accounts.credit(table.accounts.at(index), Component::kMemory, 200);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 2000);
  CHECK_EQ(table.accounts.count(), 2);
  table.accounts.close(other);
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, credits_go_to_the_nearest_open_account_above) {
  Table table(kSome);
  Account* const outer = table.open(table.root(), only(Component::kMemory, 1000));
  REQUIRE(outer != nullptr);
  Account* const middle = table.open(outer, only(Component::kMemory, 800));
  REQUIRE(middle != nullptr);
  Account* const inner = table.open(middle, only(Component::kMemory, 600));
  REQUIRE(inner != nullptr);
  CHECK(table.accounts.draw(inner, Component::kMemory, 500));
  table.accounts.close(middle);
  CHECK_EQ(table.left(outer, Component::kMemory), 400);
  table.accounts.close(inner);
  CHECK_EQ(table.left(outer, Component::kMemory), 500);
  table.accounts.credit(inner, Component::kMemory, 200);
  CHECK_EQ(table.left(outer, Component::kMemory), 700);
  table.accounts.close(outer);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 1700);
  CHECK_EQ(table.accounts.count(), 4);  // each record waits for the one below it
  table.accounts.credit(inner, Component::kMemory, 300);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 2000);
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, retaining_keeps_the_record_but_not_the_account_open) {
  Table table(kSome);
  Account* const child = table.open(table.root(), only(Component::kOps, 10));
  REQUIRE(child != nullptr);
  table.accounts.retain(child);
  table.accounts.close(child);
  CHECK_EQ(table.accounts.count(), 2);
  CHECK(!table.accounts.draw(child, Component::kOps, 1));
  table.accounts.credit(child, Component::kOps, 0);
  CHECK_EQ(table.left(table.root(), Component::kOps), 1000);
  table.accounts.release(child);
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, records_are_used_again_and_start_afresh) {
  Table table(kSome);
  Account* const first = table.open(table.root(), {{1, 1, 1, 1, 1}});
  REQUIRE(first != nullptr);
  table.accounts.close(first);
  Account* const second = table.open(table.root(), only(Component::kOps, 7));
  CHECK_EQ(second, first);
  CHECK(table.has(second, only(Component::kOps, 7)));
  CHECK(!table.accounts.granted(second, Component::kMemory));
  table.accounts.close(second);
}

TEST(account, a_closed_account_owes_no_more_above_than_the_dearest_operation) {
  constexpr std::uint64_t kMax = Accounts::kMaxDebtAbove, kPlenty = 10 * kMax;
  Table table(only(Component::kOps, kPlenty));
  for (const std::uint64_t claimed : {kMax - 1, kMax, kMax + 1, std::uint64_t{UINT32_MAX}}) {
    const std::uint64_t before = table.left(table.root(), Component::kOps);
    Account* const outer = table.open(table.root(), only(Component::kOps, 10));
    REQUIRE(outer != nullptr);
    Account* const inner = table.open(outer, only(Component::kOps, 4));
    REQUIRE(inner != nullptr);
    table.accounts.owe(inner, 4 + claimed);
    CHECK_EQ(table.accounts.owed(inner), claimed);
    const std::uint64_t most = claimed < kMax ? claimed : kMax;
    table.accounts.close(inner);
    CHECK_EQ(table.accounts.owed(outer), most - 6);
    table.accounts.close(outer);
    CHECK_EQ(table.left(table.root(), Component::kOps), before - 4 - most);
  }
}

TEST(account, a_transfer_recharges_and_grants) {
  Table table(kSome);
  Account* const child = table.open(table.root(), only(Component::kOps, 10));
  REQUIRE(child != nullptr);
  CHECK(table.accounts.transfer(table.root(), child, {{90, 100, 0, 0, 0}}));
  CHECK(table.has(child, {{100, 100, 0, 0, 0}}));
  CHECK(table.accounts.granted(child, Component::kMemory));
  CHECK(!table.accounts.granted(child, Component::kSpawns));
  CHECK(table.has(table.root(), {{900, 1900, 30, 40, 50}}));

  Component short_of{};
  CHECK(!table.accounts.transfer(table.root(), child, {{1, 1, 1, 41, 1}}, &short_of));
  CHECK_EQ(short_of, Component::kChannelOps);
  CHECK(table.has(child, {{100, 100, 0, 0, 0}}));
  CHECK(table.has(table.root(), {{900, 1900, 30, 40, 50}}));

  CHECK(table.accounts.transfer(child, table.root(), kAll));
  CHECK(table.has(table.root(), kSome));
  table.accounts.close(child);
  CHECK(table.has(table.root(), kSome));
}

TEST(account, a_transfer_of_all_from_an_unlimited_account_makes_the_other_unlimited) {
  Table table(kAll);
  Account* const child = table.open(table.root(), kSome);
  REQUIRE(child != nullptr);
  CHECK(table.accounts.draw(child, Component::kMemory, 500));
  CHECK(table.accounts.transfer(table.root(), child, kAll));
  CHECK(table.has(child, kAll));
  // Nothing is taken for an account that is unlimited already.
  Account* const finite = table.open(table.root(), kSome);
  REQUIRE(finite != nullptr);
  CHECK(table.accounts.transfer(finite, child, kSome));
  CHECK(table.has(finite, kSome));
  table.accounts.close(finite);
  table.accounts.close(child);
  CHECK_EQ(table.accounts.count(), 2);
  table.accounts.credit(child, Component::kMemory, 500);
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, amounts_never_reach_unlimited_by_adding) {
  Table table(kAll);
  Account* const child = table.open(table.root(), only(Component::kOps, kMaxFinite));
  REQUIRE(child != nullptr);
  CHECK(table.accounts.transfer(table.root(), child, only(Component::kOps, kMaxFinite)));
  CHECK_EQ(table.left(child, Component::kOps), kMaxFinite);
  CHECK(table.accounts.draw(child, Component::kOps, 1));
  CHECK_EQ(table.left(child, Component::kOps), kMaxFinite - 1);
  table.accounts.close(child);
}

TEST(account, thousands_of_records_keep_their_places) {
  constexpr unsigned kCount = 5000;  // more than one segment of the table holds
  static Account* opened[kCount];
  Table table(Amounts{{kCount, 0, 0, 0, 0}});
  for (unsigned i = 0; i < kCount; ++i) {
    opened[i] = table.open(table.root(), only(Component::kOps, 1));
    REQUIRE(opened[i] != nullptr);
  }
  CHECK_EQ(table.open(table.root(), only(Component::kOps, 1)), nullptr);
  for (unsigned i = 0; i < kCount; ++i) {
    if (table.accounts.at(i + 2) != opened[i]) CHECK_EQ(opened[i]->index(), i + 2);
    table.accounts.close(opened[i]);
  }
  CHECK_EQ(table.left(table.root(), Component::kOps), kCount);
  CHECK_EQ(table.accounts.count(), 1);
}

TEST(account, a_budget_and_all_accounts_below_it_share_one_line_of_credit) {
  Table table(kAll);
  Account* const cage = table.open(table.root(), kSome);
  Account* const inner = table.open(cage, only(Component::kOps, 100));
  Account* const innermost = table.open(inner, kAll);
  CHECK_EQ(table.accounts.borrow(innermost, 60, 100), 60);
  CHECK_EQ(table.accounts.borrow(inner, 60, 100), 40);
  CHECK_EQ(table.accounts.borrow(cage, 60, 100), 0);
  for (Account* const each : {cage, inner, innermost}) CHECK_EQ(table.accounts.on_loan(each), 100);
  table.accounts.give_back(innermost, 25);
  CHECK_EQ(table.accounts.borrow(cage, 60, 100), 25);
  // The loan was not taken out of any account's ops.
  CHECK_EQ(table.left(cage, Component::kOps), 900);
  CHECK_EQ(table.left(inner, Component::kOps), 0);
  CHECK_EQ(table.left(innermost, Component::kOps), 100);
  // A new account below the cage has no line of credit of its own, and the close of an account brings no credit back.
  table.accounts.close(innermost);
  table.accounts.close(inner);
  Account* const next = table.open(cage, kAll);
  CHECK_EQ(table.accounts.borrow(next, 1, 100), 0);
  table.accounts.close(next);
  table.accounts.close(cage);
}

TEST(account, siblings_and_accounts_below_unlimited_ops_have_their_own_line_of_credit) {
  Table table(kAll);
  Account* const unlimited = table.open(table.root(), kAll);
  Account* const one = table.open(unlimited, kSome);
  Account* const other = table.open(unlimited, kSome);
  CHECK_EQ(table.accounts.borrow(one, 1000, 100), 100);
  CHECK_EQ(table.accounts.on_loan(other), 0);
  CHECK_EQ(table.accounts.borrow(other, 30, 100), 30);
  CHECK_EQ(table.accounts.on_loan(unlimited), 0);
  const std::uint32_t index = one->index();
  table.accounts.close(one);
  Account* const again = table.open(unlimited, kSome);
  CHECK_EQ(again->index(), index);
  CHECK_EQ(table.accounts.on_loan(again), 0);
  for (Account* const each : {again, other, unlimited}) table.accounts.close(each);
}

TEST(account, loans_are_paid_back_out_of_what_the_lender_is_recharged_with) {
  Table table(kAll);
  Account* const cage = table.open(table.root(), kNothing);
  Account* const inner = table.open(cage, kNothing);
  CHECK_EQ(table.accounts.borrow(inner, 100, 100), 100);
  // The lender's recharge pays for its loan; the inner account's recharge is its own.
  CHECK(table.accounts.recharge(table.root(), inner, only(Component::kOps, 10)));
  CHECK_EQ(table.left(inner, Component::kOps), 10);
  CHECK_EQ(table.accounts.on_loan(inner), 100);
  CHECK(table.accounts.recharge(table.root(), cage, only(Component::kOps, 70)));
  CHECK_EQ(table.left(cage, Component::kOps), 0);
  CHECK_EQ(table.accounts.on_loan(inner), 30);
  // An account below cannot draw the part of a recharge that paid for loans.
  table.accounts.draw_recharged(cage, inner, Component::kOps, 50);
  CHECK_EQ(table.left(inner, Component::kOps), 10);
  CHECK(table.accounts.recharge(table.root(), cage, only(Component::kOps, 70)));
  CHECK_EQ(table.left(cage, Component::kOps), 40);
  CHECK_EQ(table.accounts.on_loan(inner), 0);
  table.accounts.draw_recharged(cage, inner, Component::kOps, 50);
  CHECK_EQ(table.left(inner, Component::kOps), 50);
  // The loan was paid for, so the part that comes back unspent belongs to the lender.
  table.accounts.give_back(inner, 25);
  CHECK_EQ(table.left(cage, Component::kOps), 25);
  CHECK_EQ(table.accounts.on_loan(inner), 0);
  table.accounts.close(inner);
  table.accounts.close(cage);
}

// An account below may draw as much as the account was recharged with since it was opened, but no more than the account
// has left.
TEST(account, the_rest_of_a_partly_spent_recharge_is_drawn) {
  Table table(kAll);
  Account* const cage = table.open(table.root(), kNothing);
  Account* const inner = table.open(cage, kNothing);
  const auto draw = [&](std::uint64_t most) {
    table.accounts.draw_recharged(cage, inner, Component::kOps, most);
    return table.left(inner, Component::kOps);
  };
  CHECK(table.accounts.recharge(table.root(), cage, only(Component::kOps, 100)));
  CHECK(table.accounts.draw(cage, Component::kOps, 60));
  CHECK_EQ(draw(10), 10);
  CHECK_EQ(draw(80), 40);
  CHECK_EQ(table.left(cage, Component::kOps), 0);
  CHECK_EQ(draw(80), 40);
  // A credit replaces what others have spent of the recharge, but what exceeds the recharge cannot be drawn.
  table.accounts.credit(cage, Component::kOps, 100);
  CHECK_EQ(draw(80), 100);
  CHECK_EQ(table.left(cage, Component::kOps), 40);
  table.accounts.close(inner);
  table.accounts.close(cage);
}

// A request for more than there is takes nothing.
TEST(account, a_recharge_that_is_too_small_pays_only_debts) {
  Table table(only(Component::kMemory, 1'000'000));
  Account* const inner = table.open(table.root(), kNothing);
  CHECK(!table.accounts.recharge(table.root(), table.root(), only(Component::kMemory, 2'000'000)));
  for (int i = 0; i < 3; ++i)
    CHECK(table.accounts.recharge(table.root(), table.root(), only(Component::kMemory, 900'000)));
  table.accounts.draw_recharged(table.root(), inner, Component::kMemory, std::uint64_t{1} << 40);
  table.accounts.draw_recharged(table.root(), inner, Component::kMemory, 2'000'000);
  CHECK_EQ(table.left(inner, Component::kMemory), 0);
  CHECK_EQ(table.left(table.root(), Component::kMemory), 1'000'000);
  table.accounts.draw_recharged(table.root(), inner, Component::kMemory, 500'000);
  CHECK_EQ(table.left(inner, Component::kMemory), 500'000);
  table.accounts.close(inner);
}

TEST(account, a_recharge_with_everything_counts_as_what_there_was) {
  for (const Component component : {Component::kOps, Component::kMemory}) {
    Table table(only(component, 1'000'000));
    Account* const cage = table.open(table.root(), only(component, 1000));
    Account* const inner = table.open(cage, kNothing);
    CHECK(table.accounts.recharge(table.root(), cage, only(component, kUnlimited)));
    CHECK_EQ(table.left(cage, component), 1'000'000);
    table.accounts.draw_recharged(cage, inner, component, 999'000);
    CHECK_EQ(table.left(inner, component), 999'000);
    table.accounts.draw_recharged(cage, inner, component, 1);  // is not of the recharge
    CHECK_EQ(table.left(inner, component), 999'000);
    table.accounts.close(inner);
    table.accounts.close(cage);
  }
}

// The returned part can be drawn again when the account that had drawn it closes, or later; other ops or memory of that
// account cannot.
TEST(account, a_returned_part_of_a_recharge_can_be_drawn_again) {
  for (const Component component : {Component::kOps, Component::kMemory}) {
    Table table(kAll);
    Amounts own{};
    own[component] = 1000;
    Account* const cage = table.open(table.root(), own);
    own[component] = 50;
    Account* const first = table.open(cage, own);
    Account* const second = table.open(cage, kNothing);
    CHECK(table.accounts.recharge(table.root(), cage, only(component, 500)));
    if (component == Component::kOps)
      table.accounts.draw_recharged(cage, first, component, 100, 300);
    else
      table.accounts.draw_recharged(cage, first, component, 300);
    CHECK(component == Component::kOps ? table.accounts.draw(first, component, 150)
                                       : table.accounts.draw_memory(nullptr, first, 150));
    table.accounts.close(first);
    if (component == Component::kMemory) table.accounts.credit_memory(nullptr, first, 150);
    // Of the 400 ops drawn, 100 are spent at once. No memory is spent.
    const std::uint64_t may_be_drawn = component == Component::kOps ? 100 + 300 : 500;
    table.accounts.draw_recharged(cage, second, component, may_be_drawn);
    CHECK_EQ(table.left(second, component), may_be_drawn);
    table.accounts.draw_recharged(cage, second, component, 1);
    CHECK_EQ(table.left(second, component), may_be_drawn);
    table.accounts.close(second);
    table.accounts.close(cage);
  }
}

// When a nursery ends, the unspent rest of its recharge belongs to its opener. It does not count as a recharge of the
// parent account.
TEST(account, the_unspent_rest_of_a_recharge_does_not_recharge_the_parent) {
  Table table(kAll);
  Account* const outer = table.open(table.root(), only(Component::kOps, 1000));
  Account* const inner = table.open(outer, kNothing);
  CHECK(table.accounts.recharge(outer, inner, only(Component::kOps, 600)));
  table.accounts.close(inner);
  Account* const other = table.open(outer, kNothing);
  table.accounts.draw_recharged(outer, other, Component::kOps, 10, 10);
  CHECK_EQ(table.left(other, Component::kOps), 0);
  CHECK_EQ(table.left(outer, Component::kOps), 1000);
  table.accounts.close(other);
  table.accounts.close(outer);
}

// A waiter is listed once, however many credits come, until the list is taken.
TEST(account, waiters_are_told_of_credits) {
  Table table(kAll);
  Account* const one = table.open(table.root(), kSome);
  Account* const other = table.open(table.root(), kSome);
  unsigned told = 0;
  table.accounts.notify_of_returns([](void* count) noexcept { ++*static_cast<unsigned*>(count); }, &told);
  const auto listed = [&] {
    unsigned count = 0;
    for (std::uint32_t index = table.accounts.take_unserved(); index != Accounts::kEndOfUnserved; ++count)
      index = table.accounts.take_off_unserved(index);
    return count;
  };
  table.accounts.credit(one, Component::kOps, 1);
  CHECK_EQ(told, 0);
  janus::AccountWait waits[2] = {{{}, Component::kOps, 5000}, {{}, Component::kSyscalls, 5000}};
  table.accounts.queue(one).enter(waits[0]);
  table.accounts.queue(other).enter(waits[1]);
  table.accounts.credit(one, Component::kSyscalls, 1);
  table.accounts.credit(other, Component::kOps, 1);
  CHECK_EQ(told, 0);
  CHECK_EQ(listed(), 0);
  table.accounts.credit(one, Component::kOps, 1);
  table.accounts.credit(one, Component::kOps, 1);
  table.accounts.credit(other, Component::kSyscalls, 1);
  CHECK_EQ(told, 1);
  CHECK_EQ(listed(), 2);
  CHECK_EQ(listed(), 0);
  table.accounts.credit(other, Component::kSyscalls, 1);
  CHECK_EQ(told, 2);
  CHECK_EQ(listed(), 1);
  table.accounts.queue(one).leave(waits[0]);
  table.accounts.queue(other).leave(waits[1]);
  table.accounts.credit(one, Component::kOps, 1);
  CHECK_EQ(told, 2);
  table.accounts.close(one);
  table.accounts.close(other);
}

// Whatever part of the root's memory is in the workers' caches.
TEST(account, a_recharge_of_memory_is_drawn_from_the_root_with_its_caches) {
  Table table(only(Component::kMemory, 1 << 20));
  janus::MemoryCache cache{};
  table.accounts.register_cache(cache);
  CHECK(table.accounts.draw_memory(&cache, table.root(), 1000));
  Account* const inner = table.open(table.root(), kNothing);
  const std::uint64_t rest = table.accounts.left(table.root(), Component::kMemory);
  CHECK(table.accounts.recharge(table.root(), table.root(), only(Component::kMemory, rest)));
  table.accounts.draw_recharged(table.root(), inner, Component::kMemory, rest);
  CHECK_EQ(table.left(inner, Component::kMemory), rest);
  CHECK_EQ(table.accounts.left(table.root(), Component::kMemory), 0);
  table.accounts.close(inner);
  table.accounts.credit_memory(&cache, table.root(), 1000);
  table.accounts.unregister_cache(cache);
}

TEST(account, a_deep_chain_closes_from_either_end) {
  constexpr unsigned kDepth = 2000;
  static Account* chain[kDepth];
  for (const bool outer_first : {false, true}) {
    Table table(kSome);
    Account* parent = table.root();
    for (Account*& account : chain) {
      parent = account = table.open(parent, only(Component::kMemory, 2000));
      REQUIRE(account != nullptr);
    }
    CHECK(table.accounts.draw(parent, Component::kMemory, 1500));
    for (unsigned i = 0; i < kDepth; ++i) table.accounts.close(chain[outer_first ? i : kDepth - 1 - i]);
    CHECK_EQ(table.left(table.root(), Component::kMemory), 500);
    table.accounts.credit(parent, Component::kMemory, 1500);
    CHECK_EQ(table.left(table.root(), Component::kMemory), 2000);
    CHECK_EQ(table.accounts.count(), 1);
  }
}

}  // namespace
