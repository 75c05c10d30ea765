// SPDX-License-Identifier: Apache-2.0
// cap_test.cpp — tokens: what a task may do that a token confines, what derives from it, and what a revoke ends.
#include <cstring>

#include "tests/api/world.h"

using namespace janus::test;

namespace {

constexpr std::uint32_t kAll = 63;
constexpr long kGetPid = 39;

janus_nursery* open_with(janus_cap cap, janus_budget budget = {}) {
  janus_nursery_options options = {};
  options.cap = cap;
  options.budget = budget;
  options.on_error = JANUS_ON_ERROR_COLLECT;
  return janus_nursery_open(nullptr, &options);
}

janus_task spawn_with(janus_nursery* nursery, janus_cap cap, janus_task_fn fn, void* arg = nullptr) {
  janus_spawn_options options = {};
  options.cap = cap;
  return janus_nursery_spawn_in(nursery, fn, arg, &options);
}

janus_cap derive(janus_cap from, std::uint32_t rights, janus_budget limit = {}) {
  return janus_cap_derive(from, rights, limit);
}

// Runs `body` as the only task of a nursery that carries `cap`.
template <class Body>
long run_with(janus_cap cap, Body body, janus_budget budget = {}) {
  janus_nursery* const nursery = open_with(cap, budget);
  if (!CHECK(nursery != nullptr)) return JANUS_E_INVALID;
  CHECK(janus_nursery_spawn_in(nursery, call_closure<Body>, &body, nullptr).raw != 0);
  return end(nursery);
}

bool can_spawn() {
  janus_nursery_create();
  const bool can = janus_nursery_spawn(return_zero, nullptr) == 0;
  if (!can) CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_nursery_await_all(), 0);
  return can;
}

bool can_fork() {
  janus_result results[2];
  const long code = janus_fork_join(return_zero, nullptr, return_zero, nullptr, results);
  CHECK(code == 0 || code == JANUS_E_NO_CAP);
  return code == 0;
}

bool can_call() {
  const std::int64_t answer = janus_syscall(kGetPid);
  return answer != JANUS_E_NO_CAP;
}

// Both profiles in which everything is implicit, and one in which nothing is.
template <class Body>
void in_each_profile(Body body) {
  for (const std::uint32_t profile : {JANUS_PROFILE_SERVICE, JANUS_PROFILE_CLUSTER, JANUS_PROFILE_SOVEREIGN})
    for (const unsigned workers : {1u, 2u, 4u}) {
      janus_rt_config config = workers == 4 ? deterministic(4, 3) : with_workers(workers);
      config.profile = profile;
      run_in(config, [&] { body(profile); });
    }
}

// ---- What a token gives ---------------------------------------------------------------------------------------------

TEST(cap, without_one_all_is_implicit_but_in_sovereign_where_nothing_is) {
  in_each_profile([](std::uint32_t profile) {
    const bool may = profile != JANUS_PROFILE_SOVEREIGN;
    CHECK_EQ(can_spawn(), may);
    CHECK_EQ(can_fork(), may);
    CHECK_EQ(can_call(), may);
    CHECK_EQ(janus_budget_recharge({1, 0, 0, 0, 0}), may ? 0 : JANUS_E_NO_CAP);
    janus_nursery* const nursery = open_nursery();
    CHECK_EQ(spawn(nursery, return_zero).raw != 0, may);
    if (!may) CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    CHECK_EQ(janus_nursery_recharge(nursery, {}), may ? 0 : JANUS_E_NO_CAP);
    CHECK_EQ(janus_budget_grant64(nursery, JANUS_COMPONENT_OPS, 0), may ? 0 : JANUS_E_NO_CAP);
    CHECK_EQ(end(nursery), 0);
    CHECK_EQ(derive({}, kAll).raw != 0, may);  // what one has not cannot be passed on
  });
}

