// SPDX-License-Identifier: Apache-2.0
// pool_charge_test.cpp — records and stacks are paid for once, before they are taken. An account that cannot pay gets
// none.
#include "rt/budget/pool_charge.h"

#include "rt/budget/accounts.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_pool.h"
#include "tests/harness/test.h"

using namespace janus;

namespace {

constexpr std::size_t kSlack = 256 << 10;  // the most that is paid for but not yet taken

// Pools that are paid for by an account with `memory` bytes.
struct Fixture {
  Accounts accounts{};
  StackPool stacks;
  Slab records;
  PoolCharge pool_charge;
  StackCache stack_cache{};
  SlabCache record_cache{};

  explicit Fixture(std::uint64_t memory, std::size_t allowance = 0, unsigned workers = 1) {
    Amounts root;
    for (std::uint64_t& amount : root.of) amount = kUnlimited;
    root[Component::kMemory] = memory;
    REQUIRE(accounts.init(root) && stacks.init() && records.init(128));
    const auto trim = [](void* pool) noexcept { return static_cast<StackPool*>(pool)->trim(); };
    pool_charge.init(accounts.root_memory(), trim, &stacks, allowance);
    stacks.charge_to(pool_charge, memory, workers);
    records.charge_to(pool_charge);
  }
  ~Fixture() {
    records.destroy();
    stacks.flush(stack_cache);
    stacks.destroy();
    accounts.destroy();
  }
  Stack* take(unsigned size_class = 0) { return stacks.take(&stack_cache, size_class); }
  std::uint64_t left() { return accounts.left(accounts.root(), Component::kMemory); }
};

}  // namespace

TEST(pool_charge, taken_pages_are_charged_and_returned_ones_credited) {
  constexpr std::uint64_t kMemory = 64 << 20;
  Fixture f(kMemory);
  CHECK(f.pool_charge.grow(1 << 20));
  CHECK_EQ(f.left(), kMemory - (1 << 20));
  CHECK_EQ(f.pool_charge.paid(), 1u << 20);
  f.pool_charge.shrink(1 << 20);
  CHECK_GE(f.left(), kMemory - kSlack);
  CHECK_EQ(f.left() + f.pool_charge.paid(), kMemory);
  CHECK(!f.pool_charge.grow(kMemory + 1));
  CHECK_EQ(f.left() + f.pool_charge.paid(), kMemory);
  CHECK(f.pool_charge.grow(kMemory));
  CHECK_EQ(f.left(), 0u);
  CHECK(!f.pool_charge.grow(1));
}

TEST(pool_charge, the_allowance_is_free) {
  Fixture f(1 << 20, 1 << 20);
  CHECK(f.pool_charge.grow(1 << 20));
  CHECK_EQ(f.left(), 1u << 20);
  CHECK(f.pool_charge.grow(1 << 20));
  CHECK_EQ(f.left(), 0u);
  f.pool_charge.shrink(2 << 20);
  CHECK_GE(f.left(), (1u << 20) - kSlack);
  CHECK_LE(f.left(), 1u << 20);  // the allowance cannot be drawn as memory
}

TEST(pool_charge, pages_paid_by_others_are_not_charged_to_the_root) {
  constexpr std::uint64_t kMemory = 8 << 20;
  Fixture f(kMemory);
  CHECK(f.pool_charge.grow(4 << 20));
  f.pool_charge.prepay(3 << 20);
  CHECK_GE(f.left(), kMemory - (1 << 20) - kSlack);
  f.pool_charge.end_prepayment(3 << 20);
  CHECK_LE(f.left(), kMemory - (4 << 20));
  CHECK_EQ(f.left() + f.pool_charge.paid(), kMemory);
}

TEST(pool_charge, debts_are_paid_first) {
  constexpr std::uint64_t kMemory = 1 << 20;
  Fixture f(kMemory);
  CHECK(f.pool_charge.grow(kMemory));
  f.pool_charge.prepay(1500);
  CHECK(f.pool_charge.overdraw(2500));
  CHECK(!f.pool_charge.overdraw(501));  // 3,000 in all: twice what was prepaid
  CHECK(!f.pool_charge.grow(1));
  f.pool_charge.shrink(500);
  CHECK(!f.pool_charge.grow(1));
  f.pool_charge.shrink(500);
  CHECK(!f.pool_charge.grow(1));
  f.pool_charge.shrink(1);
  CHECK(f.pool_charge.grow(1));
  CHECK(!f.pool_charge.grow(1));
}

TEST(pool_charge, the_number_of_stacks_is_limited_by_the_root_account) {
  constexpr std::uint64_t kMemory = 4 << 20;
  Fixture f(kMemory);
  constexpr unsigned kMax = kMemory / stack_class_bytes(0);
  static Stack* stacks[kMax + 1];
  for (int round = 0; round < 3; ++round) {
    unsigned count = 0;
    while (count <= kMax && (stacks[count] = f.take()) != nullptr) count++;
    CHECK_EQ(count, kMax);
    CHECK_EQ(f.stacks.alloc_under_pressure(&f.stack_cache, 0, StackPool::Due::kUnpaid), nullptr);
    CHECK_EQ(f.stacks.take(nullptr, 5), nullptr);
    for (unsigned n = 0; n < count; n++) f.stacks.give(&f.stack_cache, stacks[n]);
  }
}

