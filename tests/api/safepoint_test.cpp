// SPDX-License-Identifier: Apache-2.0
// safepoint_test.cpp — stopping a runtime: once the call has returned 0 no other task runs, whatever it did; a walk shows
// each task once, and where it stands; and the runtime goes on, whatever becomes of who has stopped it.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::int64_t kForEver = -1;

// Many more than a slice has, so that a check among them ends it.
constexpr unsigned kOps = 5000;

// A task that counts, and comes to checks alone.
struct Counter {
  std::int64_t operator()() {
    while (!may_end.load(std::memory_order_relaxed)) {
      count.fetch_add(1, std::memory_order_relaxed);
      if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
    }
    return 0;
  }

  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> may_end{false};
};

// By a task that has stopped the runtime: gives others the time to run, if they could.
void let_time_pass() {
  for (unsigned i = 0; i < kOps; ++i) (void)janus_yield_check(1);
  for (unsigned i = 0; i < 3; ++i) CHECK_EQ(janus_yield(), 0);
}

template <unsigned kCount>
std::uint64_t sum_of(const Counter (&counters)[kCount]) {
  std::uint64_t sum = 0;
  for (const Counter& counter : counters) sum += counter.count.load();
  return sum;
}

void stop_counters() {
  Counter counters[6];
  Scope scope;
  for (Counter& counter : counters) scope.go(counter);
  CHECK(eventually([&] { return counters[0].count.load() != 0; }));
  for (int i = 0; i < 20; ++i) {
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    const std::uint64_t before = sum_of(counters);
    let_time_pass();
    CHECK_EQ(sum_of(counters), before);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK(eventually([&] { return sum_of(counters) != before; }));
  }
  for (Counter& counter : counters) counter.may_end.store(true);
  CHECK_EQ(scope.end(), 0);
}

TEST(safepoint, tasks_that_come_to_checks_stop) {
  for (const unsigned workers : {1u, 2u, 8u}) run_in(with_workers(workers), stop_counters);
  for (const std::uint64_t seed : {1u, 2u}) run_in(deterministic(4, seed), stop_counters);
}

TEST(safepoint, tasks_that_end_without_a_check_stop) {
  on_any_workers([] {
    static std::atomic<int> ended;
    ended.store(0);
    janus_nursery* const nursery = open_nursery();
    constexpr int kTasks = 3000;
    for (int i = 0; i < kTasks; ++i) spawn(nursery, count_up, &ended);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    const int before = ended.load();
    let_time_pass();
    CHECK_EQ(ended.load(), before);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK_EQ(end(nursery), 0);
    CHECK_EQ(ended.load(), kTasks);
  });
}