TEST(cap, a_nursery_gives_its_tasks_the_rights_of_its_token_and_no_others) {
  in_each_profile([](std::uint32_t) {
    const janus_cap root = janus_cap_root(nullptr);
    for (std::uint32_t rights = 0; rights < 8; ++rights) {
      const janus_cap cap = derive(root, rights | JANUS_CAP_SPAWN);
      // The child is spawned by the right of its nursery, or else of the token that it is given.
      janus_nursery* const nursery = open_with(derive(root, rights));
      auto body = [rights] {
        CHECK_EQ(can_spawn(), (rights & JANUS_CAP_SPAWN) != 0);
        CHECK_EQ(can_fork(), (rights & JANUS_CAP_SPAWN) != 0);
        CHECK_EQ(can_call(), (rights & JANUS_CAP_SYSCALL) != 0);
        CHECK_EQ(janus_budget_recharge({}), (rights & JANUS_CAP_BUDGET) != 0 ? 0 : JANUS_E_NO_CAP);
      };
      const janus_task refused = janus_nursery_spawn_in(nursery, call_closure<decltype(body)>, &body, nullptr);
      CHECK_EQ(refused.raw != 0, (rights & JANUS_CAP_SPAWN) != 0);
      CHECK(spawn_with(nursery, cap, return_zero).raw != 0);
      CHECK_EQ(end(nursery), 0);
    }
  });
}

// In what they open themselves, too, however deep, and on the fast paths.
TEST(cap, what_confined_tasks_open_confines_as_well) {
  in_each_profile([](std::uint32_t) {
    const janus_cap cap = derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN);
    run_with(cap, [] {
      auto deeper = [] {
        CHECK(!can_call());
        auto deepest = [] { CHECK(!can_call()); };
        janus_nursery_create();
        for (int i = 0; i < 10; ++i) CHECK_EQ(janus_nursery_spawn(call_closure<decltype(deepest)>, &deepest), 0);
        CHECK_EQ(janus_nursery_await_all(), 0);
        janus_result results[2];
        CHECK_EQ(janus_fork_join(call_closure<decltype(deepest)>, &deepest, call_closure<decltype(deepest)>, &deepest,
                                 results),
                 0);
        Scope scope;
        scope.go(deepest);
        CHECK_EQ(scope.end(), 0);
        Scope cage(0, 0, budget_of(100000));
        cage.go(deepest);
        CHECK_EQ(cage.end(), 0);
      };
      janus_nursery_create();
      CHECK_EQ(janus_nursery_spawn(call_closure<decltype(deeper)>, &deeper), 0);
      CHECK_EQ(janus_nursery_await_all(), 0);
    });
  });
}

TEST(cap, a_child_may_have_a_token_of_its_own) {
  in_each_profile([](std::uint32_t) {
    const janus_cap root = janus_cap_root(nullptr);
    const janus_cap all = derive(root, kAll), few = derive(root, JANUS_CAP_SYSCALL);
    janus_nursery* const nursery = open_with(all);
    auto body = [] {
      CHECK(can_call());
      CHECK(!can_spawn());
      CHECK(!can_fork());
    };
    CHECK(spawn_with(nursery, few, call_closure<decltype(body)>, &body).raw != 0);
    janus_spawn_options options = {};
    options.cap = few;
    options.name = "named";
    options.budget = budget_of(100000);
    CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(body)>, &body, &options).raw != 0);
    CHECK_EQ(end(nursery), 0);
  });
}

// A task that never starts has not used its token, which is given back.
TEST(cap, a_task_that_never_starts_gives_its_token_back) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1000000));
    auto body = [] {
      const std::size_t before = janus_budget_get_current().memory;
      for (int i = 0; i < 10; ++i) {
        const janus_cap cap = derive({}, kAll);
        janus_nursery* const nursery = open_nursery();
        CHECK(spawn_with(nursery, cap, return_zero).raw != 0);
        janus_nursery_cancel(nursery);
        end(nursery);
        CHECK_LT(janus_budget_get_current().memory, before);
        CHECK_EQ(janus_cap_revoke(cap), 0);
        CHECK_EQ(janus_budget_get_current().memory, before);
      }
    };
    cage.go(body);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(cap, a_cage_has_no_right_to_end_the_process_that_was_not_presented_to_it) {
  in_each_profile([](std::uint32_t) {
    const janus_cap root = janus_cap_root(nullptr);
    const auto leave = [](void*) -> std::int64_t { janus_exit(7); };
    janus_result result;
    const auto panics = [&](janus_nursery* nursery) {
      CHECK(spawn_with(nursery, {}, leave).raw != 0);
      end(nursery, &result);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_MISUSE);
    };
    panics(open_with(derive(root, kAll & ~JANUS_CAP_EXIT)));
    panics(open_with(derive(root, kAll & ~JANUS_CAP_EXIT), budget_of(100000)));
    // The nursery around the cage has the right, but the cage is one.
    run_with(derive(root, kAll), [&] { panics(open_nursery(JANUS_ON_ERROR_COLLECT, 0, budget_of(100000))); });
    // What the cage derives from what it has gives no more.
    run_with(derive(root, kAll), [&] {
      janus_nursery* const cage = open_nursery(JANUS_ON_ERROR_COLLECT, 0, budget_of(100000));
      auto derives = [&]() -> std::int64_t {
        panics(open_with(derive({0}, 63)));
        return 0;
      };
      CHECK(spawn(cage, call_closure<decltype(derives)>, &derives).raw != 0);
      end(cage);
    });
  });
}

