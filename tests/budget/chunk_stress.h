// SPDX-License-Identifier: Apache-2.0
// tests/budget/chunk_stress.h — workers whose cached chunks of memory are called back all the time, on platforms with
// and without a heavy fence.
#pragma once

#include <arch/cpu.h>
#include "rt/base/rng.h"
#include "rt/budget/accounts.h"
#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

// A root account with memory only, and the caches of several workers.
struct Pool {
  explicit Pool(std::uint64_t bytes) {
    CHECK(accounts.init({{0, bytes, 0, 0, 0}}));
    for (MemoryCache& cache : caches) accounts.register_cache(cache);
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
  MemoryCache caches[kCaches]{};
};

// Users, whose chunks fill while memory is plentiful, and a taker that draws all memory that the users do not use,
// again and again. Each has a share, and the shares add up to no more than there is. So every request can be satisfied,
// and a refusal is an error.
struct Storm {
  static constexpr std::uint64_t kTotal = 40'000;
  static constexpr unsigned kUsers = Pool::kCaches - 1;
  static constexpr std::uint64_t kShare = 300;  // of each user; the taker has the rest

  Pool pool{kTotal};
  std::atomic<std::uint64_t> outstanding{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<bool> has_minted{false};
  std::atomic<bool> is_over{false};

  // Counted only while it is certainly drawn, so the count is never too high.
  void draw(MemoryCache* cache, std::uint64_t bytes) {
    while (!pool.accounts.draw_memory(cache, pool.accounts.root(), bytes)) refused.fetch_add(1);
    if (outstanding.fetch_add(bytes) + bytes > kTotal) has_minted = true;
  }
  void credit(MemoryCache* cache, std::uint64_t bytes) {
    outstanding.fetch_sub(bytes);
    pool.accounts.credit_memory(cache, pool.accounts.root(), bytes);
  }
};

inline Storm* storm;

inline void use(Rng& rng, MemoryCache* cache) {
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

inline void take_all_again_and_again(Rng& rng, MemoryCache* cache) {
  constexpr std::uint64_t kRest = Storm::kTotal - Storm::kUsers * Storm::kShare;
  const std::uint64_t rounds = environment_number("JANUS_TEST_ROUNDS", 50'000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t first = 1 + rng.below(kRest - 1);
    storm->draw(cache, first);
    storm->draw(nullptr, kRest - first);  // as a thread without a cache
    storm->credit(nullptr, first);
    storm->credit(cache, kRest - first);
    // Gives the users time to fill their chunks.
    for (std::uint64_t pauses = rng.below(200); pauses != 0; --pauses) arch::pause();
  }
  storm->is_over = true;
}

inline void play(unsigned number) {
  Rng rng = Rng::for_worker(environment_number("JANUS_TEST_SEED", 1), number);
  MemoryCache* const cache = &storm->pool.caches[number];
  if (number == Storm::kUsers) return take_all_again_and_again(rng, cache);
  use(rng, cache);
}

inline void run_chunk_storm() {
  Storm it;
  storm = &it;
  REQUIRE(ThreadGroup::run(Pool::kCaches, play));
  CHECK(!it.has_minted);
  CHECK_EQ(it.refused.load(), 0);
  CHECK_EQ(it.outstanding.load(), 0);
  CHECK_EQ(it.pool.left(), Storm::kTotal);
  CHECK(it.pool.draw(0, Storm::kTotal));
}

}  // namespace janus::test
