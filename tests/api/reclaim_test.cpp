// SPDX-License-Identifier: Apache-2.0
// JANUS_NURSERY_RECLAIM: what the tasks of a cage leave allocated is freed with it, whatever way it ends; meanwhile the
// cage pays for the pages that its blocks lie in.
#include <array>
#include <cstring>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSizes[] = {16, 100, 1000, 4096, 5000, 40'000, 300'000, 2 * kMiB};

// A cage that frees what it leaves. It is closed by end(), as any Scope.
class Cage {
 public:
  explicit Cage(janus_budget budget, std::uint32_t on_exhaustion = JANUS_ON_EXHAUSTION_DENY) {
    janus_nursery_options options = {};
    options.on_error = JANUS_ON_ERROR_COLLECT;
    options.on_exhaustion = on_exhaustion;
    options.flags = JANUS_NURSERY_RECLAIM;
    options.budget = budget;
    nursery_ = janus_nursery_open(nullptr, &options);
    CHECK(nursery_ != nullptr);
  }
  template <class Closure>
  janus_task go(Closure& closure, janus_budget budget = {}) {
    return spawn(nursery_, call_closure<Closure>, &closure, 0, budget);
  }
  long await() { return janus_nursery_await(nursery_, nullptr); }
  long end() { return test::end(nursery_, nullptr); }
  janus_nursery* get() const { return nursery_; }

 private:
  janus_nursery* nursery_;
};

janus_budget of_memory(std::size_t bytes) {
  return budget_of(10'000'000, bytes);
}
std::size_t in_use() {
  return stats_of(nullptr).bytes_in_use;
}

void leave_some_of_each() {
  for (const std::size_t size : kSizes)
    for (int i = 0; i < 3; ++i) CHECK(janus_alloc(size) != nullptr);
}

}  // namespace

TEST(reclaim, what_a_cage_leaves_is_freed_with_it) {
  on_any_workers([] {
    const std::size_t before = in_use();
    for (int round = 0; round < 20; ++round) {
      Cage cage(of_memory(16 * kMiB));
      auto leaves = [] { leave_some_of_each(); };
      cage.go(leaves);
      cage.go(leaves);
      CHECK_EQ(cage.end(), 0);
    }
    CHECK_LE(in_use(), before + 65536);  // records that are kept for later ones
  });
}

