// SPDX-License-Identifier: Apache-2.0
// find_test.cpp — janus_task_find: which tasks a task finds by their numbers; and the statistics of states, queues and
// workers.
#include "tests/api/world.h"

namespace janus::test {

namespace {

// A task that says its number and waits.
struct Numbered {
  std::int64_t operator()() {
    number.store(janus_task_id());
    return janus_park(-1);
  }
  std::uint64_t told() {
    CHECK(eventually([this] { return number.load() != 0; }));
    return number.load();
  }
  std::atomic<std::uint64_t> number{0};
};

bool is_stale(janus_task task) {
  return task.raw == 0 && janus_last_error() == JANUS_E_STALE;
}

}  // namespace

TEST(find, a_task_finds_itself_its_children_and_those_above) {
  on_any_workers([] {
    Scope scope;
    Numbered child;
    const janus_task spawned = scope.go(child);
    CHECK_EQ(janus_task_find(child.told()).raw, spawned.raw);
    CHECK_EQ(janus_task_find(janus_task_id()).raw, janus_task_self().raw);
    const std::uint64_t parent = janus_task_self().raw;
    auto sibling = [&] {
      CHECK_EQ(janus_task_find(1).raw, parent);
      CHECK_EQ(janus_task_find(child.number.load()).raw, spawned.raw);
      return 0;
    };
    CHECK_EQ(janus_task_join(scope.go(sibling), nullptr), 0);
    CHECK_EQ(janus_unpark(janus_task_find(child.number.load())), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK(is_stale(janus_task_find(child.number.load())));
  });
}

TEST(find, a_number_that_was_asked_for_is_found_without_a_handle) {
  on_any_workers([] {
    static Numbered child;
    child.number = 0;
    CHECK(janus_nursery_create() != nullptr);
    CHECK_EQ(janus_nursery_spawn([](void*) { return child(); }, nullptr), 0);
    const janus_task found = janus_task_find(child.told());
    CHECK(found.raw != 0);
    CHECK(eventually([&] { return janus_task_state(found) == JANUS_TASK_BLOCKED; }));
    CHECK_EQ(janus_unpark(found), 0);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK(is_stale(janus_task_find(child.number.load())));
  });
}

TEST(find, numbers_of_nobody_are_stale) {
  on_any_workers([] {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1'000'000}, UINT64_MAX})
      CHECK(is_stale(janus_task_find(number)));
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task kept = scope.go(return_zero, nullptr);
    CHECK_EQ(janus_task_join(kept, nullptr), 0);
    janus_result result{};
    CHECK_EQ(janus_task_result(kept, &result), 0);
    CHECK(is_stale(janus_task_find(result.task_id)));  // its record is there, but it does not live
    scope.end();
  });
  CHECK_EQ(janus_task_find(1).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_NO_TASK);
}

TEST(find, a_cage_finds_what_is_in_it_and_nothing_outside) {
  on_any_workers([] {
    Scope outer;
    Numbered outside;
    outer.go(outside);
    const std::uint64_t number = outside.told();
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(10'000'000));
    Numbered inside;
    const janus_task spawned = cage.go(inside);
    const std::uint64_t caged = inside.told();
    auto prisoner = [&] {
      CHECK(is_stale(janus_task_find(number)));
      CHECK(is_stale(janus_task_find(1)));
      CHECK_EQ(janus_task_find(caged).raw, spawned.raw);
      CHECK_EQ(janus_task_find(janus_task_id()).raw, janus_task_self().raw);
      Scope own;
      Numbered below;
      const janus_task child = own.go(below);
      CHECK_EQ(janus_task_find(below.told()).raw, child.raw);
      own.cancel();
      own.end();
      return 0;
    };
    CHECK_EQ(janus_task_join(cage.go(prisoner), nullptr), 0);
    CHECK_EQ(janus_task_find(caged).raw, spawned.raw);
    cage.cancel();
    cage.end();
    outer.cancel();
    outer.end();
  });
}

TEST(find, each_of_many_is_found_and_paid_for) {
  on_any_workers([] {
    constexpr int kTasks = 2000;
    static Numbered many[kTasks];
    static janus_task handles[kTasks];
    Scope scope;
    for (int i = 0; i < kTasks; ++i) {
      many[i].number = 0;
      handles[i] = scope.go(many[i]);
    }
    for (int i = 0; i < kTasks; i += 37) CHECK_EQ(janus_task_find(many[i].told()).raw, handles[i].raw);
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(1'000'000));
    auto seek = [] {
      const std::uint32_t before = janus_budget_get_current().ops;
      CHECK(is_stale(janus_task_find(UINT64_MAX)));
      CHECK_GE(before - janus_budget_get_current().ops, kTasks / 256 * 8u);
    };
    cage.go(seek);
    CHECK_EQ(cage.end(), 0);
    scope.cancel();
    scope.end();
  });
}

