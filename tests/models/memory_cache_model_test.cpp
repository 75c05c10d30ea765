// SPDX-License-Identifier: Apache-2.0
// memory_cache_model_test.cpp — every interleaving of workers that draw and credit memory through their caches with
// threads that recall the chunks (rt/budget/memory_cache.{h,cpp}, account.{h,cpp}): no memory appears or is lost, and
// no thread is refused memory that is there.
#include "rt/budget/memory_cache.h"

#include "rt/budget/accounts.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Accounts;
using janus::Component;
using janus::MemoryCache;
using janus::model::Fences;
using janus::model::require;

// 'd': draws 1, 'c': credits 1, 'D': draws all that the others leave, 'C': credits that. No draw is ever more than
// `total` less the most that all others may hold, so a refusal is a mistake. A thread that begins with 'c' holds 1.
// 'A': draws all that no other thread holds, or is crediting, at that moment; none draws at the same time.
// 'T': takes what is there. 'm': draws 1 if it is there. 'x', as the first: the first thread's chunk is all that there is,
// and it draws one more than that, which is refused, and disturbs nobody. The last thread, if `last_has_cache` is false, has no cache.
struct CacheWorld {
  static constexpr unsigned kMax = 3;
  const char* programs[kMax];
  std::uint64_t others_hold;  // the most, while one draws all
  bool last_has_cache;
  Accounts accounts{};
  MemoryCache caches[kMax]{};
  std::uint64_t outstanding = 0, held = 0;  // `held` counts what is being credited, too

  static constexpr std::uint64_t kTotal = 64;  // chunks of 4, or of 2 with two caches

  unsigned threads() const { return programs[2] == nullptr ? 2 : 3; }
  bool has_cache(unsigned thread) const { return last_has_cache || thread + 1 != threads(); }

  static constexpr std::uint64_t kChunk = 4;

  void begin() {
    require(accounts.init({{0, kTotal, 0, 0, 0}}), "there is memory");
    for (unsigned i = 0; i < threads(); ++i)
      if (has_cache(i)) accounts.register_cache(caches[i]);
    for (unsigned i = 0; i < threads(); ++i) {
      if (!has_cache(i)) continue;  // makes a chunk
      require(accounts.draw_memory(&caches[i], accounts.root(), 1), "the first is there");
      if (programs[i][0] == 'c') {
        ++outstanding, ++held;
      } else {
        accounts.credit_memory(&caches[i], accounts.root(), 1);
      }
    }
    if (programs[0][0] != 'x') return;
    require(accounts.draw_memory(nullptr, accounts.root(), kTotal - kChunk), "what is no chunk is the root's");
    take(kTotal - kChunk);
  }

  std::uint64_t amount_of(char what) const {
    if (what == 'A') return kTotal - held;
    if (what == 'x') return kChunk + 1;
    return what == 'D' || what == 'C' ? kTotal - others_hold : 1;
  }

  void take(std::uint64_t amount) {
    outstanding += amount, held += amount;
    require(outstanding <= kTotal, "nothing is minted");
  }

  void run(unsigned thread) {
    MemoryCache* const cache = has_cache(thread) ? &caches[thread] : nullptr;
    for (const char* what = programs[thread]; *what != '\0'; ++what) {
      const std::uint64_t amount = amount_of(*what);
      if (*what == 'c' || *what == 'C') {
        outstanding -= amount;
        accounts.credit_memory(cache, accounts.root(), amount);
        held -= amount;
      } else if (*what == 'T') {
        take(accounts.root_memory().take_all(accounts.root(), Component::kMemory));
      } else {
        const bool is_drawn = accounts.draw_memory(cache, accounts.root(), amount);
        require(is_drawn || *what == 'm' || *what == 'x', "what is there is not refused");
        if (is_drawn) take(amount);
      }
    }
  }

  void end() {
    require(accounts.left(accounts.root(), Component::kMemory) + outstanding == kTotal, "nothing is minted or lost");
    for (unsigned i = 0; i < threads(); ++i)
      if (has_cache(i)) accounts.unregister_cache(caches[i]);
    require(accounts.draw_up_to(accounts.root(), Component::kMemory, kTotal) + outstanding == kTotal,
            "and all of it can be drawn");
  }
};

bool goes_well(const char* name, Fences fences, std::uint64_t others_hold, bool last_has_cache, const char* first,
               const char* second, const char* third = nullptr) {
  return janus::model::goes_well<CacheWorld>(name, fences, first, second, third, others_hold, last_has_cache);
}

TEST(memory_cache_model, an_owner_and_one_who_calls_back) {
  REQUIRE(goes_well("draws", Fences::kHeavy, 2, false, "dd", "D"));
  REQUIRE(goes_well("draws and credits", Fences::kHeavy, 1, false, "dcd", "D"));
  REQUIRE(goes_well("called back twice", Fences::kHeavy, 1, false, "dcd", "DCD"));
  REQUIRE(goes_well("called back twice in one draw", Fences::kHeavy, 0, false, "m", "TT"));
  REQUIRE(goes_well("a credit is there when it is over", Fences::kHeavy, 2, false, "c", "DCA"));
  REQUIRE(goes_well("one asks for more than there is", Fences::kHeavy, CacheWorld::kTotal - CacheWorld::kChunk, false,
                    "x", "D"));
}

TEST(memory_cache_model, two_owners) {
  REQUIRE(goes_well("one takes all but what the other needs", Fences::kHeavy, 1, true, "dcd", "DC"));
}

TEST(memory_cache_model, two_owners_and_one_who_calls_back) {
  REQUIRE(goes_well("a draw each", Fences::kHeavy, 2, false, "d", "d", "D"));
  REQUIRE(goes_well("one gives back", Fences::kHeavy, 2, false, "dc", "d", "D"));
}

TEST(memory_cache_model, without_a_heavy_fence) {
  REQUIRE(goes_well("draws and credits", Fences::kOwn, 1, false, "dcd", "DC"));
}

}  // namespace
