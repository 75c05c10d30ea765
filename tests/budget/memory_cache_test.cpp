// SPDX-License-Identifier: Apache-2.0
#include "rt/budget/memory_cache.h"

#include "rt/budget/accounts.h"
#include "tests/budget/chunk_stress.h"
#include "tests/harness/test.h"

namespace {

using janus::Account;
using janus::Component;
using janus::kUnlimited;
using janus::MemoryCache;
using janus::test::Pool;

constexpr std::uint64_t kMebi = 1 << 20;

TEST(memory_cache, draws_through_caches_add_up) {
  Pool pool(64 * kMebi);
  CHECK(pool.draw(0, 1000));
  CHECK(pool.draw(1, 128));
  CHECK(pool.draw(0, 24));
  CHECK_EQ(pool.left(), 64 * kMebi - 1152);
  pool.credit(3, 1000);
  pool.credit(1, 152);
  CHECK_EQ(pool.left(), 64 * kMebi);
}

TEST(memory_cache, every_byte_can_be_drawn_whoever_holds_the_chunks) {
  for (const std::uint64_t total : {std::uint64_t{1}, std::uint64_t{100}, kMebi, 64 * kMebi}) {
    Pool pool(total);
    std::uint64_t drawn = 0;
    for (unsigned i = 1; i < Pool::kCaches && drawn < total; ++i) {
      CHECK(pool.draw(i, 1));
      ++drawn;
    }
    CHECK(pool.draw(0, total - drawn));
    CHECK_EQ(pool.left(), 0);
    CHECK(!pool.draw(1, 1));
    CHECK(!pool.accounts.draw_memory(nullptr, pool.accounts.root(), 1));
    pool.credit(0, total);
    CHECK_EQ(pool.left(), total);
  }
}

TEST(memory_cache, a_thread_without_a_cache_and_a_child_account_call_chunks_back_too) {
  Pool pool(kMebi);
  for (unsigned i = 0; i < Pool::kCaches; ++i) CHECK(pool.draw(i, 1));
  const std::uint64_t rest = kMebi - Pool::kCaches;
  CHECK(pool.accounts.draw_memory(nullptr, pool.accounts.root(), rest));
  pool.accounts.credit_memory(nullptr, pool.accounts.root(), rest);

  for (unsigned i = 0; i < Pool::kCaches; ++i) {
    CHECK(pool.draw(i, 1));
    pool.credit(i, 1);
  }
  Account* const child = pool.accounts.open(pool.accounts.root(), {{0, rest, 0, 0, 0}}, nullptr);
  REQUIRE(child != nullptr);
  CHECK_EQ(pool.left(), 0);
  pool.accounts.close(child);

  for (unsigned i = 0; i < Pool::kCaches; ++i) CHECK(pool.draw(i, 1));
  Account* const greedy = pool.accounts.open(pool.accounts.root(), {{0, kUnlimited, 0, 0, 0}}, nullptr);
  REQUIRE(greedy != nullptr);
  CHECK_EQ(pool.accounts.left(greedy, Component::kMemory), rest - Pool::kCaches);
  pool.accounts.close(greedy);
}

TEST(memory_cache, memory_of_other_accounts_bypasses_the_cache) {
  Pool pool(kMebi);
  Account* const child = pool.accounts.open(pool.accounts.root(), {{0, 1000, 0, 0, 0}}, nullptr);
  REQUIRE(child != nullptr);
  CHECK(pool.accounts.draw_memory(&pool.caches[0], child, 1000));
  CHECK(!pool.accounts.draw_memory(&pool.caches[0], child, 1));
  CHECK_EQ(pool.accounts.held(child), 1000);
  pool.accounts.credit_memory(&pool.caches[1], child, 1000);
  CHECK_EQ(pool.accounts.left(child, Component::kMemory), 1000);
  pool.accounts.close(child);
  CHECK_EQ(pool.left(), kMebi);
}

TEST(memory_cache, an_unlimited_root_needs_no_chunks) {
  Pool pool(kUnlimited);
  CHECK(pool.draw(0, std::uint64_t{1} << 60));
  pool.credit(1, std::uint64_t{1} << 60);
  CHECK_EQ(pool.left(), kUnlimited);
  for (MemoryCache& cache : pool.caches) pool.accounts.unregister_cache(cache);
  CHECK_EQ(pool.left(), kUnlimited);
}

TEST(memory_cache, a_cache_that_is_unregistered_gives_its_chunk_back_and_keeps_none) {
  Pool pool(kMebi);
  CHECK(pool.draw(0, 100));
  for (MemoryCache& cache : pool.caches) pool.accounts.unregister_cache(cache);
  CHECK_EQ(pool.accounts.draw_up_to(pool.accounts.root(), Component::kMemory, kUnlimited), kMebi - 100);
  pool.accounts.credit(pool.accounts.root(), Component::kMemory, kMebi - 100);
  CHECK(pool.draw(0, 100));
  pool.credit(0, 200);
  CHECK_EQ(pool.accounts.draw_up_to(pool.accounts.root(), Component::kMemory, kUnlimited), kMebi);
}

TEST(memory_cache, a_cache_that_is_unregistered_makes_the_chunks_of_others_no_smaller) {
  Pool pool(kMebi);
  for (int i = 0; i < 100; ++i) {
    pool.accounts.unregister_cache(pool.caches[1]);
    pool.accounts.register_cache(pool.caches[1]);
  }
  if (!pool.caches[0].is_registered()) SKIP("no heavy fence, no chunks");
  CHECK(pool.draw(0, 1));                          // fills the chunk
  CHECK(pool.caches[0].draw_at_hand(kMebi / 50));  // an eighth of the memory is for five chunks
}

TEST(memory_cache, impossible_amounts_are_refused_at_once) {
  Pool pool(kMebi);
  CHECK(!pool.draw(0, kMebi + 1));
  CHECK(!pool.draw(0, kUnlimited));
  CHECK(!pool.draw(0, kUnlimited - 1));
  CHECK_EQ(pool.left(), kMebi);
}

TEST(memory_cache, nothing_is_minted_lost_or_falsely_dry_while_chunks_are_called_back) {
  janus::test::run_chunk_storm();
}

}  // namespace
