// SPDX-License-Identifier: Apache-2.0
// janus_nursery_next: children are told in the order in which they end, each once.
#include "tests/api/world.h"

namespace janus::test {

namespace {

struct Ending {
  janus_task task;
  std::atomic<bool> may_end{false};
  std::int64_t value = 0;
  std::int64_t operator()() {
    while (!may_end.load())
      if (janus_park(-1) < 0) return JANUS_CANCELLED;
    return value;
  }
  void let_end() {
    may_end.store(true);
    janus_unpark(task);
  }
};

TEST(next, children_are_told_in_the_order_of_their_ends) {
  on_any_workers([] {
    constexpr int kChildren = 6;
    Ending children[kChildren];
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < kChildren; ++i) {
      children[i].value = i % 2 == 0 ? i : -100 - i;
      children[i].task = scope.go(children[i]);
    }
    const int order[kChildren] = {3, 0, 5, 4, 1, 2};
    for (const int i : order) {  // one at a time, each told as it ends
      children[i].let_end();
      janus_result result = {};
      CHECK_EQ(janus_nursery_next(scope.get(), &result, 0), 0);
      CHECK_EQ(result.code, children[i].value);
      CHECK_EQ(result.kind, i % 2 == 0 ? JANUS_KIND_SUCCESS : JANUS_KIND_CHILD_FAILED);
      janus_result same = {};
      CHECK_EQ(janus_task_result(children[i].task, &same), 0);
      CHECK_EQ(same.task_id, result.task_id);
    }
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_E_CLOSED);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
    // A further spawn brings a further end.
    Ending late;
    late.may_end.store(true);
    scope.go(late);
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), 0);
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_E_CLOSED);
    scope.end();
  });
}

TEST(next, those_that_have_ended_are_told_afterwards_also_of_a_terminal_nursery) {
  on_any_workers([] {
    std::int64_t values[] = {10, 11, 12, 13, 14};
    Scope scope;
    janus_task tasks[5];
    for (int i = 0; i < 5; ++i) {
      tasks[i] = scope.go(return_number, &values[i]);
      CHECK_EQ(janus_task_join(tasks[i], nullptr), 0);
    }
    CHECK_EQ(scope.await(), 0);
    // Whose record is gone is not told.
    for (const int i : {0, 2}) CHECK_EQ(janus_task_release(tasks[i]), 0);
    janus_result result = {};
    for (const int i : {1, 3, 4}) {
      CHECK_EQ(janus_nursery_next(scope.get(), &result, 1), 0);
      CHECK_EQ(result.code, values[i]);
    }
    CHECK_EQ(janus_nursery_next(scope.get(), &result, 1), JANUS_E_CLOSED);
    CHECK_EQ(scope.end(), 0);
  });
}

// The last to end leaves no record; it wakes the owner all the same.
TEST(next, who_leaves_no_record_is_not_told) {
  on_any_workers([] {
    Ending one, detached;
    Scope scope;
    one.task = scope.go(one);
    std::atomic<bool> is_next{false};
    auto ends_both = [&] {
      while (!is_next.load()) janus_yield();
      for (int i = 0; i < 5; ++i) janus_yield();
      one.let_end();
      for (int i = 0; i < 5; ++i) janus_yield();
      detached.may_end.store(true);
    };
    auto spins = [&] {
      while (!detached.may_end.load()) janus_yield();
    };
    Scope others;
    others.go(ends_both);
    scope.go(spins, JANUS_SPAWN_DETACHED);
    is_next.store(true);
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), 0);
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_E_CLOSED);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(others.end(), 0);
  });
}

TEST(next, a_time_and_a_cancel_end_the_wait) {
  on_any_workers([] {
    std::atomic<bool> waits{false};
    auto owner = [&]() -> std::int64_t {
      Ending child;
      Scope scope;
      child.task = scope.go(child);
      CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 1), JANUS_E_TIMEOUT);
      CHECK_EQ(janus_nursery_next(scope.get(), nullptr, janus_now_ns() + 100'000), JANUS_E_TIMEOUT);
      CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
      waits.store(true);
      CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_CANCELLED);
      CHECK_EQ(scope.await(), JANUS_CANCELLED);
      CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_CANCELLED);
      return scope.end();
    };
    Scope scope;
    const janus_task handle = scope.go(owner);
    CHECK(eventually([&] { return waits.load(); }));
    for (int i = 0; i < 10; ++i) janus_yield();
    janus_task_cancel(handle);
    scope.end();
  });
}

TEST(next, others_than_the_owner_are_refused) {
  run_in(with_workers(1), [] {
    Scope scope;
    auto child = [&] { return janus_nursery_next(scope.get(), nullptr, 0); };
    std::int64_t answer = 0;
    const janus_task task = scope.go(child);
    CHECK_EQ(janus_task_join(task, &answer), 0);
    CHECK_EQ(answer, JANUS_E_STATE);
    scope.end();
    CHECK_EQ(janus_nursery_next(static_cast<janus_nursery*>(janus_nursery_create()), nullptr, 0), JANUS_E_STATE);
    janus_nursery_await_all();
  });
}

// Ends on all workers, spawns and releases meanwhile: each child is told once, and none is missed.
TEST(next, none_is_told_twice_or_missed) {
  on_any_workers([] {
    constexpr int kChildren = 300;
    static std::atomic<int> told[kChildren];
    for (std::atomic<int>& each : told) each.store(0);
    auto number = [](void* at) -> std::int64_t {
      for (int i = static_cast<int>(reinterpret_cast<std::intptr_t>(at)) % 7; i > 0; --i) janus_yield();
      return reinterpret_cast<std::intptr_t>(at);
    };
    Scope scope;
    int spawned = 0, ended = 0;
    while (ended < kChildren) {
      for (int i = 0; i < 10 && spawned < kChildren; ++i) {
        CHECK_NE(spawn(scope.get(), number, as_arg(spawned), 0).raw, 0u);
        ++spawned;
      }
      janus_result result = {};
      while (janus_nursery_next(scope.get(), &result, 0) == 0) {
        told[result.code].fetch_add(1);
        ++ended;
        if (ended % 3 == 0) break;
      }
    }
    CHECK_EQ(janus_nursery_next(scope.get(), nullptr, 0), JANUS_E_CLOSED);
    for (const std::atomic<int>& each : told) CHECK_EQ(each.load(), 1);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(next, a_thread_outside_tasks_is_told_as_well) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  const janus_task task = spawn(nursery, [](void*) -> std::int64_t {
    CHECK_EQ(janus_park(-1), 0);
    return 5;
  });
  CHECK_EQ(janus_nursery_next(nursery, nullptr, 1), JANUS_E_TIMEOUT);
  CHECK_EQ(janus_nursery_next(nursery, nullptr, janus_now_ns() + 1'000'000), JANUS_E_TIMEOUT);
  CHECK_EQ(janus_unpark(task), 0);
  janus_result result = {};
  CHECK_EQ(janus_nursery_next(nursery, &result, 0), 0);
  CHECK_EQ(result.code, 5);
  CHECK_EQ(janus_nursery_next(nursery, &result, 0), JANUS_E_CLOSED);
  CHECK_EQ(end(nursery), 0);
  janus_rt_destroy(rt);
}

}  // namespace

}  // namespace janus::test