TEST(cap, a_cage_has_nothing_of_a_limit_that_was_not_presented_to_it) {
  in_each_profile([](std::uint32_t) {
    const janus_cap cap = derive(janus_cap_root(nullptr), kAll, {1'000'000, 1 << 20, 10, 10, 10});
    run_with(cap, [] {
      janus_nursery* const cage = open_nursery(JANUS_ON_ERROR_COLLECT, 0, budget_of(100000));
      auto takes = []() -> std::int64_t {
        const janus_budget before = janus_budget_get_current();
        (void)janus_budget_recharge({1000, 0, 0, 0, 0});
        CHECK_LE(janus_budget_get_current().ops, before.ops);
        CHECK_EQ(derive({0}, kAll, {500'000, 0, 0, 0, 0}).raw, 0u);  // more than the cage has
        return 0;
      };
      CHECK(spawn(cage, call_closure<decltype(takes)>, &takes).raw != 0);
      CHECK_EQ(end(cage), 0);
    });
  });
}

TEST(cap, a_limit_is_only_given_on_by_those_who_may_recharge_from_it) {
  in_each_profile([](std::uint32_t) {
    const janus_cap cap = derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN, {1000, 0, 0, 0, 0});
    CHECK_EQ(derive(cap, kAll, {10, 0, 0, 0, 0}).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    CHECK_NE(derive(cap, kAll).raw, 0u);
    run_with(cap, [] {
      CHECK_EQ(derive({0}, 0, {10, 0, 0, 0, 0}).raw, 0u);
      CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    });
    // Also where the task spends from what has no limit, it may not say that it has more than its token's.
    const janus_cap few = derive(janus_cap_root(nullptr), kAll, {100, 0, 0, 0, 0});
    run_with(few, [] { CHECK_EQ(janus_budget_recharge({1'000'000, 0, 0, 0, 0}), JANUS_E_BUDGET); });
  });
}

TEST(cap, no_confined_task_spawns_beyond_what_confines_it) {
  in_each_profile([](std::uint32_t profile) {
    const janus_cap root = janus_cap_root(nullptr);
    const janus_cap wide = derive(root, kAll);
    const janus_cap narrow = derive(wide, JANUS_CAP_SPAWN), below = derive(narrow, JANUS_CAP_SPAWN);
    janus_nursery* const outer = open_nursery();  // in sovereign: without rights
    janus_nursery* const of_wide = open_with(wide);
    janus_nursery* const of_below = open_with(below);
    run_with(narrow, [&] {
      for (janus_nursery* beyond : {outer, of_wide}) {
        CHECK_EQ(janus_nursery_spawn_in(beyond, return_zero, nullptr, nullptr).raw, 0u);
        CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
      }
      CHECK(janus_nursery_spawn_in(of_below, return_zero, nullptr, nullptr).raw != 0);
      // Nor by a token that it was told of: the child would be the nursery's.
      CHECK_EQ(spawn_with(of_wide, narrow, return_zero).raw, 0u);
    });
    (void)profile;
    for (janus_nursery* nursery : {outer, of_wide, of_below}) CHECK_EQ(end(nursery), 0);
  });
}

TEST(cap, where_a_grant_of_0_and_a_token_speak_both_must_allow) {
  in_each_profile([](std::uint32_t) {
    const janus_cap all = derive(janus_cap_root(nullptr), kAll);
    run_with(all, [] { CHECK(!can_call()); }, {100000, 1 << 20, 1, 0, 0});
    janus_nursery* const cage = open_with(all, {100000, 1 << 20, 0, 0, 0});
    CHECK_EQ(janus_nursery_spawn_in(cage, return_zero, nullptr, nullptr).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    CHECK_EQ(end(cage), 0);
  });
}

// ---- Deriving -------------------------------------------------------------------------------------------------------

TEST(cap, what_is_derived_has_no_more_rights) {
  run_in(with_workers(2), [] {
    const janus_cap few = derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN);
    const janus_cap wider = derive(few, 0xffffffff);
    CHECK_NE(wider.raw, 0u);
    run_with(wider, [] {
      CHECK(can_spawn());
      CHECK(!can_call());
      const janus_cap own = derive({}, 0xffffffff);
      CHECK_NE(own.raw, 0u);
      run_with(own, [] { CHECK(!can_call()); });
    });
  });
}

TEST(cap, at_most_16_derive_one_from_the_other) {
  run_in(with_workers(1), [] {
    janus_cap cap = janus_cap_root(nullptr);
    for (int i = 0; i < 16; ++i) {
      cap = derive(cap, kAll);
      CHECK_NE(cap.raw, 0u);
    }
    CHECK_EQ(derive(cap, kAll).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    run_with(cap, [] {
      CHECK(can_spawn());
      CHECK_EQ(derive({}, kAll).raw, 0u);
    });
  });
}

TEST(cap, what_a_task_has_derived_ends_with_it) {
  run_in(with_workers(2), [] {
    janus_cap left = {};
    janus_cap below = {};
    auto body = [&] {
      left = derive({}, kAll);
      run_with(left, [] { CHECK(can_spawn()); });
      return std::int64_t{0};
    };
    Scope scope;
    scope.go(body);
    CHECK_EQ(scope.await(), 0);
    CHECK_NE(left.raw, 0u);
    CHECK(open_with(left) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    below = derive(left, kAll);
    CHECK_EQ(below.raw, 0u);
    CHECK_EQ(janus_cap_revoke(left), JANUS_E_NO_CAP);
    scope.end();
  });
}

// Nurseries that it left open are awaited first: their tasks have what they were given.
TEST(cap, it_ends_after_the_nurseries_that_the_task_has_left_open) {
  run_in(with_workers(1), [] {
    std::atomic<int> spawned{0};
    auto child = [&] {
      janus_yield();
      if (can_spawn()) ++spawned;
    };
    auto body = [&] {
      janus_nursery* const nursery = open_with(derive({}, kAll));
      CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(child)>, &child, nullptr).raw != 0);
    };
    Scope scope;
    scope.go(body);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(spawned.load(), 1);
  });
}

// ---- Revoking -------------------------------------------------------------------------------------------------------

TEST(cap, a_revoke_ends_a_token_and_all_that_derive_from_it_at_once) {
  in_each_profile([](std::uint32_t) {
    const janus_cap root = janus_cap_root(nullptr);
    const janus_cap other = derive(root, kAll);
    janus_cap chain[8];
    janus_nursery* carriers[8];
    for (int i = 0; i < 8; ++i) {
      chain[i] = derive(i == 0 ? root : chain[i - 1], kAll);
      carriers[i] = open_with(chain[i]);
      CHECK(spawn_with(carriers[i], {}, return_zero).raw != 0);
    }
    CHECK_EQ(janus_cap_revoke(chain[3]), 0);
    for (int i = 0; i < 8; ++i) {
      CHECK_EQ(spawn_with(carriers[i], {}, return_zero).raw != 0, i < 3);
      if (janus_nursery* const nursery = open_with(chain[i])) {
        CHECK_LT(i, 3);
        CHECK_EQ(end(nursery), 0);
      }
      CHECK_EQ(derive(chain[i], kAll).raw != 0, i < 3);
    }
    for (int i = 3; i < 8; ++i) CHECK_EQ(janus_cap_revoke(chain[i]), JANUS_E_NO_CAP);
    run_with(other, [] { CHECK(can_spawn()); });
    for (janus_nursery* carrier : carriers) CHECK_EQ(end(carrier), 0);
  });
}

TEST(cap, whoever_was_spawned_before_a_revoke_goes_on) {
  in_each_profile([](std::uint32_t) {
    const janus_cap cap = derive(janus_cap_root(nullptr), kAll);
    std::atomic<bool> is_revoked{false}, has_begun{false};
    janus_nursery* const nursery = open_with(cap);
    auto body = [&] {
      CHECK(can_spawn());
      CHECK(can_call());
      has_begun = true;
      CHECK(eventually([&] { return is_revoked.load(); }));
      CHECK(!can_spawn());
      CHECK(!can_fork());
      CHECK(!can_call());
      CHECK_EQ(janus_budget_recharge({}), JANUS_E_NO_CAP);
      void* const block = janus_alloc(100);  // what needs no token goes on
      CHECK(block != nullptr);
      janus_free(block);
      return std::int64_t{5};
    };
    const janus_task task = janus_nursery_spawn_in(nursery, call_closure<decltype(body)>, &body, nullptr);
    CHECK(eventually([&] { return has_begun.load(); }));
    CHECK_EQ(janus_cap_revoke(cap), 0);
    is_revoked = true;
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    CHECK_EQ(value, 5);
    CHECK_EQ(end(nursery), 0);
  });
}

TEST(cap, the_root_token_may_be_given_up_for_good) {
  in_each_profile([](std::uint32_t profile) {
    const janus_cap root = janus_cap_root(nullptr);
    CHECK_EQ(janus_cap_root(nullptr).raw, root.raw);
    const janus_cap cap = derive(root, kAll);
    CHECK_EQ(janus_cap_revoke(root), 0);
    CHECK_EQ(janus_cap_root(nullptr).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
    CHECK(open_with(cap) == nullptr);
    CHECK_EQ(janus_cap_revoke(root), JANUS_E_NO_CAP);
    CHECK_EQ(can_spawn(), profile != JANUS_PROFILE_SOVEREIGN);
  });
}

// Spawns that come after the end of the revoke are refused, whichever worker they are on.
TEST(cap, a_revoke_in_flight_with_a_thousand_spawns) {
  on_any_workers([] {
    const janus_cap root = janus_cap_root(nullptr);
    for (int round = 0; round < scaled(20, 2); ++round) {
      const janus_cap top = derive(root, kAll);
      const janus_cap cap = derive(derive(top, kAll), kAll);
      std::atomic<bool> is_revoked{false};
      std::atomic<int> ended{0}, made{0}, late{0};
      auto storm = [&] {
        for (int i = 0; i < 250; ++i) {
          janus_nursery_create();
          const bool was_revoked = is_revoked.load();
          if (janus_nursery_spawn(count_up, &ended) == 0) {
            ++made;
            if (was_revoked) ++late;
          }
          janus_nursery_await_all();
        }
      };
      janus_nursery* const nursery = open_with(cap);
      for (int i = 0; i < 4; ++i)
        CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(storm)>, &storm, nullptr).raw != 0);
      for (int i = 0; i < round; ++i) janus_yield();
      CHECK_EQ(janus_cap_revoke(top), 0);
      is_revoked = true;
      CHECK_EQ(end(nursery), 0);
      CHECK_EQ(late.load(), 0);
      CHECK_EQ(ended.load(), made.load());
    }
  });
}

// ---- Limits ---------------------------------------------------------------------------------------------------------

TEST(cap, a_recharge_takes_from_the_limit_of_the_token) {
  in_each_profile([](std::uint32_t) {
    const janus_cap root = janus_cap_root(nullptr);
    const janus_cap cap = derive(root, kAll, {50000, 1 << 20, 10, 10, 10});
    CHECK_NE(cap.raw, 0u);
    run_with(cap,
             [] {
               const janus_budget before = janus_budget_get_current();
               CHECK_EQ(janus_budget_recharge({20000, 4096, 3, 4, 5}), 0);
               const janus_budget after = janus_budget_get_current();
               CHECK_GE(after.ops, before.ops + 19000);
               CHECK_EQ(after.memory, before.memory + 4096);
               CHECK_EQ(after.spawn_count, before.spawn_count + 3);
               CHECK_EQ(after.channel_ops, before.channel_ops + 4);
               CHECK_EQ(after.syscalls, before.syscalls + 5);
               CHECK(can_call());
               CHECK_EQ(janus_budget_recharge({40000, 0, 0, 0, 0}), JANUS_E_BUDGET);  // all or nothing
               CHECK_EQ(janus_budget_recharge({0, 0, 8, 0, 0}), JANUS_E_BUDGET);
               CHECK_EQ(janus_budget_recharge({30000, 0, 7, 0, 0}), 0);
               CHECK_EQ(janus_budget_recharge({1, 0, 0, 0, 0}), JANUS_E_BUDGET);
             },
             {100000, 1 << 20, 5, 5, 0});
  });
}

TEST(cap, a_limit_comes_out_of_the_limit_above_and_goes_back) {
  in_each_profile([](std::uint32_t) {
    const janus_cap top = derive(janus_cap_root(nullptr), kAll, {1000, 0, 0, 0, 0});
    CHECK_EQ(derive(top, kAll, {1001, 0, 0, 0, 0}).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    CHECK_EQ(derive(top, kAll, {0, 0, 0, 0, 1}).raw, 0u);
    const janus_cap half = derive(top, kAll, {600, 0, 0, 0, 0});
    CHECK_NE(half.raw, 0u);  // it is paid for by who derives it, not out of a limit without memory
    CHECK_EQ(derive(top, kAll, {500, 0, 0, 0, 0}).raw, 0u);
    const janus_cap all_of_half = derive(half, kAll, JANUS_BUDGET_ALL);
    CHECK_NE(all_of_half.raw, 0u);
    CHECK_EQ(derive(half, kAll, {1, 0, 0, 0, 0}).raw, 0u);
    CHECK_EQ(janus_cap_revoke(all_of_half), 0);
    CHECK_EQ(janus_cap_revoke(half), 0);
    CHECK_NE(derive(top, kAll, {1000, 0, 0, 0, 0}).raw, 0u);
  });
}

// One without a limit of its own shares that above it.
TEST(cap, a_token_without_a_limit_shares_that_above) {
  run_in(with_workers(2), [] {
    const janus_cap top = derive(janus_cap_root(nullptr), kAll, {1000, 0, 0, 0, 0});
    const janus_cap shared = derive(top, kAll);
    const janus_budget budget = {100000, 1 << 20, 5, 5, 0};
    run_with(
        shared,
        [] {
          CHECK_EQ(janus_budget_recharge({600, 0, 0, 0, 0}), 0);
        },
        budget);
    run_with(
        top,
        [] {
          CHECK_EQ(janus_budget_recharge({600, 0, 0, 0, 0}), JANUS_E_BUDGET);
        },
        budget);
    run_with(
        top,
        [] {
          CHECK_EQ(janus_budget_recharge({400, 0, 0, 0, 0}), 0);
        },
        budget);
  });
}

TEST(cap, a_limit_that_several_draw_at_once_is_given_out_once) {
  on_any_workers([] {
    const janus_cap cap = derive(janus_cap_root(nullptr), kAll, {0, 0, 0, 1000, 0});
    std::atomic<int> drawn{0};
    auto body = [&] {
      for (int i = 0; i < 400; ++i) {
        if (janus_budget_recharge({0, 0, 0, 1, 0}) == 0) ++drawn;
        janus_yield();
      }
    };
    janus_nursery* nurseries[4];
    for (janus_nursery*& nursery : nurseries) {
      nursery = open_with(cap, {1000000, 1 << 20, 10, 1, 0});
      CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(body)>, &body, nullptr).raw != 0);
    }
    for (janus_nursery* nursery : nurseries) CHECK_EQ(end(nursery), 0);
    CHECK_EQ(drawn.load(), 1000);
  });
}

// A task without a token derives out of its own budget.
TEST(cap, a_cage_derives_out_of_its_own_budget) {
  run_in(with_workers(2), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, {100000, 1 << 20, 10, 10, 0});
    auto body = [] {
      CHECK_EQ(derive({}, kAll, {0, 0, 0, 11, 0}).raw, 0u);
      CHECK_EQ(derive({}, kAll, {0, 0, 0, 0, 1}).raw, 0u);
      const janus_cap cap = derive({}, kAll, {0, 0, 0, 7, 0});
      CHECK_NE(cap.raw, 0u);
      CHECK_EQ(janus_budget_get_current().channel_ops, 3);
      CHECK_EQ(janus_cap_revoke(cap), 0);
      CHECK_EQ(janus_budget_get_current().channel_ops, 10);
      const janus_cap rights = derive({}, kAll);
      janus_result result;
      janus_nursery* const inner = open_with(rights);
      CHECK(spawn_with(inner, {}, [](void*) -> std::int64_t { janus_exit(1); }).raw != 0);
      end(inner, &result);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);  // a cage has no right to leave that it could pass on
    };
    cage.go(body);
    CHECK_EQ(cage.end(), 0);
  });
}

