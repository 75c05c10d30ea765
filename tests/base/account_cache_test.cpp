// SPDX-License-Identifier: Apache-2.0
#include "rt/base/account_cache.h"

#include "arch/x86_64/cpu.h"
#include "rt/base/account.h"
#include "rt/base/rng.h"
#include "tests/base/crew.h"
#include "tests/harness/test.h"

namespace {

using janus::Account;
using janus::AccountCache;
using janus::Accounts;
using janus::Component;
using janus::kUnlimited;

constexpr std::uint64_t kMebi = 1 << 20;

struct Pool {
  explicit Pool(std::uint64_t bytes) {
    CHECK(accounts.init({{0, bytes, 0, 0, 0}}));
    for (AccountCache& cache : caches) accounts.register_cache(cache);
  }
  ~Pool() { accounts.destroy(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  bool draw(unsigned cache, std::uint64_t bytes) {
    return accounts.draw_memory(&caches[cache], accounts.root(), bytes);
  }
  void credit(unsigned cache, std::uint64_t bytes) { accounts.credit_memory(&caches[cache], accounts.root(), bytes); }
  std::uint64_t left() { return accounts.left(accounts.root(), Component::kMemory); }

  static constexpr unsigned kCaches = 4;
  Accounts accounts{};
  AccountCache caches[kCaches]{};
};

TEST(account_cache, what_is_drawn_through_caches_adds_up) {
  Pool pool(64 * kMebi);
  CHECK(pool.draw(0, 1000));
  CHECK(pool.draw(1, 128));
  CHECK(pool.draw(0, 24));
  CHECK_EQ(pool.left(), 64 * kMebi - 1152);
  pool.credit(3, 1000);
  pool.credit(1, 152);
  CHECK_EQ(pool.left(), 64 * kMebi);
}

TEST(account_cache, every_byte_can_be_drawn_whoever_holds_the_chunks) {
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

TEST(account_cache, a_thread_without_a_cache_and_a_child_account_call_chunks_back_too) {
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

TEST(account_cache, memory_of_other_accounts_passes_the_cache_by) {
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

TEST(account_cache, an_unlimited_root_needs_no_chunks) {
  Pool pool(kUnlimited);
  CHECK(pool.draw(0, std::uint64_t{1} << 60));
  pool.credit(1, std::uint64_t{1} << 60);
  CHECK_EQ(pool.left(), kUnlimited);
  for (AccountCache& cache : pool.caches) pool.accounts.unregister_cache(cache);
  CHECK_EQ(pool.left(), kUnlimited);
}

TEST(account_cache, a_cache_that_is_unregistered_gives_its_chunk_back_and_keeps_none) {
  Pool pool(kMebi);
  CHECK(pool.draw(0, 100));
  for (AccountCache& cache : pool.caches) pool.accounts.unregister_cache(cache);
  CHECK_EQ(pool.accounts.draw_up_to(pool.accounts.root(), Component::kMemory, kUnlimited), kMebi - 100);
  pool.accounts.credit(pool.accounts.root(), Component::kMemory, kMebi - 100);
  CHECK(pool.draw(0, 100));
  pool.credit(0, 200);
  CHECK_EQ(pool.accounts.draw_up_to(pool.accounts.root(), Component::kMemory, kUnlimited), kMebi);
}

TEST(account_cache, impossible_amounts_are_refused_at_once) {
  Pool pool(kMebi);
  CHECK(!pool.draw(0, kMebi + 1));
  CHECK(!pool.draw(0, kUnlimited));
  CHECK(!pool.draw(0, kUnlimited - 1));
  CHECK_EQ(pool.left(), kMebi);
}

// Users, whose chunks fill while memory is plenty, and one who takes all that they do not use, again and again. Each
// has a share and all shares are no more than there is, so that everything asked for is there: a refusal is a mistake.
struct Storm {
  static constexpr std::uint64_t kTotal = 40'000;
  static constexpr unsigned kUsers = Pool::kCaches - 1;
  static constexpr std::uint64_t kShare = 300;  // of one user; the taker has the rest

  Pool pool{kTotal};
  std::atomic<std::uint64_t> outstanding{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<bool> has_minted{false};
  std::atomic<bool> is_over{false};

  // Counted only while surely drawn, so that the count is never too high.
  void draw(AccountCache* cache, std::uint64_t bytes) {
    while (!pool.accounts.draw_memory(cache, pool.accounts.root(), bytes)) refused.fetch_add(1);
    if (outstanding.fetch_add(bytes) + bytes > kTotal) has_minted = true;
  }
  void credit(AccountCache* cache, std::uint64_t bytes) {
    outstanding.fetch_sub(bytes);
    pool.accounts.credit_memory(cache, pool.accounts.root(), bytes);
  }
};

Storm* storm;

void use(janus::Rng& rng, AccountCache* cache) {
  std::uint64_t held = 0;
  while (!storm->is_over.load()) {
    if (rng.below(2) == 0 && held < Storm::kShare) {
      const std::uint64_t amount = 1 + rng.below(Storm::kShare - held);
      storm->draw(cache, amount);
      held += amount;
    } else if (held != 0) {
      const std::uint64_t amount = 1 + rng.below(held);
      storm->credit(cache, amount);
      held -= amount;
    }
  }
  storm->credit(cache, held);
}

void take_all_again_and_again(janus::Rng& rng, AccountCache* cache) {
  constexpr std::uint64_t kRest = Storm::kTotal - Storm::kUsers * Storm::kShare;
  const std::uint64_t rounds = janus::test::environment_number("JANUS_TEST_ROUNDS", 50'000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t first = 1 + rng.below(kRest - 1);
    storm->draw(cache, first);
    storm->draw(nullptr, kRest - first);  // as a thread that has no cache
    storm->credit(nullptr, first);
    storm->credit(cache, kRest - first);
    // Time for the users to fill their chunks.
    for (std::uint64_t pauses = rng.below(200); pauses != 0; --pauses) janus::arch::pause();
  }
  storm->is_over = true;
}

void play(unsigned number) {
  janus::Rng rng = janus::Rng::for_worker(janus::test::environment_number("JANUS_TEST_SEED", 1), number);
  AccountCache* const cache = &storm->pool.caches[number];
  if (number == Storm::kUsers) return take_all_again_and_again(rng, cache);
  use(rng, cache);
}

TEST(account_cache, nothing_is_minted_lost_or_falsely_dry_while_chunks_are_called_back) {
  Storm it;
  storm = &it;
  REQUIRE(janus::test::Crew::run(Pool::kCaches, play));
  CHECK(!it.has_minted);
  CHECK_EQ(it.refused.load(), 0);
  CHECK_EQ(it.outstanding.load(), 0);
  CHECK_EQ(it.pool.left(), Storm::kTotal);
  CHECK(it.pool.draw(0, Storm::kTotal));
}

}  // namespace
