// SPDX-License-Identifier: Apache-2.0
// Records, tables and names are paid for while they live.
#include "tests/api/world.h"
#include "tests/harness/bounded_list.h"

namespace janus::test {

namespace {

TEST(records, the_root_task_has_the_budget_that_the_settings_give_it) {
  janus_rt_config config = with_workers(1);
  config.root_budget = budget_of(5000, 3'000'000);
  config.root_budget.spawn_count = 7;
  const long result = run_in(config, [] {
    const janus_budget at_first = janus_budget_get_current();
    CHECK_LE(at_first.ops, 5000u);
    CHECK_GT(at_first.ops, 4900u);
    CHECK_LE(at_first.memory, 3'000'000u);
    CHECK_GT(at_first.memory, 1'000'000u);
    CHECK_EQ(at_first.spawn_count, 7u);
    janus_yield_check(100);
    CHECK_LE(janus_budget_get_current().ops, at_first.ops - 100);
    Scope scope;
    for (int i = 0; i < 7; ++i) CHECK_NE(scope.go(return_zero, nullptr).raw, 0u);
    CHECK_EQ(janus_budget_get_current().spawn_count, 0u);
    CHECK_EQ(scope.end(), 0);
    return 3;
  });
  CHECK_EQ(result, 3);
}

TEST(records, records_and_tables_are_paid_for_while_they_live) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(10'000'000, 200'000));
    auto child = [] {
      const std::size_t before = janus_budget_get_current().memory;
      static BoundedList<janus_nursery*, 2000> nurseries;
      while (janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr)) nurseries.add(nursery);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_LE(nurseries.size(), 200'000 / 128);
      for (janus_nursery* nursery : nurseries) {
        CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
        CHECK_EQ(janus_nursery_destroy(nursery), 0);
      }
      CHECK_EQ(janus_budget_get_current().memory, before);
      static BoundedList<janus_channel*, 2000> channels;
      while (janus_channel* const channel = janus_channel_create(1, 0)) channels.add(channel);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_LE(channels.size(), 200'000 / 128);
      for (janus_channel* channel : channels) janus_channel_release(channel);
      CHECK_EQ(janus_budget_get_current().memory, before);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(records, a_spawn_or_a_record_beyond_the_budget_ends_the_task_under_fail_alone) {
  for (const std::uint32_t policy : {JANUS_ON_EXHAUSTION_SUSPEND, JANUS_ON_EXHAUSTION_FAIL, JANUS_ON_EXHAUSTION_DENY}) {
    const long expected = policy == JANUS_ON_EXHAUSTION_FAIL ? JANUS_BUDGET_EXCEEDED : 7;
    run_in(with_workers(1), [&] {
      auto nothing = [] { return 0; };
      auto spawns = [&] {
        Scope scope;
        for (int i = 0; i < 3; ++i) scope.go(nothing);
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_EQ(scope.end(), 0);
        return 7;
      };
      auto opens = [] {
        while (janus_nursery_open(nullptr, nullptr) != nullptr) {
        }
        return 7;
      };
      auto creates = [] {
        while (janus_channel_create(8, 0) != nullptr) {
        }
        return 7;
      };
      // A task that spawns into its own cage does not end when the cage's budget is exhausted.
      auto feeds_a_cage = [&] {
        janus_budget two = budget_of(1000, 200'000);
        two.spawn_count = 2;
        Scope inner(JANUS_ON_ERROR_COLLECT, policy, two);
        for (int i = 0; i < 3; ++i) inner.go(nothing);
        CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
        CHECK_EQ(inner.end(), 0);
        return 7;
      };
      const auto in_cage = [&](auto& body, long result) {
        janus_budget budget = budget_of(100'000, 1'000'000);
        budget.spawn_count = 3;
        Scope cage(JANUS_ON_ERROR_COLLECT, policy, budget);
        const janus_task task = cage.go(body);
        std::int64_t seen = 0;
        const int joined = janus_task_join(task, &seen);
        CHECK_EQ(joined < 0 ? joined : seen, result);
        (void)cage.end();
      };
      in_cage(spawns, expected);
      in_cage(opens, expected);
      in_cage(creates, expected);
      in_cage(feeds_a_cage, 7);
    });
  }
}

TEST(records, a_name_is_paid_for_while_its_task_lives_and_done_without_where_nothing_is_left) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(10'000'000, 200'000));
    auto names_itself = [] {
      const std::size_t before = janus_budget_get_current().memory;
      CHECK_EQ(janus_task_set_name("one"), 0);
      CHECK_EQ(janus_budget_get_current().memory, before - 32);
      CHECK_EQ(janus_task_set_name("another"), 0);
      CHECK_EQ(janus_budget_get_current().memory, before - 32);
      return 0;
    };
    auto child = [&] {
      const std::size_t before = janus_budget_get_current().memory;
      for (int i = 0; i < 10; ++i) {
        Scope scope;
        scope.go(names_itself);
        CHECK_EQ(scope.end(), 0);
      }
      CHECK_EQ(janus_budget_get_current().memory, before);
      while (janus_alloc(16) != nullptr) {
      }
      CHECK_EQ(janus_task_set_name("nothing"), JANUS_E_BUDGET);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

}  // namespace

}  // namespace janus::test
