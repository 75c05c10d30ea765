// SPDX-License-Identifier: Apache-2.0
// nursery_rules_test.cpp — every observable rule of nurseries, on one, two, four and eight workers and in deterministic
// mode.
#include "tests/api/world.h"

namespace janus::test {

TEST(rules, two_clean_children_are_success) {
  on_any_workers([] {
    Scope scope;
    scope.go(return_zero, nullptr);
    scope.go(return_arg, as_arg(5));
    janus_result result = {};
    CHECK_EQ(scope.end(&result), 0);
    CHECK_EQ(result.kind, JANUS_KIND_SUCCESS);
    CHECK_EQ(result.task_id, 0u);
    CHECK_EQ(result.was_cancelled, 0u);
  });
}

TEST(rules, one_failing_child_is_the_result) {
  on_any_workers([] {
    Scope scope;
    scope.go(return_zero, nullptr);
    scope.go(return_arg, as_arg(-77));
    janus_result result = {};
    CHECK_EQ(scope.end(&result), -77);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.errors, 1u);
  });
}

// No child ends before the last one is spawned, so a call that waited for a child would never return.
TEST(rules, only_await_ends_the_current_nursery) {
  constexpr int kChildren = 3;
  on_any_workers([] {
    std::atomic<bool> may_end{false};
    std::atomic<int> ended{0};
    auto child = [&] {
      while (!may_end.load())
        if (janus_yield() < 0) return std::int64_t{-1};
      ended.fetch_add(1);
      return std::int64_t{0};
    };
    CHECK(janus_nursery_create() != nullptr);
    for (int i = 0; i < kChildren; ++i) CHECK_EQ(janus_nursery_spawn(call_closure<decltype(child)>, &child), 0);
    CHECK(janus_nursery_create() != nullptr);  // nested
    CHECK_EQ(janus_nursery_spawn(call_closure<decltype(child)>, &child), 0);
    CHECK_EQ(ended.load(), 0);
    may_end.store(true);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK_GE(ended.load(), 1);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK_EQ(ended.load(), kChildren + 1);
  });
}

TEST(rules, a_child_that_loops_on_yields_ends_by_cancel) {
  on_any_workers([] {
    Scope scope;
    scope.go(yield_until_cancelled, nullptr);
    for (int i = 0; i < 5; ++i) janus_yield();
    CHECK_EQ(scope.cancel(), 0);
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  });
}

TEST(rules, cancelling_the_outer_cancels_the_inner_child) {
  on_any_workers([] {
    Scope outer;
    std::atomic<int> inner_began{0}, inner_told{0};
    auto inner_child = [&] {
      inner_began.fetch_add(1);
      const std::int64_t told = yield_until_cancelled(nullptr);
      inner_told.fetch_add(1);
      return told;
    };
    auto middle = [&] {
      Scope inner;
      inner.go(inner_child);
      return inner.end();
    };
    outer.go(middle);
    CHECK(eventually([&] { return inner_began.load() == 1; }));
    outer.cancel();
    CHECK_EQ(outer.end(), JANUS_CANCELLED);
    CHECK_EQ(inner_told.load(), 1);
  });
}

// The parent has passed the cancel on and can do nothing more: each wake-up would only delay the children that it waits
// for.
TEST(rules, a_cancelled_parent_sleeps_until_its_children_end) {
  constexpr std::uint64_t kSteps = 1000;
  std::uint64_t switches = 0;
  run_in(deterministic(1, 1), [&] {
    bool was_told = false;
    auto lives_on = [&] {
      while (janus_yield() == 0) {
      }
      was_told = true;
      janus_stats before = {}, after = {};
      before.size = after.size = sizeof before;
      janus_rt_stats(nullptr, &before);
      for (std::uint64_t i = 0; i < kSteps; ++i) janus_yield();
      janus_rt_stats(nullptr, &after);
      switches = after.switches - before.switches;
      return 0;
    };
    auto parent = [&] {
      Scope inner(JANUS_ON_ERROR_COLLECT);
      inner.go(lives_on);
      janus_yield();  // so that it gets a stack of its own
      inner.end();
      return 0;
    };
    Scope outer(JANUS_ON_ERROR_COLLECT);
    outer.go(parent);
    for (int i = 0; i < 10; ++i) janus_yield();
    outer.cancel();
    outer.end();
    CHECK(was_told);
  });
  CHECK_LE(switches, 10u);
}