TEST(safepoint, stops_nest) {
  on_any_workers([] {
    Counter counter;
    Scope scope;
    scope.go(counter);
    CHECK_EQ(janus_safepoint_resume(nullptr), JANUS_E_STATE);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_stop(nullptr, 0), 0);
    const std::uint64_t before = counter.count.load();
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    let_time_pass();
    CHECK_EQ(counter.count.load(), before);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), JANUS_E_STATE);
    CHECK(eventually([&] { return counter.count.load() != before; }));
    counter.may_end.store(true);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(safepoint, who_runs_alone_stops_at_once) {
  run_in(with_workers(1), [] {
    CHECK_EQ(janus_safepoint_stop(nullptr, 0), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
  });
}

TEST(safepoint, a_task_whose_budget_has_a_wall_may_not) {
  run_in(with_workers(2), [] {
    auto ask = [] {
      CHECK_EQ(janus_safepoint_stop(nullptr, 0), JANUS_E_NO_CAP);
      CHECK_EQ(janus_safepoint_walk(
                   nullptr, [](const janus_task_view*, void*) { return 0; }, nullptr),
               JANUS_E_STATE);
      CHECK_EQ(janus_safepoint_resume(nullptr), JANUS_E_STATE);
    };
    Scope scope;
    scope.go(ask, 0, budget_of(1'000'000));
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(safepoint, the_runtime_is_the_callers_own) {
  const janus_rt_config config = with_workers(1);
  janus_rt* const other = janus_rt_create(&config);
  run_in(with_workers(1), [other] {
    CHECK_EQ(janus_safepoint_stop(other, 0), JANUS_E_NO_CAP);
    CHECK_EQ(janus_safepoint_stop(reinterpret_cast<janus_rt*>(64), 0), JANUS_E_STALE);
  });
  CHECK_EQ(janus_safepoint_stop(other, kForEver), 0);  // its workers may just begin
  CHECK_EQ(janus_safepoint_resume(other), 0);
  CHECK_EQ(janus_safepoint_resume(other), JANUS_E_STATE);
  janus_rt_destroy(other);
  CHECK_EQ(janus_safepoint_stop(reinterpret_cast<janus_rt*>(64), 0), JANUS_E_STALE);
}

// --- The walk ---

struct Seen {
  janus_task_view views[32];
  unsigned count = 0;

  const janus_task_view* of(std::uint64_t id) const {
    const janus_task_view* found = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      if (views[i].id != id) continue;
      CHECK(found == nullptr);  // each task once
      found = &views[i];
    }
    return found;
  }
};

int note(const janus_task_view* view, void* seen_pointer) {
  auto& seen = *static_cast<Seen*>(seen_pointer);
  if (seen.count < 32) seen.views[seen.count++] = *view;
  return 0;
}

bool has_on_stack(const janus_task_view& view, const void* variable) {
  const auto at = reinterpret_cast<std::uintptr_t>(variable);
  const auto low = reinterpret_cast<std::uintptr_t>(view.saved_sp);
  return at >= low && at < reinterpret_cast<std::uintptr_t>(view.frames_high) &&
         low >= reinterpret_cast<std::uintptr_t>(view.stack_low) && view.frames_high <= view.stack_high;
}

// A task that says where one of its variables is, and waits.
struct Waiter {
  std::int64_t operator()() {
    std::atomic<int> variable{0};
    where.store(&variable);
    id = janus_task_id();
    return wait(), 0;
  }

  void (*wait)();
  std::atomic<void*> where{nullptr};
  std::uint64_t id = 0;
};

TEST(safepoint, a_walk_shows_each_task_where_it_stands) {
  on_any_workers([] {
    Waiter waiters[] = {{[] { janus_park(-1); }}, {[] { janus_sleep_ns(3'600'000'000'000); }}, {[] {
                          while (janus_yield() == 0) {
                          }
                        }}};
    Scope scope;
    janus_task handles[3];
    for (unsigned i = 0; i < 3; ++i) handles[i] = scope.go(waiters[i]);
    for (Waiter& waiter : waiters) CHECK(eventually([&] { return waiter.where.load() != nullptr; }));
    CHECK(eventually([&] {
      return janus_task_state(handles[0]) == JANUS_TASK_BLOCKED && janus_task_state(handles[1]) == JANUS_TASK_BLOCKED;
    }));
    Seen seen;
    int own = 0;
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_walk(nullptr, note, &seen), 0);
    CHECK_EQ(seen.count, 4u);
    for (unsigned i = 0; i < 3; ++i) {
      const janus_task_view* const view = seen.of(waiters[i].id);
      if (!CHECK(view != nullptr)) continue;
      CHECK_EQ(view->size, sizeof *view);
      CHECK_EQ(view->task.raw, handles[i].raw);
      CHECK(has_on_stack(*view, waiters[i].where.load()));
      CHECK_EQ(view->nursery_id, reinterpret_cast<std::uintptr_t>(scope.get()));
      CHECK(view->arg == &waiters[i]);
      CHECK_EQ(view->outer_id, 0u);
      if (i < 2) CHECK_EQ(view->state, JANUS_TASK_BLOCKED);
      if (i == 2) CHECK(view->state == JANUS_TASK_READY || view->state == JANUS_TASK_RUNNING);
    }
    const janus_task_view* const mine = seen.of(janus_task_id());
    if (CHECK(mine != nullptr)) {
      CHECK(has_on_stack(*mine, &own));
      CHECK_EQ(mine->state, JANUS_TASK_RUNNING);
    }
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    scope.cancel();
    scope.end();
  });
}

// Children that have not started, some of them at a gate, and one in a cage.
TEST(safepoint, a_walk_shows_tasks_that_have_not_started) {
  for (const bool in_order : {false, true}) {
    run_in(in_order ? deterministic(1, 7) : with_workers(1), [] {
      janus_nursery_options options = {};
      options.max_running = 1;
      janus_nursery* const gated = janus_nursery_open(nullptr, &options);
      janus_nursery* const plain = open_nursery();
      constexpr unsigned kEach = 3;
      static std::atomic<int> ended[3];
      for (auto& count : ended) count.store(0);
      for (unsigned i = 0; i < kEach; ++i) {
        spawn(gated, count_up, &ended[0]);
        spawn(plain, count_up, &ended[1]);
        spawn(plain, count_up, &ended[2], 0, budget_of(100'000));
      }
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      Seen seen;
      CHECK_EQ(janus_safepoint_walk(nullptr, note, &seen), 0);
      unsigned found[3] = {};
      for (unsigned i = 0; i < seen.count; ++i) {
        const janus_task_view& view = seen.views[i];
        for (unsigned kind = 0; kind < 3; ++kind) {
          if (view.arg != &ended[kind]) continue;
          ++found[kind];
          CHECK_EQ(view.state, JANUS_TASK_CREATED);
          CHECK(view.stack_low == nullptr && view.saved_sp == nullptr && view.stack_high == nullptr);
          CHECK(view.fn == count_up);
          CHECK_EQ(janus_task_state(view.task), JANUS_TASK_CREATED);
        }
      }
      int not_ended[3];
      for (unsigned kind = 0; kind < 3; ++kind) not_ended[kind] = static_cast<int>(kEach) - ended[kind].load();
      for (unsigned kind = 0; kind < 3; ++kind) CHECK_EQ(static_cast<int>(found[kind]), not_ended[kind]);
      CHECK_EQ(janus_safepoint_resume(nullptr), 0);
      CHECK_EQ(end(gated), 0);
      CHECK_EQ(end(plain), 0);
      for (const auto& count : ended) CHECK_EQ(count.load(), static_cast<int>(kEach));
    });
  }
}

// A chain of tasks of which each awaits the next; the last one walks. Where they run in the place of each other, they share a
// stack.
struct Link {
  std::int64_t operator()() {
    std::atomic<int> variable{0};
    where = &variable;
    id = janus_task_id();
    if (inner != nullptr) {
      Scope scope;
      scope.go(*inner);
      return scope.end();
    }
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_walk(nullptr, note, seen), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    return 0;
  }

  Link* inner;
  Seen* seen;
  void* where = nullptr;
  std::uint64_t id = 0;
};

TEST(safepoint, a_walk_tells_apart_the_tasks_on_one_stack) {
  on_any_workers([] {
    Seen seen;
    Link links[] = {{&links[1], nullptr}, {&links[2], nullptr}, {nullptr, &seen}};
    Scope scope;
    scope.go(links[0]);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(seen.count, 4u);
    for (const Link& link : links) {
      const janus_task_view* const view = seen.of(link.id);
      if (!CHECK(view != nullptr)) continue;
      for (const Link& other : links) CHECK_EQ(has_on_stack(*view, other.where), &other == &link);
      CHECK_EQ(view->state, link.inner == nullptr ? JANUS_TASK_RUNNING : JANUS_TASK_BLOCKED);
      if (view->outer_id == 0) continue;
      const janus_task_view* const outer = seen.of(view->outer_id);
      if (!CHECK(outer != nullptr)) continue;
      CHECK(outer->stack_low == view->stack_low && outer->stack_high == view->stack_high);
      CHECK(outer->saved_sp == view->frames_high);
    }
    CHECK(seen.of(janus_task_id()) != nullptr);
  });
}

// A task that opens a nursery, and does not leave its worker until its child, on another one, is parked.
struct Busy {
  std::int64_t operator()() {
    static constexpr auto kPark = [](void* runs) -> std::int64_t {
      static_cast<std::atomic<bool>*>(runs)->store(true);
      return janus_park(-1);
    };
    janus_nursery* nursery = nullptr;
    if (is_current) {
      janus_nursery_create();
      janus_nursery_spawn(kPark, &runs);
    } else {
      nursery = open_nursery();
      spawn(nursery, kPark, &runs);
    }
    while (!runs.load()) {
    }
    while (!may_end.load()) {
      if (janus_yield_check(1) < 0) break;
    }
    if (nursery != nullptr) janus_nursery_cancel(nursery);
    return JANUS_CANCELLED;  // what is left open is cancelled
  }

  bool is_current;
  std::atomic<bool> runs{false}, may_end{false};
};

TEST(safepoint, a_walk_shows_the_children_of_a_task_that_has_not_left_its_worker) {
  for (const bool is_current : {false, true}) {
    run_in(with_workers(3), [is_current] {
      if (stats_of().workers < 3) return skip("fewer than three workers");
      Busy busy{is_current};
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(busy);
      CHECK(eventually([&] { return busy.runs.load(); }));
      for (int i = 0; i < 10; ++i) {
        unsigned count = 0;
        CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
        CHECK_EQ(
            janus_safepoint_walk(
                nullptr, [](const janus_task_view*, void* sum) { return ++*static_cast<unsigned*>(sum), 0; }, &count),
            0);
        CHECK_EQ(count, 3u);
        CHECK_EQ(janus_safepoint_resume(nullptr), 0);
      }
      busy.may_end.store(true);
      scope.end();
    });
  }
}

TEST(safepoint, a_walk_ends_when_the_visitor_says_so_and_refuses_what_would_break_it) {
  on_any_workers([] {
    constexpr auto kVisit = [](const janus_task_view*, void* calls) {
      void* const block = janus_alloc(10'000);
      CHECK(block != nullptr);
      janus_free(block);
      CHECK_EQ(janus_safepoint_resume(nullptr), JANUS_E_STATE);
      CHECK_EQ(janus_safepoint_walk(nullptr, note, nullptr), JANUS_E_STATE);
      return ++*static_cast<int*>(calls) == 2 ? 77 : 0;
    };
    Scope scope;
    for (int i = 0; i < 3; ++i) scope.go(park_until_cancelled, nullptr);
    int calls = 0;
    CHECK_EQ(janus_safepoint_walk(nullptr, kVisit, &calls), JANUS_E_STATE);
    CHECK_EQ(janus_safepoint_walk(nullptr, nullptr, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_walk(nullptr, kVisit, &calls), 77);
    CHECK_EQ(calls, 2);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    scope.cancel();
    scope.end();
  });
}

TEST(safepoint, a_walk_has_room_for_many_tasks) {
  run_in(with_workers(2), [] {
    constexpr unsigned kTasks = 20'000;
    janus_nursery* const nursery = open_nursery();
    const unsigned tasks = static_cast<unsigned>(scaled(kTasks, 2000));
    for (unsigned i = 0; i < tasks; ++i) spawn(nursery, park_until_cancelled);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    unsigned count = 0;
    CHECK_EQ(janus_safepoint_walk(
                 nullptr, [](const janus_task_view*, void* sum) { return ++*static_cast<unsigned*>(sum), 0; }, &count),
             0);
    CHECK_EQ(count, tasks + 1);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    janus_nursery_cancel(nursery);
    end(nursery);
  });
}

// --- Several requesters ---

struct Rival {
  std::int64_t operator()() {
    for (int i = 0; i < 40; ++i) {
      const int answer = janus_safepoint_stop(nullptr, i % 4 == 0 ? 0 : kForEver);
      if (answer == JANUS_CANCELLED) return answer;
      if (answer == JANUS_E_TIMEOUT) continue;
      CHECK_EQ(answer, 0);
      CHECK_EQ(inside->fetch_add(1), 0);
      for (int op = 0; op < 2000; ++op) (void)janus_yield_check(1);
      CHECK_EQ(inside->fetch_sub(1), 1);
      ++*times;
      CHECK_EQ(janus_safepoint_resume(nullptr), 0);
      if (janus_yield() < 0) return JANUS_CANCELLED;
    }
    return 0;
  }

  std::atomic<int>* inside;
  int* times;  // no atomic: who has stopped the world is alone
};

TEST(safepoint, one_requester_at_a_time) {
  on_any_workers([] {
    std::atomic<int> inside{0};
    int times = 0;
    Rival rivals[4];
    Scope scope;
    for (Rival& rival : rivals) {
      rival = {&inside, &times};
      scope.go(rival);
    }
    CHECK_EQ(scope.end(), 0);
    CHECK(times >= 4 * 30);
  });
}

TEST(safepoint, requesters_that_are_cancelled_leave_the_queue) {
  on_any_workers([] {
    std::atomic<int> inside{0};
    int times = 0;
    Rival rivals[5];
    Scope scope;
    for (Rival& rival : rivals) {
      rival = {&inside, &times};
      scope.go(rival);
    }
    for (int i = 0; i < 3; ++i) janus_yield();
    scope.cancel();
    scope.end();
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
  });
}

// --- What cannot be stopped, and what counts as stopped ---

TEST(safepoint, a_loop_without_checks_lets_the_request_time_out_and_the_world_go_on) {
  run_in(with_workers(2), [] {
    if (stats_of().workers < 2) return skip("one worker");
    static std::atomic<bool> runs, may_end;
    runs.store(false);
    may_end.store(false);
    Counter counter;
    Scope scope;
    auto endless = [] {
      runs.store(true);
      while (!may_end.load()) {
      }
    };
    scope.go(endless);
    CHECK(eventually([] { return runs.load(); }));
    CHECK_EQ(janus_safepoint_stop(nullptr, 20'000'000), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_safepoint_resume(nullptr), JANUS_E_STATE);
    scope.go(counter);
    CHECK(eventually([&] { return counter.count.load() != 0; }));
    CHECK_EQ(janus_safepoint_stop(nullptr, 0), JANUS_E_TIMEOUT);
    may_end.store(true);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    counter.may_end.store(true);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(safepoint, a_worker_in_a_system_call_counts_as_stopped) {
  run_in(with_workers(2), [] {
    constexpr long kRead = 0, kWrite = 1, kClose = 3, kPipe = 293;
    static int ends[2];
    static std::atomic<bool> begins, goes_on;
    begins.store(false);
    goes_on.store(false);
    if (stats_of().workers < 2 || janus_syscall(kPipe, ends, 0) != 0) return skip("one worker, or no pipes");
    auto reader = [] {
      char byte = 0;
      begins.store(true);
      CHECK_EQ(janus_syscall(kRead, ends[0], &byte, 1), 1);
      goes_on.store(true);
    };
    Scope scope;
    scope.go(reader);
    CHECK(eventually([] { return begins.load(); }));
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    Seen seen;
    CHECK_EQ(janus_safepoint_walk(nullptr, note, &seen), 0);
    CHECK_EQ(seen.count, 2u);
    for (unsigned i = 0; i < seen.count; ++i) CHECK(seen.views[i].saved_sp != nullptr);
    CHECK_EQ(janus_syscall(kWrite, ends[1], "x", 1), 1);
    let_time_pass();
    CHECK(!goes_on.load());
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK(goes_on.load());
    for (const int fd : ends) janus_syscall(kClose, fd);
  });
}

TEST(safepoint, no_timer_fires_meanwhile_and_none_is_lost) {
  on_any_workers([] {
    std::atomic<int> woken{0};
    auto sleeper = [&woken] {
      CHECK_EQ(janus_sleep_ns(1'000'000), 0);
      woken.fetch_add(1);
    };
    Scope scope;
    janus_task handles[3];
    for (janus_task& handle : handles) handle = scope.go(sleeper);
    for (const janus_task handle : handles) CHECK(has_started(handle));
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    const int before = woken.load();
    const std::uint64_t began = janus_now_ns();
    // In deterministic mode the clock stands still, too.
    for (unsigned i = 0; i < 100'000 && janus_now_ns() < began + 5'000'000; ++i) janus_yield();
    CHECK_EQ(woken.load(), before);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(woken.load(), 3);
  });
}

// --- What becomes of the requester ---

TEST(safepoint, the_world_goes_on_when_its_requester_ends) {
  on_any_workers([] {
    Counter counter;
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(counter);
    auto forgetful = [] { CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0); };
    auto unlucky = [] {
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      janus_task_panic("with the world stopped");
    };
    auto in_walk = [] {
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      constexpr auto kVisit = [](const janus_task_view*, void*) -> int { janus_task_panic("in a walk"); };
      (void)janus_safepoint_walk(nullptr, kVisit, nullptr);
    };
    auto owner = [] {  // has a nursery to end
      CHECK(janus_nursery_create() != nullptr);
      CHECK_EQ(janus_nursery_spawn(return_zero, nullptr), 0);
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      janus_task_panic("with a child");
    };
    const auto goes_on = [&] {
      const std::uint64_t before = counter.count.load();
      return eventually([&] { return counter.count.load() != before; });
    };
    janus_result result = {};
    CHECK_EQ(janus_task_join(scope.go(forgetful), nullptr), 0);
    CHECK(goes_on());
    for (auto join : {scope.go(unlucky), scope.go(in_walk), scope.go(owner)}) {
      CHECK_EQ(janus_task_join(join, nullptr), 0);
      CHECK_EQ(janus_task_result(join, &result), 0);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
      CHECK(goes_on());
    }
    counter.may_end.store(true);
    scope.end();
  });
}

TEST(safepoint, a_requester_that_waits_loses_the_world_and_its_resume_is_a_panic) {
  on_any_workers([] {
    Counter counter;
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(counter);
    auto sleeper = [&counter] {
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      const std::uint64_t before = counter.count.load();
      CHECK_EQ(janus_sleep_ns(1000), 0);
      CHECK(eventually([&] { return counter.count.load() != before; }));
      janus_safepoint_resume(nullptr);
      CHECK(false);
    };
    auto parent = [] {  // no child runs in the place of who has stopped the world
      std::atomic<bool> has_stopped = false;
      janus_nursery* const nursery = open_nursery();
      spawn(
          nursery,
          [](void* may_end) -> std::int64_t {
            while (!static_cast<std::atomic<bool>*>(may_end)->load()) janus_yield();
            return 0;
          },
          &has_stopped);
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      has_stopped.store(true);
      CHECK_EQ(end(nursery), 0);
      janus_safepoint_walk(nullptr, note, nullptr);
      CHECK(false);
    };
    for (auto waiting : {scope.go(sleeper), scope.go(parent)}) {
      CHECK_EQ(janus_task_join(waiting, nullptr), 0);
      janus_result result = {};
      CHECK_EQ(janus_task_result(waiting, &result), 0);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
    }
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    counter.may_end.store(true);
    scope.end();
  });
}

TEST(safepoint, what_does_not_wait_works_meanwhile) {
  on_any_workers([] {
    janus_channel* const channel = janus_channel_create(sizeof(int), 4);
    Scope scope;
    std::atomic<int> ended{0};
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    int number = 5;
    CHECK_EQ(janus_channel_send(channel, &number), 0);
    CHECK_EQ(janus_channel_recv(channel, &number), 0);
    for (int i = 0; i < 100; ++i) scope.go(count_up, &ended);
    void* const block = janus_alloc(1 << 20);
    CHECK(block != nullptr);
    janus_free(block);
    for (int i = 0; i < 3; ++i) CHECK_EQ(janus_yield(), 0);
    CHECK_EQ(ended.load(), 0);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ended.load(), 100);
    janus_channel_release(channel);
  });
}

// --- Threads outside ---

TEST(safepoint, a_thread_outside_stops_a_runtime) {
  for (const bool in_order : {false, true}) {
    const janus_rt_config config = in_order ? deterministic(2, 3) : with_workers(2);
    janus_rt* const rt = janus_rt_create(&config);
    janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
    Counter counters[3];
    for (Counter& counter : counters) spawn(nursery, call_closure<Counter>, &counter);
    std::atomic<std::uint32_t> nobody{0};
    const auto wait_a_little = [&] { platform::wait(nobody, 0, platform::now_ns() + 2'000'000); };
    while (counters[0].count.load() == 0) wait_a_little();
    for (int i = 0; i < 5; ++i) {
      CHECK_EQ(janus_safepoint_stop(rt, kForEver), 0);
      const std::uint64_t before = sum_of(counters);
      Seen seen;
      CHECK_EQ(janus_safepoint_walk(rt, note, &seen), 0);
      CHECK_EQ(seen.count, 3u);
      static std::atomic<int> ended;
      ended.store(0);
      // Runs later; in deterministic mode not while others can.
      const bool spawns = i == 0 && !in_order;
      if (spawns) spawn(nursery, count_up, &ended);
      wait_a_little();
      CHECK_EQ(sum_of(counters), before);
      CHECK_EQ(janus_safepoint_resume(rt), 0);
      while (sum_of(counters) == before || (spawns && ended.load() == 0)) wait_a_little();
    }
    for (Counter& counter : counters) counter.may_end.store(true);
    CHECK_EQ(end(nursery), 0);
    janus_rt_destroy(rt);
  }
}

TEST(safepoint, a_runtime_that_is_stopped_from_outside_can_be_destroyed) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  Counter counter;
  spawn(nursery, call_closure<Counter>, &counter);
  CHECK_EQ(janus_safepoint_stop(rt, kForEver), 0);
  janus_rt_destroy(rt);
  CHECK_EQ(janus_safepoint_resume(rt), JANUS_E_STALE);
}

// Every task waits, but the thread outside that has stopped them will act.
TEST(safepoint, a_stop_from_outside_is_no_deadlock) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  const janus_task task = spawn(nursery, park_until_cancelled);
  std::atomic<std::uint32_t> nobody{0};
  CHECK_EQ(janus_safepoint_stop(rt, kForEver), 0);
  platform::wait(nobody, 0, platform::now_ns() + 5'000'000);
  CHECK_EQ(janus_unpark(task), 0);
  CHECK_EQ(janus_safepoint_resume(rt), 0);
  CHECK_EQ(end(nursery), 0);
  janus_rt_destroy(rt);
}

// --- Under load ---

std::int64_t branch(void* depth_pointer) {
  const auto depth = reinterpret_cast<std::intptr_t>(depth_pointer);
  if (depth == 0) return janus_yield() < 0 ? JANUS_CANCELLED : 0;
  janus_nursery* const nursery = open_nursery();
  if (nursery == nullptr) return 0;
  for (int i = 0; i < 3; ++i) spawn(nursery, branch, as_arg(depth - 1));
  if (depth % 2 == 0) janus_sleep_ns(1000);
  return end(nursery) < 0 ? JANUS_CANCELLED : 0;
}

[[gnu::noinline]] std::uint64_t go_deep(unsigned depth) {
  volatile std::uint64_t frame[32];
  frame[0] = depth;
  (void)janus_yield_check(1);
  return depth == 0 ? frame[0] : go_deep(depth - 1) + frame[0];
}

TEST(safepoint, spawns_growing_stacks_and_panics_go_on_between_stops) {
  on_any_workers([] {
    static std::atomic<bool> is_over;
    is_over.store(false);
    auto storm = [] {
      while (!is_over.load() && branch(as_arg(3)) == 0) {
      }
    };
    auto deep = [] {
      while (!is_over.load()) CHECK_EQ(go_deep(kIsWatched ? 20 : 150), (kIsWatched ? 20u * 21 : 150u * 151) / 2);
    };
    auto panics = [] {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < 2; ++i) {
        auto panicking = [] { janus_task_panic("beside stops"); };
        scope.go(panicking);
        janus_yield();
      }
      scope.end();
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(storm);
    scope.go(storm);
    scope.go(deep);
    scope.go(panics);
    for (int i = 0; i < scaled(40, 10); ++i) {
      CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
      std::uint64_t ids = 0;
      constexpr auto kVisit = [](const janus_task_view* view, void* sum) {
        CHECK(view->id != 0 && view->task.raw != 0);
        CHECK((view->saved_sp == nullptr) == (view->stack_high == nullptr));
        CHECK(view->saved_sp >= view->stack_low && view->frames_high <= view->stack_high);
        ++*static_cast<std::uint64_t*>(sum);
        return 0;
      };
      CHECK_EQ(janus_safepoint_walk(nullptr, kVisit, &ids), 0);
      const janus_stats stats = stats_of();
      CHECK_EQ(ids, stats.tasks_live);
      CHECK_EQ(janus_safepoint_resume(nullptr), 0);
      janus_yield();
    }
    is_over.store(true);
    scope.end();
  });
}

TEST(safepoint, a_cancel_during_a_stop_is_seen_after_it) {
  on_any_workers([] {
    Counter counters[3];
    Scope scope;
    for (Counter& counter : counters) scope.go(counter);
    scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_safepoint_stop(nullptr, kForEver), 0);
    const std::uint64_t before = sum_of(counters);
    scope.cancel();
    let_time_pass();
    CHECK_EQ(sum_of(counters), before);
    CHECK_EQ(janus_safepoint_resume(nullptr), 0);
    scope.end();
  });
}

}  // namespace

}  // namespace janus::test