// Finds tasks while these begin and end, on all workers.
TEST(find, tasks_that_come_and_go_are_found_whole_or_not_at_all) {
  for (const janus_rt_config& config : {with_workers(2), with_workers(4), deterministic(4, 3)}) {
    run_in(config, [] {
      static std::atomic<bool> is_over;
      is_over = false;
      Scope seekers;
      auto seek = [] {
        std::int64_t found = 0;
        for (std::uint64_t number = 1; !is_over.load(); ++number) {
          const std::uint64_t newest = stats_of().tasks_spawned + 600;  // workers take numbers in blocks
          const janus_task task = janus_task_find(newest - number % 600);
          if (task.raw == 0) continue;
          ++found;
          const int state = janus_task_state(task);
          CHECK(state == JANUS_E_STALE || (state >= JANUS_TASK_CREATED && state <= JANUS_TASK_CANCELLED));
          if (number % 3 == 0) janus_task_cancel(task);
          if (number % 5 == 0) CHECK_NE(janus_task_join(task, nullptr), JANUS_E_INVALID);
        }
        return found;
      };
      seekers.go(seek);
      const auto rounds = static_cast<int>(scaled(300, 20));
      for (int round = 0; round < rounds; ++round) {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        for (int i = 0; i < 20; ++i)
          scope.go([](void*) -> std::int64_t { return janus_yield() + janus_yield(); }, nullptr);
        scope.end();
      }
      is_over = true;
      seekers.end();
    });
  }
}

TEST(stats, states_of_tasks_and_lengths_of_queues_add_up) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 0)}) {
    run_in(config, [] {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 5; ++i) scope.go(park_until_cancelled, nullptr);
      CHECK(eventually([] { return stats_of().tasks_waiting == 5; }));
      for (int i = 0; i < 3; ++i) scope.go(return_zero, nullptr);
      const janus_stats stats = stats_of();
      CHECK_EQ(stats.tasks_live, 9u);
      CHECK_EQ(stats.tasks_running, 1u);
      CHECK_EQ(stats.tasks_queued, 3u);
      CHECK_EQ(stats.tasks_waiting, 5u);
      CHECK_EQ(stats.tasks_exhausted, 0u);
      janus_worker_stats worker{};
      worker.size = sizeof worker;
      CHECK_EQ(janus_rt_worker_stats(nullptr, 0, &worker), 0);
      CHECK_EQ(worker.running_task, 1u);
      CHECK_EQ(worker.queued_ready + worker.queued_yielded + stats.queued_shared, 3u);
      CHECK_EQ(worker.queued_caged, 0u);
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(5000));
      auto burn = [] {
        for (;;)
          if (janus_yield_check(64) < 0) return -1;
      };
      cage.go(burn);
      CHECK_EQ(janus_rt_worker_stats(nullptr, 0, &worker), 0);
      CHECK_EQ(worker.queued_ready + worker.queued_yielded + worker.queued_caged, 4u);
      CHECK(eventually([] { return stats_of().tasks_exhausted == 1; }));
      cage.cancel();
      cage.end();
      scope.cancel();
      scope.end();
      CHECK_EQ(stats_of().tasks_waiting, 0u);
    });
  }
}

TEST(stats, the_workers_parts_add_up_to_the_sums) {
  janus_rt_config config = with_workers(3);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  CHECK_EQ(janus_rt_run(
               rt,
               [](void*) -> std::int64_t {
                 Scope scope;
                 for (int i = 0; i < 100; ++i) scope.go([](void*) -> std::int64_t { return janus_yield(); }, nullptr);
                 return scope.end();
               },
               nullptr),
           0);
  const janus_stats sum = stats_of(rt);
  janus_worker_stats all{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    janus_worker_stats each{};
    each.size = sizeof each;
    CHECK_EQ(janus_rt_worker_stats(rt, i, &each), 0);
    CHECK_EQ(each.size, sizeof each);
    all.tasks_spawned += each.tasks_spawned;
    all.tasks_ended += each.tasks_ended;
    all.yields += each.yields;
  }
  CHECK_EQ(all.tasks_spawned, 100u);
  CHECK_EQ(all.tasks_ended, 101u);  // and the root, which no worker has spawned
  CHECK_EQ(all.yields, sum.yields);
  janus_worker_stats part{};
  part.size = 16;
  part.queued_ready = 77;
  CHECK_EQ(janus_rt_worker_stats(rt, 0, &part), 0);
  CHECK_EQ(part.queued_ready, 77u);  // no more than that is written
  CHECK_EQ(janus_rt_worker_stats(rt, 3, &all), JANUS_E_INVALID);
  CHECK_EQ(janus_rt_worker_stats(rt, 0, nullptr), JANUS_E_INVALID);
  janus_rt_destroy(rt);
  all.size = sizeof all;
  CHECK_EQ(janus_rt_worker_stats(rt, 0, &all), JANUS_E_STALE);
}

}  // namespace janus::test