TEST(reclaim, what_is_left_in_cages_within_is_freed_with_the_outer_one) {
  on_any_workers([] {
    const std::size_t before = in_use();
    Cage outer(of_memory(40 * kMiB));
    std::uint64_t left_before = 0, left_after = 0;
    auto opens = [&] {
      left_before = janus_budget_get_current().memory;
      for (int round = 0; round < 3; ++round) {
        Scope inner(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000, 24 * kMiB));
        auto leaves = [] { leave_some_of_each(); };
        auto leaves_less = [] { CHECK(janus_alloc(100) != nullptr && janus_alloc(100'000) != nullptr); };
        if (round == 0) inner.go(leaves);
        inner.go(leaves_less, 0, budget_of(100'000, kMiB));  // a budget of the task's own
        CHECK_EQ(inner.end(), 0);
      }
      left_after = janus_budget_get_current().memory;
    };
    outer.go(opens);
    CHECK_EQ(outer.await(), 0);
    CHECK_LT(left_after + 7 * kMiB, left_before);  // it is still charged to the outer one
    CHECK_EQ(outer.end(), 0);
    CHECK_LE(in_use(), before + 65536);
  });
}

TEST(reclaim, a_cage_that_frees_all_has_all_its_memory_again) {
  on_any_workers([] {
    Cage cage(of_memory(16 * kMiB));
    auto uses = [] {
      const std::uint64_t before = janus_budget_get_current().memory;
      for (int round = 0; round < 3; ++round) {
        std::array<void*, 8 * 20> blocks;
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          blocks[i] = janus_alloc(kSizes[i % 7]);
          REQUIRE(blocks[i] != nullptr);
        }
        CHECK_LT(janus_budget_get_current().memory, before);
        for (void* block : blocks) janus_free(block);
        CHECK_EQ(janus_budget_get_current().memory, before);
      }
    };
    cage.go(uses);
    CHECK_EQ(cage.end(), 0);
  });
}

// A free that leaves other blocks in the page credits nothing, and yet serves whoever waits for memory.
TEST(reclaim, a_task_that_waits_for_memory_gets_a_block_that_another_one_frees) {
  on_any_workers([] {
    Cage cage(of_memory(2 * kMiB), JANUS_ON_EXHAUSTION_SUSPEND);
    std::atomic<void*> given{nullptr};
    std::atomic<bool> is_full{false};
    auto waits = [&] {
      while (!is_full) janus_yield();
      given = janus_alloc(200);
    };
    const janus_task waiter = cage.go(waits);
    auto fills = [&] {
      void* const freed = janus_alloc(200);
      REQUIRE(freed != nullptr);
      // Until all pages are paid for, and the last one is as full as those before.
      std::uint64_t left = janus_budget_get_current().memory;
      for (unsigned in_page = 1, full = ~0u; left >= 4096 || in_page < full; ++in_page) {
        REQUIRE(janus_alloc(200) != nullptr);
        const std::uint64_t now = janus_budget_get_current().memory;
        if (now == left) continue;
        left = now;
        full = in_page;
        in_page = 0;
      }
      is_full = true;
      CHECK(eventually([&] { return janus_task_state(waiter) == JANUS_TASK_BUDGET_EXHAUSTED || given != nullptr; }));
      janus_free(freed);
      CHECK(eventually([&] { return given != nullptr; }));
    };
    cage.go(fills);
    CHECK_EQ(cage.end(), 0);
    CHECK(given != nullptr);
  });
}

TEST(reclaim, a_cage_without_memory_is_refused_and_loses_nothing) {
  on_any_workers([] {
    const std::size_t before = in_use();
    Cage cage(of_memory(kMiB));
    auto fills = [] {
      for (const std::size_t size : kSizes) {
        std::size_t count = 0;
        while (janus_alloc(size) != nullptr) ++count;
        CHECK_EQ(janus_last_error() <= JANUS_E_BUDGET, true);
        CHECK_LE(count * size, kMiB);
      }
    };
    cage.go(fills);
    CHECK_EQ(cage.end(), 0);
    Cage small(of_memory(2000));
    auto tries = [] { CHECK(janus_alloc(16) == nullptr || kIsWatched); };  // less than a page
    small.go(tries);
    CHECK_EQ(small.end(), 0);
    CHECK_LE(in_use(), before + 65536);
  });
}

TEST(reclaim, who_frees_a_block_of_a_cage_that_is_gone_panics) {
  if (kIsWatched) return;  // the sanitizer reports it first
  run_in(with_workers(2), [] {
    for (const std::size_t size : kSizes) {
      void* volatile block = nullptr;
      {
        Cage cage(of_memory(16 * kMiB));
        auto hands_out = [&] { block = janus_alloc(size); };
        cage.go(hands_out);
        CHECK_EQ(cage.end(), 0);
      }
      Scope scope(JANUS_ON_ERROR_COLLECT);
      auto frees = [&] { janus_free(block); };
      auto resizes = [&] { CHECK(janus_realloc(block, size * 2) == nullptr); };
      scope.go(frees);
      scope.go(resizes);
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
    }
  });
}

TEST(reclaim, what_a_task_outside_has_resized_is_its_own) {
  on_any_workers([] {
    for (const std::size_t size : kSizes) {
      void* block = nullptr;
      Cage cage(of_memory(16 * kMiB));
      auto hands_out = [&] {
        block = janus_alloc(size);
        REQUIRE(block != nullptr);
        std::memset(block, 42, size);
        CHECK(janus_alloc(size) != nullptr);
      };
      cage.go(hands_out);
      CHECK_EQ(cage.await(), 0);
      auto* const moved = static_cast<unsigned char*>(janus_realloc(block, size * 3));
      REQUIRE(moved != nullptr);
      CHECK_EQ(cage.end(), 0);
      CHECK(moved[0] == 42 && moved[size - 1] == 42);
      janus_free(moved);
    }
  });
}

// Blocks of the cage are freed by tasks outside it while it ends.
TEST(reclaim, cages_end_while_neighbours_free_their_blocks) {
  on_any_workers([] {
    const std::size_t before = in_use();
    for (int round = 0; round < scaled(20, 5); ++round) {
      std::array<std::atomic<void*>, 64> handed{};
      Cage cage(of_memory(16 * kMiB));
      auto hands_out = [&] {
        for (auto& place : handed) place = janus_alloc(16 + static_cast<std::size_t>(&place - handed.data()) * 40);
        leave_some_of_each();
      };
      cage.go(hands_out);
      CHECK_EQ(cage.await(), 0);
      Scope neighbours;
      auto frees = [&] {
        for (auto& place : handed) {
          janus_free(place.exchange(nullptr));
          janus_yield();
        }
      };
      neighbours.go(frees);
      neighbours.go(frees);
      CHECK_EQ(neighbours.end(), 0);
      CHECK_EQ(cage.end(), 0);
    }
    CHECK_LE(in_use(), before + 65536);
  });
}

TEST(reclaim, a_cage_whose_tasks_end_by_force_leaves_nothing) {
  if (kIsWatched) return;  // the sanitizer reports the fault first
  on_any_workers([] {
    const std::size_t before = in_use();
    for (int round = 0; round < 10; ++round) {
      Cage cage(of_memory(16 * kMiB), round % 2 != 0 ? JANUS_ON_EXHAUSTION_FAIL : JANUS_ON_EXHAUSTION_DENY);
      auto faults = [] {
        leave_some_of_each();
        janus_free(reinterpret_cast<void*>(std::uintptr_t{64}));
      };
      auto runs_dry = [] {
        while (janus_alloc(1000) != nullptr) janus_yield();
      };
      cage.go(faults);
      cage.go(runs_dry);
      CHECK_NE(cage.end(), 0);
    }
    CHECK_LE(in_use(), before + 65536);
  });
}

}  // namespace janus::test