// What the limits of all tokens have, and what was recharged from them, adds up to what the first was given, whatever is
// derived, revoked and recharged in whichever order.
TEST(cap, limits_neither_grow_nor_are_lost) {
  on_any_workers([] {
    constexpr std::uint32_t kGiven = 60000;
    const janus_cap top = derive(janus_cap_root(nullptr), kAll, {0, 0, 0, kGiven, 0});
    std::atomic<std::uint32_t> recharged{0};
    std::atomic<unsigned> seeds{0};
    auto body = [&] {
      Dice dice(++seeds);
      janus_cap caps[12] = {top};
      unsigned count = 1;
      for (int i = 0; i < scaled(300, 60); ++i) {
        const unsigned which = dice.below(count);
        const std::uint16_t amount = static_cast<std::uint16_t>(dice.below(3000));
        if (dice.below(3) == 0 && which != 0) {
          janus_cap_revoke(caps[which]);  // those below may be in the list, and be refused
          caps[which] = caps[--count];
        } else if (dice.below(2) == 0 && count < 12) {
          const janus_cap below =
              derive(caps[which], kAll, dice.below(4) == 0 ? janus_budget{} : janus_budget{0, 0, 0, amount, 0});
          if (below.raw != 0) caps[count++] = below;
        } else if (janus_nursery* const nursery = open_with(caps[which], {100000, 1 << 20, 4, 1, 0})) {
          auto draw = [&] {
            const std::uint16_t part = amount / 8;
            if (janus_budget_recharge({0, 0, 0, part, 0}) == 0) recharged += part;
          };
          spawn_with(nursery, {}, call_closure<decltype(draw)>, &draw);
          end(nursery);
        }
      }
      for (unsigned i = 1; i < count; ++i) janus_cap_revoke(caps[i]);
    };
    Scope scope;
    for (int i = 0; i < 4; ++i) scope.go(body);
    CHECK_EQ(scope.end(), 0);
    // All that derive from it have ended, so the rest is in the first again.
    const std::uint32_t rest = kGiven - recharged.load();
    CHECK_EQ(derive(top, kAll, {0, 0, 0, static_cast<std::uint16_t>(rest + 1), 0}).raw, 0u);
    CHECK_NE(derive(top, kAll, {0, 0, 0, static_cast<std::uint16_t>(rest), 0}).raw, 0u);
  });
}