// Stacks of a batch that no task has used yet are paid back when they return: one as well as several.
TEST(pool_charge, stacks_that_go_back_as_they_came_are_paid_back_one_by_one) {
  constexpr std::uint64_t kMemory = 64 << 20;
  for (unsigned some = 0; some <= 12; ++some) {
    Fixture f(kMemory);
    Stack* stacks[64];
    unsigned count = 0;
    stacks[count++] = f.take();
    const auto paid = static_cast<unsigned>(f.stacks.out(0));
    REQUIRE(paid > 12 && paid <= 64);
    while (count + some < paid) stacks[count++] = f.take();
    CHECK_EQ(f.stacks.out(0), paid);
    f.stacks.flush(f.stack_cache);
    CHECK_EQ(f.stacks.out(0), count);
    CHECK(f.pool_charge.grow(kMemory - count * stack_class_bytes(0)));
    CHECK(!f.pool_charge.grow(1));
    while (count != 0) f.stacks.give(nullptr, stacks[--count]);
  }
}

TEST(pool_charge, idle_stacks_make_room_for_others) {
  constexpr std::uint64_t kMemory = 4 << 20;
  Fixture f(kMemory);
  static Stack* stacks[512];
  for (Stack*& stack : stacks) stack = f.take();
  REQUIRE(stacks[511] != nullptr);
  for (Stack* stack : stacks) f.stacks.give(&f.stack_cache, stack);
  CHECK_LE(f.left(), kSlack);  // the idle stacks are kept and stay paid for
  CHECK(f.pool_charge.reclaim());
  CHECK_GE(f.left(), kMemory - kSlack - (128 << 10));  // except for what the cache holds
  CHECK(!f.pool_charge.reclaim());
  Stack* const roomy = f.stacks.alloc_under_pressure(&f.stack_cache, 7, StackPool::Due::kUnpaid);
  CHECK_EQ(roomy, nullptr);  // no idle stack could be released for it
  CHECK_NE(f.take(7), nullptr);
}

TEST(pool_charge, a_payer_is_served_when_the_root_cannot_pay) {
  Fixture f(1 << 20);
  REQUIRE(f.pool_charge.grow(1 << 20));
  f.pool_charge.prepay(1 << 16);
  REQUIRE(f.pool_charge.grow(1 << 16));  // another thread takes the prepaid memory first
  CHECK_EQ(f.take(), nullptr);
  CHECK_EQ(f.records.take(&f.record_cache), nullptr);
  Stack* const stack = f.stacks.alloc_under_pressure(&f.stack_cache, 0, StackPool::Due::kPaid);
  REQUIRE(stack != nullptr);
  CHECK_NE(f.records.alloc_prepaid(&f.record_cache), nullptr);
  CHECK_NE(f.records.alloc_prepaid(nullptr), nullptr);
  CHECK_EQ(f.take(), nullptr);
  f.pool_charge.shrink(1 << 20);
  CHECK_NE(f.take(), nullptr);
}

TEST(pool_charge, records_are_paid_for_by_the_batch_and_stay_paid_for) {
  constexpr std::uint64_t kMemory = 1 << 20;
  Fixture f(kMemory);
  static void* records[kMemory / 128];
  unsigned count = 0;
  for (void*& record : records) count += (record = f.records.take(&f.record_cache)) != nullptr;
  CHECK_EQ(count, kMemory / 128);
  CHECK_EQ(f.left(), 0u);
  CHECK_EQ(f.records.take(&f.record_cache), nullptr);
  CHECK_EQ(f.records.take(nullptr), nullptr);
  for (void* record : records) f.records.give(&f.record_cache, record);
  CHECK_EQ(f.left(), 0u);
  for (void*& record : records) CHECK_NE(record = f.records.take(&f.record_cache), nullptr);
}

TEST(pool_charge, small_memory_makes_small_caches) {
  Fixture f(16 << 20);  // a sixteenth of it is one stack of a megabyte
  Stack* stacks[4];
  for (Stack*& stack : stacks) REQUIRE((stack = f.take(7)) != nullptr);
  for (Stack* stack : stacks) f.stacks.give(&f.stack_cache, stack);
  CHECK(f.pool_charge.reclaim());
  CHECK_LE(f.pool_charge.paid(), (2u << 20) + kSlack);
}

// With 256 workers, caches that are full hold more large stacks than small tasks may have. Tasks get theirs all the same.
TEST(pool_charge, large_stacks_in_caches_take_none_from_small_tasks) {
  constexpr unsigned kWorkers = 256, kInCache = 16;
  Fixture f(std::uint64_t{16} << 30, 0, kWorkers);
  static StackCache caches[kWorkers];
  for (StackCache& cache : caches) {
    Stack* stacks[kInCache];
    for (Stack*& stack : stacks) REQUIRE((stack = f.stacks.take(&cache, kLargeFirstClass)) != nullptr);
    for (Stack* stack : stacks) f.stacks.give(&cache, stack);
  }
  const std::size_t in_caches = f.stacks.out(kLargeFirstClass);
  CHECK_GT(in_caches, 2 * StackPool::kMaxLargeFirst);
  CHECK_LE(in_caches, std::size_t{kWorkers} * kInCache);
  std::size_t taken = 0;
  for (; f.stacks.gives_large_first(); ++taken) REQUIRE(f.stacks.take(nullptr, kLargeFirstClass) != nullptr);
  CHECK_EQ(taken + in_caches, StackPool::kMaxLargeFirst + std::size_t{kWorkers} * kInCache);
  for (StackCache& cache : caches) f.stacks.flush(cache);
}

TEST(pool_charge, large_stacks_of_small_tasks_take_an_eighth_of_the_memory) {
  Fixture f(64 << 20, 0, 256);
  std::size_t taken = 0;
  for (; f.stacks.gives_large_first(); ++taken) REQUIRE(f.stacks.take(nullptr, kLargeFirstClass) != nullptr);
  CHECK_EQ(taken, (std::size_t{64} << 20) / 8 / stack_class_bytes(kLargeFirstClass));
}