// The owner has not stopped since it opened the inner nursery, so the cancel cannot find that nursery; and the owner's
// next step is to stop, which publishes it too late.
TEST(rules, a_cancel_reaches_nurseries_that_no_other_worker_has_seen) {
  const auto body = [] {
    Scope outer;
    std::atomic<bool> is_cancelled{false}, was_told{false};
    auto owner = [&] {
      Scope inner;
      auto sleeper = [&] {
        const int told = janus_park(-1);
        was_told.store(true);
        return told;
      };
      const janus_task child = inner.go(sleeper);
      Scope elsewhere;  // each spawn lets others step, in deterministic mode, too
      while (janus_task_state(child) != JANUS_TASK_BLOCKED) elsewhere.go(return_zero, nullptr, JANUS_SPAWN_DETACHED);
      auto canceller = [&] {
        outer.cancel();
        is_cancelled.store(true);
        return 0;
      };
      Scope free_of_it(JANUS_ON_ERROR_COLLECT);
      free_of_it.go(canceller);
      while (!is_cancelled.load()) elsewhere.go(return_zero, nullptr, JANUS_SPAWN_DETACHED);
      // The grace pays for the yields, so there are not many; a worker of a busy machine may take a while.
      for (int i = 0; i < 10000 && !was_told.load(); ++i) {
        janus_yield();
        const std::uint64_t until_ns = janus::platform::now_ns() + (i < 1000 ? 0 : 500'000);
        while (!was_told.load() && janus::platform::now_ns() < until_ns) __builtin_ia32_pause();
      }
      CHECK(was_told.load());
      elsewhere.end();
      free_of_it.end();
      return inner.end();
    };
    outer.go(owner);
    CHECK_EQ(outer.end(), JANUS_CANCELLED);
  };
  for (unsigned workers : {3u, 4u, 8u}) run_in(with_workers(workers), body);
  for (std::uint64_t seed = 0; seed < 5; ++seed) run_in(deterministic(3, seed), body);
}

TEST(rules, cleanup_runs_from_the_inside_out) {
  on_any_workers([] {
    std::atomic<int> clock{0};
    int inner_done = 0, inner_cleanup = 0, outer_cleanup = 0;
    Scope outer;
    std::atomic<bool> has_begun{false};
    auto leaf = [&] {
      has_begun.store(true);
      janus_park(-1);
      inner_done = ++clock;
      return JANUS_CANCELLED;
    };
    auto middle = [&] {
      Scope inner;
      inner.go(leaf);
      const long status = inner.end();
      inner_cleanup = ++clock;
      return status;
    };
    outer.go(middle);
    CHECK(eventually([&] { return has_begun.load(); }));
    outer.cancel();
    CHECK_EQ(outer.end(), JANUS_CANCELLED);
    outer_cleanup = ++clock;
    CHECK_EQ(inner_done, 1);
    CHECK_EQ(inner_cleanup, 2);
    CHECK_EQ(outer_cleanup, 3);
  });
}

// --- The five states ---

TEST(rules, states_open_closing_closed) {
  on_any_workers([] {
    Scope scope;
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
    const janus_task child = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
    CHECK_EQ(janus_nursery_try_result(scope.get(), nullptr), JANUS_PENDING);
    CHECK_EQ(janus_nursery_close(scope.get()), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSING);
    CHECK_EQ(janus_nursery_close(scope.get()), 0);
    CHECK_EQ(scope.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(janus_nursery_destroy(scope.get()), JANUS_PENDING);
    CHECK_EQ(janus_unpark(child), 0);
    CHECK(eventually([&] { return janus_nursery_state(scope.get()) == JANUS_NURSERY_CLOSED; }));
    janus_result result = {};
    CHECK_EQ(janus_nursery_try_result(scope.get(), &result), 0);
    CHECK_EQ(result.kind, JANUS_KIND_SUCCESS);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(rules, states_open_cancelling_cancelled) {
  on_any_workers([] {
    Scope scope;
    Stubborn stubborn;
    scope.go(stubborn);
    CHECK(eventually([&] { return stubborn.began.load(); }));
    scope.cancel();
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CANCELLING);
    janus_result result = {};
    CHECK_EQ(janus_nursery_try_result(scope.get(), &result), JANUS_PENDING);
    CHECK_EQ(result.kind, JANUS_KIND_PENDING);
    CHECK_EQ(result.code, JANUS_PENDING);
    CHECK_EQ(result.errors, 0u);
    CHECK_EQ(result.was_cancelled, 1u);
    CHECK_EQ(scope.go(return_zero, nullptr).raw, 0u);
    stubborn.may_end.store(true);
    CHECK(eventually([&] { return janus_nursery_state(scope.get()) == JANUS_NURSERY_CANCELLED; }));
    CHECK_EQ(scope.end(&result), JANUS_CANCELLED);  // cancelled, although no child failed
    CHECK_EQ(result.was_cancelled, 1u);
  });
}

TEST(rules, a_cancel_makes_closing_cancelling) {
  on_any_workers([] {
    Scope scope;
    Stubborn stubborn;
    scope.go(stubborn);
    CHECK(eventually([&] { return stubborn.began.load(); }));
    CHECK_EQ(janus_nursery_close(scope.get()), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSING);
    scope.cancel();
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CANCELLING);
    stubborn.may_end.store(true);
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  });
}

TEST(rules, cancelling_twice_or_after_the_end_changes_nothing) {
  on_any_workers([] {
    Scope scope;
    scope.go(return_zero, nullptr);
    CHECK_EQ(scope.await(), 0);
    CHECK_EQ(scope.cancel(), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSED);
    CHECK_EQ(scope.end(), 0);
    Scope second;
    second.cancel();
    second.cancel();
    CHECK_EQ(janus_nursery_state(second.get()), JANUS_NURSERY_CANCELLED);
    CHECK_EQ(second.end(), JANUS_CANCELLED);
  });
}

TEST(rules, close_and_spawn_race_without_a_lost_or_late_child) {
  on_any_workers([] {
    for (int round = 0; round < scaled(200, 20); ++round) {
      Scope spawned_in, spawners;
      std::atomic<int> spawned{0}, ran{0};
      auto child = [&] {
        ran.fetch_add(1);
        return 0;
      };
      auto spawner = [&] {
        for (int i = 0; i < 20; ++i) {
          if (spawned_in.go(child).raw == 0) return 0;
          spawned.fetch_add(1);
        }
        return 0;
      };
      for (int i = 0; i < 3; ++i) spawners.go(spawner);
      if (round % 2 != 0) janus_yield();
      CHECK_EQ(janus_nursery_close(spawned_in.get()), 0);
      CHECK_EQ(spawned_in.await(), 0);
      const int at_end = ran.load();
      CHECK_EQ(spawners.end(), 0);
      CHECK_EQ(ran.load(), at_end);  // nothing ran after its end
      CHECK_EQ(spawned.load(), at_end);
      CHECK_EQ(spawned_in.end(), 0);
    }
  });
}

TEST(rules, a_failing_grandchild_reaches_the_top_level_by_level) {
  on_any_workers([] {
    Scope outer;
    auto middle = [] {
      Scope inner;
      inner.go(return_arg, as_arg(-31));
      inner.go(park_until_cancelled, nullptr);
      return inner.end();
    };
    outer.go(middle);
    CHECK_EQ(outer.end(), -31);
  });
}

TEST(rules, collected_failures_are_counted_and_the_first_is_kept) {
  on_any_workers([] {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 10; ++i) {
      const janus_task child = scope.go(return_arg, as_arg(i % 2 != 0 ? -50 - i : 0));
      CHECK_EQ(janus_task_join(child, nullptr), 0);  // so that the children end in this order
    }
    janus_result result = {};
    CHECK_EQ(scope.end(&result), -51);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.errors, 5u);
    CHECK_EQ(result.was_cancelled, 0u);
  });
}

TEST(rules, nurseries_left_open_end_innermost_first) {
  on_any_workers([] {
    std::atomic<int> clock{0};
    int inner = 0, outer = 0;
    Scope scope;
    auto leaves_two = [&] {
      janus_nursery* const first = janus_nursery_open(nullptr, nullptr);
      janus_nursery* const second = janus_nursery_open(nullptr, nullptr);
      struct At {
        std::atomic<int>* clock;
        int* when;
      };
      static constexpr auto note = [](void* pointer) -> std::int64_t {
        const At at = *static_cast<At*>(pointer);
        janus_park(-1);
        *at.when = ++*at.clock;
        return 0;
      };
      // The children outlive this function, so their data must not be on its stack.
      auto* const ats = static_cast<At*>(janus_alloc(2 * sizeof(At)));
      ats[0] = {&clock, &outer};
      ats[1] = {&clock, &inner};
      janus_spawn_options options = {};
      options.flags = JANUS_SPAWN_RUN_CANCELLED;
      janus_nursery_spawn_in(first, note, &ats[0], &options);
      janus_nursery_spawn_in(second, note, &ats[1], &options);
      return -9;  // so they are cancelled
    };
    scope.go(leaves_two);
    CHECK_EQ(scope.end(), -9);
    CHECK_EQ(inner, 1);
    CHECK_EQ(outer, 2);
  });
}

namespace {

constexpr int kLevels = 4;

// Opens nurseries inside each other, by one of two calls as the bits of `kinds` say, yields after those of `yields`,
// and leaves all open at its end: the children record the order in which they are cancelled.
struct Leaver {
  unsigned kinds, yields;
  std::atomic<int>* clock;
  int* when;
  struct Note {
    Leaver* leaver;
    int level;
  } notes[kLevels];

  static std::int64_t note(void* pointer) {
    const Note& self = *static_cast<Note*>(pointer);
    janus_park(-1);
    self.leaver->when[self.level] = ++*self.leaver->clock;
    return 0;
  }

  std::int64_t operator()() {
    janus_spawn_options options = {};
    options.flags = JANUS_SPAWN_RUN_CANCELLED;
    for (int level = 0; level < kLevels; ++level) {
      const bool is_current = (kinds >> level & 1) != 0;
      auto* const nursery =
          is_current ? static_cast<janus_nursery*>(janus_nursery_create()) : janus_nursery_open(nullptr, nullptr);
      notes[level] = {this, level};
      janus_nursery_spawn_in(nursery, note, &notes[level], &options);
      if ((yields >> level & 1) != 0) janus_yield();
    }
    return -9;  // so they are cancelled
  }
};

}  // namespace

TEST(rules, nurseries_left_open_of_both_kinds_end_innermost_first) {
  on_any_workers([] {
    for (unsigned kinds = 0; kinds < 1u << kLevels; ++kinds) {
      for (unsigned yields : {0u, 5u, 15u}) {
        std::atomic<int> clock{0};
        int when[kLevels] = {};
        Leaver leaver = {kinds, yields, &clock, when, {}};
        Scope scope;
        scope.go(leaver);
        CHECK_EQ(scope.end(), -9);
        for (int level = 0; level < kLevels; ++level) CHECK_EQ(when[level], kLevels - level);
      }
    }
  });
}

// A cancel from outside finds current nurseries, whatever their owner is doing.
TEST(rules, a_cancel_reaches_current_nurseries_below_one_that_was_opened) {
  on_any_workers([] {
    for (int blocks = 0; blocks < 2; ++blocks) {
      Scope scope;
      auto nests = [&] {
        janus_nursery_create();
        janus_nursery_spawn(park_until_cancelled, nullptr);
        Scope inner;
        inner.go(park_until_cancelled, nullptr);
        janus_nursery_create();
        janus_nursery_spawn(yield_until_cancelled, nullptr);
        const long innermost = blocks != 0 ? janus_nursery_await_all() : yield_until_cancelled(nullptr);
        if (blocks == 0) janus_nursery_await_all();
        inner.end();
        janus_nursery_await_all();
        return static_cast<std::int64_t>(innermost);
      };
      scope.go(nests);
      for (int i = 0; i < 5; ++i) janus_yield();
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
    }
  });
}

TEST(rules, a_failure_that_nobody_read_becomes_the_result) {
  on_any_workers([] {
    Scope scope;
    auto careless = [] {
      janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
      janus_nursery_spawn_in(nursery, return_arg, as_arg(-41), nullptr);
      return 3;
    };
    scope.go(careless);
    CHECK_EQ(scope.end(), -41);
  });
}

// --- Panics and faults ---

namespace {

[[gnu::noinline]] int recurse(volatile int* depth) {
  volatile char frame[256];
  if (*depth < 0) return 0;  // never
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return recurse(depth) + frame[0];
}

enum Trouble { kOverflow, kWildWrite, kDivision, kIllegal, kPanicCall, kTroubles };

void make_trouble(int kind) {
  volatile int zero = 0;
  switch (kind) {
    case kOverflow:
      zero = recurse(&zero);
      return;
    case kWildWrite:
      *reinterpret_cast<volatile int*>(static_cast<std::uintptr_t>(zero) + 64) = 1;
      return;
    case kDivision:
      __asm__ volatile("xor %%edx, %%edx; mov $1, %%eax; divl %0" ::"m"(zero) : "eax", "edx", "cc");
      return;
    case kIllegal:
      __builtin_trap();
    default:
      janus_task_panic("as asked");
  }
}

}  // namespace

TEST(rules, a_fault_ends_one_task_and_its_nurseries_and_no_other) {
  if (kIsWatched) SKIP("the sanitizer takes faults for its own");
  on_any_workers([] {
    for (int kind = 0; kind < kTroubles; ++kind) {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      std::atomic<int> unwound{0}, began{0}, bystanders{0};
      auto child = [&] {
        began.fetch_add(1);
        const int told = janus_park(-1);
        unwound.fetch_add(1);
        return told;
      };
      auto troubled = [&] {
        janus_nursery* const outer = janus_nursery_open(nullptr, nullptr);
        janus_nursery* const inner = janus_nursery_open(nullptr, nullptr);
        for (int i = 0; i < 3; ++i) {
          janus_nursery_spawn_in(outer, call_closure<decltype(child)>, &child, nullptr);
          janus_nursery_spawn_in(inner, call_closure<decltype(child)>, &child, nullptr);
        }
        for (int i = 0; i < 100 && began.load() < 6; ++i) janus_yield();
        make_trouble(kind);
        return 0;
      };
      auto bystander = [&] {
        for (int i = 0; i < 100; ++i) janus_yield();
        bystanders.fetch_add(1);
        return 0;
      };
      for (int i = 0; i < 3; ++i) scope.go(bystander);
      const janus_task victim = scope.go(troubled);
      CHECK_EQ(janus_task_join(victim, nullptr), 0);
      CHECK_EQ(unwound.load(), began.load());
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
      CHECK_EQ(result.errors, 1u);
      CHECK_EQ(bystanders.load(), 3);
    }
  });
}

TEST(rules, a_fault_of_an_inline_child_leaves_the_parent_intact) {
  if (kIsWatched) SKIP("the sanitizer takes faults for its own");
  on_any_workers([] {
    for (int kind = 0; kind < kTroubles; ++kind) {
      volatile std::uint64_t mine[16];
      for (auto& word : mine) word = 0x1234;
      Scope scope;
      auto troubled = [&] {
        make_trouble(kind);
        return 0;
      };
      scope.go(troubled);
      CHECK_EQ(scope.end(), JANUS_PANIC);
      for (auto& word : mine) CHECK_EQ(word, 0x1234u);
    }
  });
}

TEST(rules, an_inline_child_that_moved_away_may_still_panic) {
  on_any_workers([] {
    for (int round = 0; round < 10; ++round) {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      auto troubled = [&] {
        Scope inner;
        for (int i = 0; i < 3; ++i) inner.go(park_until_cancelled, nullptr);
        for (int i = 0; i < 4; ++i) janus_yield();
        janus_task_panic("after some yields");
        return 0;
      };
      for (int i = 0; i < 4; ++i) scope.go(troubled);
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
      CHECK_EQ(result.errors, 4u);
    }
  });
}

// --- Depth ---

namespace {

std::int64_t nest(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return 0;
  janus_nursery_create();
  if (janus_nursery_spawn(nest, as_arg(left - 1)) != 0) return -9;
  return janus_nursery_await_all();
}

}  // namespace

TEST(rules, nurseries_nest_a_hundred_thousand_deep) {
  for (unsigned workers : {1u, 4u})
    CHECK_EQ(run_in(with_workers(workers), [] { return nest(as_arg(scaled(100000, 500))); }), 0);
}

TEST(rules, a_cancel_reaches_the_bottom_of_a_deep_chain) {
  run_in(with_workers(2), [] {
    struct Chain {
      std::atomic<int> reached{0};
      int depth;
      static std::int64_t go(void* pointer) {
        auto& chain = *static_cast<Chain*>(pointer);
        if (chain.reached.fetch_add(1) == chain.depth) return janus_park(-1);
        Scope scope;
        scope.go(go, pointer);
        return scope.end();
      }
    };
    Chain chain;
    chain.depth = scaled(10000, 200);
    Scope scope;
    scope.go(Chain::go, &chain);
    CHECK(eventually([&] { return chain.reached.load() > chain.depth; }));
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  });
}

// --- Late callers ---

namespace {

// An owner ends one nursery after the other while a sibling cancels the one that it was last shown.
struct Late {
  std::atomic<janus_nursery*> shown{nullptr};
  std::atomic<bool> is_over{false};
  int rounds;

  static std::int64_t own(void* pointer) {
    auto& late = *static_cast<Late*>(pointer);
    for (int i = 0; i < late.rounds; ++i) {
      late.shown.store(static_cast<janus_nursery*>(janus_nursery_create()));
      (void)janus_nursery_spawn(return_zero, nullptr);
      (void)janus_nursery_await_all();  // -1 if the cancel came in time
    }
    late.is_over.store(true);
    return 0;
  }
  static std::int64_t cancel(void* pointer) {
    auto& late = *static_cast<Late*>(pointer);
    while (!late.is_over.load()) {
      if (janus_nursery* const nursery = late.shown.load()) (void)janus_nursery_cancel(nursery);
      janus_yield();
    }
    return 0;
  }
};

}  // namespace

TEST(rules, a_late_cancel_does_not_reach_the_next_user_of_the_record) {
  for (unsigned workers : {2u, 4u}) {
    run_in(with_workers(workers), [] {
      Late late;
      late.rounds = scaled(100000, 2000);
      Scope scope;
      scope.go(Late::own, &late);
      scope.go(Late::cancel, &late);
      CHECK_EQ(scope.end(), 0);
    });
  }
}

}  // namespace janus::test
