// SPDX-License-Identifier: Apache-2.0
// tests/budget/account_machine_test.cpp — accounts on a platform that refuses memory or has no heavy fence.
#include "rt/budget/accounts.h"
#include "tests/budget/chunk_stress.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/harness/test.h"

namespace {

namespace fake_platform = janus::fake_platform;
using janus::Account;
using janus::Accounts;
using janus::Amounts;
using janus::Component;
using janus::test::Pool;

constexpr Amounts kPlenty{{1'000'000, 1'000'000, 1'000'000, 1'000'000, 1'000'000}};
constexpr Amounts kOneEach{{1, 1, 1, 1, 1}};

TEST(account_machine, a_table_that_gets_no_memory_is_refused) {
  fake_platform::reset();
  fake_platform::refuse_maps(1);
  Accounts accounts{};
  CHECK(!accounts.init(kPlenty));
  accounts.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0);
}

TEST(account_machine, an_account_that_gets_no_record_takes_nothing) {
  fake_platform::reset();
  fake_platform::refuse_maps(2);
  Accounts accounts{};
  REQUIRE(accounts.init(kPlenty));
  constexpr unsigned kMax = 100'000;
  unsigned opened = 0;
  Component short_of{};
  while (opened < kMax && accounts.open(accounts.root(), kOneEach, &short_of) != nullptr) ++opened;
  CHECK_GT(opened, 100u);
  CHECK_LT(opened, kMax);
  CHECK_EQ(short_of, Component::kMemory);
  CHECK_EQ(accounts.left(accounts.root(), Component::kOps), kPlenty[Component::kOps] - opened);
  // After one account has closed, another can be opened.
  accounts.close(accounts.at(2));
  Account* const again = accounts.open(accounts.root(), kOneEach, nullptr);
  CHECK_NE(again, nullptr);
  CHECK_EQ(accounts.open(accounts.root(), kOneEach, nullptr), nullptr);
  accounts.destroy();
  CHECK_EQ(fake_platform::mapped_bytes(), 0);
  CHECK_EQ(fake_platform::stray_unmaps(), 0);
}

TEST(account_machine, without_a_heavy_fence_owners_fence_for_themselves) {
  fake_platform::reset();
  fake_platform::set_heavy_fence(false);
  janus::test::run_chunk_storm();
}

TEST(account_machine, an_impossible_draw_is_refused_without_a_fence) {
  fake_platform::reset();
  Pool pool(1 << 20);
  CHECK(pool.draw(0, 100));
  for (unsigned i = 0; i < 1000; ++i) CHECK(!pool.draw(1, 1 << 20 << 1));
  CHECK_EQ(fake_platform::heavy_fences(), 0);
}

TEST(account_machine, asking_for_slightly_too_much_for_ever_costs_others_few_fences) {
  fake_platform::reset();
  constexpr unsigned kAttempts = 10'000;
  Pool pool(1 << 20);
  for (unsigned i = 0; i < kAttempts; ++i) {
    if (!CHECK(!pool.draw(0, pool.left() + 1))) return;
    REQUIRE(pool.draw(1, 64));
    REQUIRE(pool.draw(2, 64));
    pool.credit(1, 64);
    pool.credit(2, 64);
  }
  CHECK_GT(fake_platform::heavy_fences(), 0u);
  CHECK_LT(fake_platform::heavy_fences(), kAttempts / 10);
  // When memory is plentiful again, it is cached again.
  for (unsigned i = 0; i < 10'000; ++i) {
    REQUIRE(pool.draw(1, 64));
    pool.credit(1, 64);
  }
  CHECK_EQ(pool.left(), 1 << 20);
}

}  // namespace