// ---- Bad tokens -----------------------------------------------------------------------------------------------------

void expect_refused(janus_cap bad) {
  CHECK(open_with(bad) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  janus_nursery* const nursery = open_nursery();
  CHECK_EQ(spawn_with(nursery, bad, return_zero).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(derive(bad, kAll).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_CAP);
  CHECK_EQ(janus_cap_revoke(bad), JANUS_E_NO_CAP);
}

TEST(cap, forged_stale_and_revoked_ones_are_refused_by_each_call) {
  in_each_profile([](std::uint32_t) {
    expect_refused({1});
    const janus_cap root = janus_cap_root(nullptr);
    expect_refused({1});
    expect_refused({root.raw ^ std::uint64_t{1} << 40});
    expect_refused({root.raw + 1});
    expect_refused({~std::uint64_t{0}});
    const janus_cap revoked = derive(root, kAll), below = derive(revoked, kAll);
    CHECK_EQ(janus_cap_revoke(revoked), 0);
    expect_refused(revoked);
    expect_refused(below);
    const janus_cap next = derive(root, kAll);  // in the record of the first, maybe
    expect_refused(revoked);
    CHECK_EQ(janus_cap_revoke(next), 0);
    CHECK_EQ(janus_cap_revoke({}), JANUS_E_INVALID);
  });
}

TEST(cap, those_of_other_runtimes_are_refused) {
  janus_rt_config config = with_workers(1);
  janus_rt* const other = janus_rt_create(&config);
  if (!CHECK(other != nullptr)) return;
  const janus_cap foreign = janus_cap_root(other);
  CHECK_NE(foreign.raw, 0u);
  run_in(config, [&] {
    expect_refused(foreign);
    CHECK_EQ(janus_cap_root(other).raw, 0u);
  });
  janus_rt_destroy(other);
  run_in(config, [&] { expect_refused(foreign); });
  CHECK_EQ(janus_cap_revoke(foreign), JANUS_E_NO_CAP);
  CHECK_EQ(derive(foreign, kAll).raw, 0u);
}

// The cage that has paid for it, and whose budget it had a part of, ends while a nursery outside still carries it.
TEST(cap, one_that_outlives_its_account_gives_nothing) {
  run_in(with_workers(2), [] {
    const std::size_t before = janus_budget_get_current().memory;
    for (int round = 0; round < scaled(100, 5); ++round) {
      std::atomic<std::uint64_t> given{0};
      std::atomic<bool> may_end{false};
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, {1000000, 1 << 20, 10, 100, 0});
      auto body = [&] {
        given = derive({}, kAll, {0, 0, 0, 50, 0}).raw;
        CHECK(eventually([&] { return may_end.load(); }));
      };
      cage.go(body);
      CHECK(eventually([&] { return given.load() != 0; }));
      janus_nursery* const carrier = open_with({given.load()}, {100000, 1 << 20, 10, 1, 0});
      auto draw = [] { CHECK_EQ(janus_budget_recharge({0, 0, 0, 20, 0}), 0); };
      const janus_task drawer = janus_nursery_spawn_in(carrier, call_closure<decltype(draw)>, &draw, nullptr);
      CHECK_EQ(janus_task_join(drawer, nullptr), 0);
      std::atomic<bool> has_ended{false};
      auto waits = [&] {
        CHECK(eventually([&] { return has_ended.load(); }));
        CHECK_EQ(janus_budget_recharge({0, 0, 0, 1, 0}), JANUS_E_NO_CAP);
      };
      CHECK(janus_nursery_spawn_in(carrier, call_closure<decltype(waits)>, &waits, nullptr).raw != 0);
      may_end = true;
      CHECK_EQ(cage.end(), 0);
      has_ended = true;
      CHECK(open_with({given.load()}) == nullptr);
      CHECK_EQ(end(carrier), 0);
    }
    CHECK_LE(before - janus_budget_get_current().memory, std::size_t{256} << 10);
  });
}

// ---- From outside ---------------------------------------------------------------------------------------------------

// The maker of a runtime gives its tasks tokens, and takes them away.
TEST(cap, the_maker_of_a_runtime_gives_tokens) {
  for (const std::uint32_t profile : {JANUS_PROFILE_SERVICE, JANUS_PROFILE_SOVEREIGN}) {
    janus_rt_config config = with_workers(2);
    config.profile = profile;
    janus_rt* const rt = janus_rt_create(&config);
    if (!CHECK(rt != nullptr)) return;
    const janus_cap cap = derive(janus_cap_root(rt), JANUS_CAP_SPAWN, {1000, 0, 0, 0, 0});
    CHECK_NE(cap.raw, 0u);
    CHECK_EQ(derive({}, kAll).raw, 0u);
    auto body = [cap] {
      run_with(cap, [] { CHECK(can_spawn()); });
      return std::int64_t{3};
    };
    CHECK_EQ(janus_rt_run(rt, call_closure<decltype(body)>, &body), 3);
    janus_nursery_options options = {};
    janus_nursery* const plain = janus_nursery_open(rt, &options);
    CHECK_EQ(janus_nursery_spawn_in(plain, return_zero, nullptr, nullptr).raw != 0, profile == JANUS_PROFILE_SERVICE);
    options.cap = cap;
    janus_nursery* const carrier = janus_nursery_open(rt, &options);
    CHECK(janus_nursery_spawn_in(carrier, return_zero, nullptr, nullptr).raw != 0);
    CHECK_EQ(janus_cap_revoke(cap), 0);
    CHECK_EQ(janus_nursery_spawn_in(carrier, return_zero, nullptr, nullptr).raw, 0u);
    CHECK_EQ(end(plain), 0);
    CHECK_EQ(end(carrier), 0);
    janus_rt_destroy(rt);
  }
}

// ---- What tokens cost -----------------------------------------------------------------------------------------------

TEST(cap, a_cage_pays_for_what_it_derives_and_gets_it_back) {
  run_in(with_workers(2), [] {
    const std::size_t before = janus_budget_get_current().memory;
    for (int round = 0; round < scaled(50, 5); ++round) {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(10000000, 512 << 10));
      auto body = [] {
        unsigned derived = 0;
        while (derive({}, kAll, {1, 0, 0, 0, 0}).raw != 0) ++derived;
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_GT(derived, 100u);
        CHECK_LT(derived, 4000u);
      };
      cage.go(body);
      CHECK_EQ(cage.end(), 0);
    }
    CHECK_LE(before - janus_budget_get_current().memory, std::size_t{512} << 10);
  });
}

}  // namespace
