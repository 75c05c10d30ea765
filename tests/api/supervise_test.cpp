// SPDX-License-Identifier: Apache-2.0
// supervise_test.cpp — janus/supervise.h: supervisors. Where they do what OTP's do, and what differs, is in the table of
// docs/supervise.md.
#include <janus/supervise.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr unsigned kMost = 8;

// Children that do as they are told, and note when they start (+) and are stopped (-).
struct Family {
  enum class Order : int { kLive, kReturn, kFail, kPanic };
  struct Member {
    Family* family;
    unsigned number;
    std::atomic<Order> order{Order::kLive};
    std::atomic<int> starts{0};
    std::atomic<std::uint64_t> task{0};
  } members[kMost];
  static constexpr unsigned kEvents = 4096;
  std::atomic<unsigned> events[kEvents] = {};  // a sign above a number
  std::atomic<unsigned> noted{0};

  janus_supervisor* supervisor = nullptr;
  std::int64_t ids[kMost] = {};
  std::atomic<int> answer{1};  // of the run
  int why = 0;
  int ops_at_end = 0;  // that each spends when it is stopped

  Family() {
    for (unsigned i = 0; i < kMost; ++i) {
      members[i].family = this;
      members[i].number = i;
    }
  }
  static constexpr unsigned event(char sign, unsigned number) { return static_cast<unsigned>(sign) << 8 | number; }
  void note(char sign, unsigned number) {
    const unsigned at = noted.fetch_add(1);
    if (at < kEvents) events[at].store(event(sign, number));
  }
  static std::int64_t live(void* arg) {
    Member& self = *static_cast<Member*>(arg);
    self.family->note('+', self.number);
    self.task.store(janus_task_self().raw);
    self.starts.fetch_add(1);
    for (;;) {
      const Order order = self.order.exchange(Order::kLive);
      if (order == Order::kReturn) return 5;
      if (order == Order::kFail) return -77;
      if (order == Order::kPanic) janus_task_panic("as it was told");
      if (janus_park(-1) == JANUS_CANCELLED) break;
    }
    for (int i = 0; i < self.family->ops_at_end; ++i) (void)janus_yield_check(1);
    self.family->note('-', self.number);
    return JANUS_CANCELLED;
  }
  janus_child_spec spec(unsigned number, std::uint32_t restart = JANUS_PERMANENT) {
    janus_child_spec spec = {};
    spec.restart = restart;
    spec.start = live;
    spec.arg = &members[number];
    return spec;
  }
  void add(unsigned number, std::uint32_t restart = JANUS_PERMANENT) {
    const janus_child_spec its = spec(number, restart);
    ids[number] = janus_supervisor_add(supervisor, &its);
    CHECK_GT(ids[number], 0);
  }
  void tell(unsigned number, Order order) {
    members[number].order.store(order);
    (void)janus_unpark(janus_task{members[number].task.load()});
  }
  bool has_started(unsigned number, int times) {
    return eventually([&] { return members[number].starts.load() >= times; });
  }
  // What was noted since the last call, as text.
  unsigned told = 0;
  bool says(const char* expected) {
    unsigned length = 0;
    while (expected[length] != 0) ++length;
    bool is_same = true;
    for (unsigned i = 0; i < length / 2; ++i, ++told) {
      const std::atomic<unsigned>& next = events[told];
      is_same = is_same && eventually([&] { return next.load() != 0; }) &&
                next.load() == event(expected[2 * i], static_cast<unsigned>(expected[2 * i + 1] - '0'));
    }
    return is_same && noted.load() == told;
  }
  std::int64_t operator()() {  // runs it
    answer.store(janus_supervisor_run(supervisor));
    why = janus_last_error();
    return answer.load();
  }
};
using Order = Family::Order;

janus_supervisor_options options_of(std::uint32_t strategy, std::uint32_t max_restarts) {
  janus_supervisor_options options = {};
  options.strategy = strategy;
  options.max_restarts = max_restarts;
  return options;
}

// A family of `size` whose supervisor runs in a task of its own until it is closed or told to end.
template <class Body>
void with_family(unsigned size, const janus_supervisor_options& options, Body body,
                 std::uint32_t restart = JANUS_PERMANENT) {
  Family family;
  family.supervisor = janus_supervisor_open(nullptr, &options);
  if (!CHECK(family.supervisor != nullptr)) return;
  for (unsigned i = 0; i < size; ++i) family.add(i, restart);
  Scope scope(JANUS_ON_ERROR_COLLECT);
  const janus_task runner = scope.go(family);
  for (unsigned i = 0; i < size; ++i) CHECK(family.has_started(i, 1));
  family.told = family.noted.load();
  body(family, runner);
  scope.cancel();
  scope.end();
  (void)janus_supervisor_close(family.supervisor);
}

// Each order of start holds up the next child until the one before has run: only one worker gives that.
template <class Body>
void on_one_worker(Body body) {
  run_in(with_workers(1), body);
  for (std::uint64_t seed = 0; seed < 3; ++seed) run_in(deterministic(1, seed), body);
}

}  // namespace

TEST(supervisor, each_strategy_starts_again_whom_it_says_and_stops_the_others_for_it) {
  struct Row {
    std::uint32_t strategy;
    unsigned dies;
    const char* says;  // stops in reverse order, starts in order
  };
  static const Row rows[] = {
      {JANUS_ONE_FOR_ONE, 0, "+0"},
      {JANUS_ONE_FOR_ONE, 2, "+2"},
      {JANUS_ONE_FOR_ALL, 0, "-3-2-1+0+1+2+3"},
      {JANUS_ONE_FOR_ALL, 2, "-3-1-0+0+1+2+3"},
      {JANUS_REST_FOR_ONE, 0, "-3-2-1+0+1+2+3"},
      {JANUS_REST_FOR_ONE, 2, "-3+2+3"},
      {JANUS_REST_FOR_ONE, 3, "+3"},
  };
  static const Row* row;
  for (const Row& each : rows) {
    row = &each;
    // Ready handshakes make the order of starts that of the family's notes with any number of workers.
    on_one_worker([] {
      with_family(4, options_of(row->strategy, 10), [](Family& family, janus_task) {
        for (const Order order : {Order::kReturn, Order::kFail, Order::kPanic}) {
          family.tell(row->dies, order);
          CHECK(family.says(row->says));
        }
      });
    });
  }
}

TEST(supervisor, how_a_child_ends_decides_with_its_kind_whether_it_lives_again) {
  struct Row {
    std::uint32_t restart;
    Order order;
    bool is_restarted, is_kept;
  };
  static const Row rows[] = {
      {JANUS_PERMANENT, Order::kReturn, true, true},   {JANUS_PERMANENT, Order::kFail, true, true},
      {JANUS_PERMANENT, Order::kPanic, true, true},    {JANUS_TRANSIENT, Order::kReturn, false, true},
      {JANUS_TRANSIENT, Order::kFail, true, true},     {JANUS_TRANSIENT, Order::kPanic, true, true},
      {JANUS_TEMPORARY, Order::kReturn, false, false}, {JANUS_TEMPORARY, Order::kFail, false, false},
      {JANUS_TEMPORARY, Order::kPanic, false, false},
  };
  static constexpr std::uint32_t kKinds[] = {JANUS_KIND_PENDING, JANUS_KIND_SUCCESS, JANUS_KIND_CHILD_FAILED,
                                             JANUS_KIND_PANIC};
  static const Row* row;
  for (const Row& each : rows) {
    row = &each;
    on_any_workers([] {
      with_family(
          1, options_of(JANUS_ONE_FOR_ONE, 1),
          [](Family& family, janus_task) {
            family.tell(0, row->order);
            janus_child child = {};
            if (row->is_restarted) {
              CHECK(family.has_started(0, 2));
              CHECK_EQ(janus_supervisor_children(family.supervisor, &child, 1), 1);
              CHECK_EQ(child.restarts, 1u);
              CHECK_EQ(child.last.kind, kKinds[static_cast<int>(row->order)]);  // of its last life
            } else if (row->is_kept) {
              CHECK(eventually([&] {
                return janus_supervisor_children(family.supervisor, &child, 1) == 1 && child.state == JANUS_CHILD_ENDED;
              }));
              CHECK_EQ(child.last.code, 5);
              CHECK_EQ(child.last.kind, JANUS_KIND_SUCCESS);
            } else {
              CHECK(eventually([&] { return janus_supervisor_children(family.supervisor, nullptr, 0) == 0; }));
            }
            CHECK_EQ(family.answer.load(), 1);  // it runs on
          },
          row->restart);
    });
  }
}

// OTP starts transient children that have ended well again with the others, and drops temporary ones.
TEST(supervisor, with_the_others_a_transient_child_lives_again_and_a_temporary_one_is_dropped) {
  on_any_workers([] {
    with_family(1, options_of(JANUS_ONE_FOR_ALL, 10), [](Family& family, janus_task) {
      family.add(1, JANUS_TRANSIENT);
      family.add(2, JANUS_TEMPORARY);
      CHECK(family.has_started(1, 1) && family.has_started(2, 1));
      family.tell(1, Order::kReturn);
      janus_child children[3] = {};
      CHECK(eventually([&] {
        return janus_supervisor_children(family.supervisor, children, 3) == 3 && children[1].state == JANUS_CHILD_ENDED;
      }));
      family.tell(0, Order::kFail);
      CHECK(family.has_started(0, 2) && family.has_started(1, 2));
      CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), 2);
      CHECK_EQ(family.members[2].starts.load(), 1);
    });
  });
}

TEST(supervisor, it_gives_up_after_as_many_restarts_as_it_may_make) {
  on_any_workers([] {
    for (const std::uint32_t most : {0u, 1u, 5u})
      for (const std::uint32_t strategy : {JANUS_ONE_FOR_ONE, JANUS_ONE_FOR_ALL, JANUS_REST_FOR_ONE})
        with_family(2, options_of(strategy, most), [&](Family& family, janus_task runner) {
          for (std::uint32_t i = 0; i <= most; ++i) {
            CHECK_EQ(family.answer.load(), 1);
            CHECK(family.has_started(1, static_cast<int>(i) + 1));
            family.tell(1, Order::kFail);
          }
          std::int64_t result = 0;
          CHECK_EQ(janus_task_join(runner, &result), 0);
          CHECK_EQ(result, JANUS_E_STATE);
          CHECK_EQ(family.why, JANUS_E_STATE);
          CHECK_EQ(family.members[1].starts.load(), static_cast<int>(most) + 1);
          CHECK_EQ(family.events[family.noted.load() - 1].load() >> 8,
                   static_cast<unsigned>('-'));  // the other one was stopped
        });
  });
}

namespace {

std::int64_t fail_at_once(void* starts) {
  static_cast<std::atomic<int>*>(starts)->fetch_add(1);
  return -5;
}
int run_alone(const janus_supervisor_options& options, janus_task_fn fn, void* arg,
              std::uint32_t restart = JANUS_PERMANENT) {
  janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
  if (!CHECK(supervisor != nullptr)) return 0;
  janus_child_spec spec = {};
  spec.start = fn;
  spec.arg = arg;
  spec.restart = restart;
  CHECK_EQ(janus_supervisor_add(supervisor, &spec), 1);
  const int answer = janus_supervisor_run(supervisor);
  CHECK_EQ(janus_supervisor_close(supervisor), 0);
  return answer;
}

}  // namespace

TEST(supervisor, a_child_that_dies_at_once_for_ever_is_given_up_at_once_or_with_delays_later) {
  on_any_workers([] {
    std::atomic<int> starts{0};
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 50);
    CHECK_EQ(run_alone(options, fail_at_once, &starts), JANUS_E_STATE);
    CHECK_EQ(starts.exchange(0), 51);
    // At once, then 1, 2, 4, 4 ms: 11 ms until the sixth start.
    for (const std::uint32_t strategy : {JANUS_ONE_FOR_ONE, JANUS_ONE_FOR_ALL}) {
      options = options_of(strategy, 5);
      options.delay_min_ns = kMs;
      options.delay_max_ns = 4 * kMs;
      const std::uint64_t before = janus_now_ns();
      CHECK_EQ(run_alone(options, fail_at_once, &starts), JANUS_E_STATE);
      CHECK_EQ(starts.exchange(0), 6);
      CHECK_GE(janus_now_ns() - before, 11 * kMs);
    }
  });
}

TEST(supervisor, delays_double_up_to_the_longest_and_begin_anew_after_a_life_as_long) {
  run_in(deterministic(2, 1), [] {  // whose time is exact
    static std::uint64_t times[16];
    static std::atomic<unsigned> started{0};
    started.store(0);
    auto dies = [](void*) -> std::int64_t {
      const unsigned at = started.fetch_add(1);
      if (at < 16) times[at] = janus_now_ns();
      if (at == 9) (void)janus_sleep_ns(64 * kMs);
      return -1;
    };
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 13);
    options.delay_max_ns = 64 * kMs;  // from 1 ms on
    CHECK_EQ(run_alone(options, dies, nullptr), JANUS_E_STATE);
    CHECK_EQ(started.load(), 14u);
    const std::uint64_t delays[] = {0, 1, 2, 4, 8, 16, 32, 64, 64, 64, 1, 2, 4};  // 9: its life, then at once
    for (unsigned i = 0; i < 13; ++i) {
      const std::uint64_t took = times[i + 1] - times[i];
      CHECK(took >= delays[i] * kMs && took < delays[i] * kMs + kMs / 2);
    }
  });
}

TEST(supervisor, only_recent_restarts_count) {
  run_in(deterministic(2, 3), [] {
    static std::atomic<int> starts{0};
    auto dies_each_ms = [](void* most) -> std::int64_t {
      if (starts.fetch_add(1) == *static_cast<int*>(most)) (void)janus_park(-1);
      (void)janus_sleep_ns(kMs);
      return -1;
    };
    // Three in 2.5 ms are too many; three in 3.5 ms are not.
    for (const bool is_quiet : {false, true}) {
      starts.store(0);
      int most = 40;
      janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 3);
      options.within_ns = is_quiet ? 5 * kMs / 2 : 7 * kMs / 2;
      auto runs = [&]() -> std::int64_t { return run_alone(options, dies_each_ms, &most); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task runner = scope.go(runs);
      std::int64_t result = 0;
      if (is_quiet) {
        CHECK(eventually([&] { return starts.load() == 41 || janus_task_state(runner) == JANUS_TASK_FAILED; }));
        CHECK_EQ(starts.load(), 41);
        CHECK_EQ(janus_task_cancel(runner), 0);
      }
      CHECK_EQ(janus_task_join(runner, &result), 0);
      CHECK_EQ(result, is_quiet ? JANUS_CANCELLED : JANUS_E_STATE);
      scope.end();
      if (!is_quiet) CHECK_EQ(starts.load(), 4);
    }
  });
}

TEST(supervisor, ops_and_time_have_both_to_be_short) {
  run_in(deterministic(1, 5), [] {
    static std::atomic<int> starts{0};
    // Spends few ops in much time, or many in none.
    auto dies = [](void* busy) -> std::int64_t {
      if (starts.fetch_add(1) == 20) return 0;
      if (*static_cast<bool*>(busy))
        for (int i = 0; i < 100; ++i) (void)janus_yield_check(100);
      else
        (void)janus_sleep_ns(kMs);
      return -1;
    };
    for (bool busy : {false, true})
      for (const bool both : {false, true}) {
        starts.store(0);
        janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 2);
        if (both || busy) options.within_ops = 5000;
        if (both || !busy) options.within_ns = kMs / 2;
        auto runs = [&]() -> std::int64_t { return run_alone(options, dies, &busy, JANUS_TRANSIENT); };
        Scope scope(JANUS_ON_ERROR_COLLECT);
        const janus_task runner = scope.go(runs);
        CHECK(eventually([&] { return starts.load() == 21 || janus_task_state(runner) == JANUS_TASK_FAILED; }));
        CHECK_EQ(starts.load(), 21);  // each alone says that they are not recent, and so do both
        CHECK_EQ(janus_task_cancel(runner), 0);
        scope.end();
      }
    // Neither says so: few ops, and little time.
    starts.store(0);
    bool busy = false;
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 2);
    options.within_ops = 1'000'000;
    options.within_ns = 1000 * kMs;
    CHECK_EQ(run_alone(options, dies, &busy), JANUS_E_STATE);
    CHECK_EQ(starts.load(), 3);
  });
}

TEST(supervisor, who_asks_for_the_ops_between_restarts_pays_for_the_looks_at_all_workers) {
  static constexpr std::uint32_t kRestarts = 20, kWorkers = 64;
  static std::uint64_t spent[2];
  static bool asks;
  for (const bool each : {false, true}) {
    asks = each;
    run_in(deterministic(kWorkers, 1), [] {
      auto runs = []() -> std::int64_t {
        std::atomic<int> starts{0};
        janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, kRestarts);
        options.within_ops = asks ? UINT64_MAX : 0;  // all of them are recent
        const std::uint64_t before = janus_budget_get_current().ops;
        CHECK_EQ(run_alone(options, fail_at_once, &starts), JANUS_E_STATE);
        spent[asks ? 1 : 0] = before - janus_budget_get_current().ops;
        return 0;
      };
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(1'000'000));
      scope.go(runs);
      CHECK_EQ(scope.end(), 0);
    });
  }
  CHECK_EQ(spent[1] - spent[0], std::uint64_t{kRestarts + 1} * kWorkers / 2);
}

TEST(supervisor, it_stops_its_children_the_last_first_when_it_is_told_to_end_or_closed) {
  on_any_workers([] {
    for (const bool is_closed : {false, true})
      with_family(5, options_of(JANUS_ONE_FOR_ONE, 0), [&](Family& family, janus_task runner) {
        CHECK_EQ(is_closed ? janus_supervisor_close(family.supervisor) : janus_task_cancel(runner), 0);
        std::int64_t result = 0;
        CHECK_EQ(janus_task_join(runner, &result), 0);
        CHECK_EQ(result, is_closed ? 0 : JANUS_CANCELLED);
        CHECK(family.says("-4-3-2-1-0"));
        if (is_closed) CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), JANUS_E_STALE);
      });
  });
}

TEST(supervisor, a_child_that_does_not_stop_in_time_holds_up_only_the_end) {
  on_any_workers([] {
    Family family;
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 1);
    family.supervisor = janus_supervisor_open(nullptr, &options);
    family.add(0);
    static std::atomic<bool> may_end{false}, has_begun{false};
    may_end.store(false);
    has_begun.store(false);
    auto clings = [](void*) -> std::int64_t {
      has_begun.store(true);
      auto waits = [](void*) -> std::int64_t {
        while (!may_end.load()) (void)janus_sleep_ns(kMs / 10);
        return 0;
      };
      return janus_shield(waits, nullptr);
    };
    janus_child_spec spec = {};
    spec.start = clings;
    spec.stop_ns = kMs;
    const std::int64_t id = janus_supervisor_add(family.supervisor, &spec);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task runner = scope.go(family);
    CHECK(family.has_started(0, 1));
    CHECK(eventually([&] { return has_begun.load(); }));
    CHECK_EQ(janus_supervisor_remove(family.supervisor, id), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_supervisor_remove(family.supervisor, id), JANUS_E_STALE);
    CHECK_EQ(janus_task_cancel(runner), 0);
    CHECK(family.says("+0-0"));
    CHECK_EQ(family.answer.load(), 1);
    may_end.store(true);
    scope.end();
    CHECK_EQ(family.answer.load(), JANUS_CANCELLED);
    CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), 1);
    CHECK_EQ(janus_supervisor_close(family.supervisor), 0);
  });
}

TEST(supervisor, one_for_all_gives_up_if_a_child_does_not_stop_for_it_in_time) {
  on_any_workers([] {
    Family family;
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ALL, 5);
    family.supervisor = janus_supervisor_open(nullptr, &options);
    static std::atomic<bool> has_begun{false};
    has_begun.store(false);
    auto clings = [](void*) -> std::int64_t {
      auto waits = [](void*) -> std::int64_t {
        has_begun.store(true);
        return janus_sleep_ns(20 * kMs);
      };
      return janus_shield(waits, nullptr);
    };
    janus_child_spec spec = {};
    spec.start = clings;
    spec.stop_ns = kMs;
    CHECK_EQ(janus_supervisor_add(family.supervisor, &spec), 1);
    family.add(1);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(family);
    CHECK(family.has_started(1, 1));
    CHECK(eventually([&] { return has_begun.load(); }));
    family.tell(1, Order::kFail);
    CHECK_EQ(scope.end(), JANUS_E_STATE);
    CHECK_EQ(family.members[1].starts.load(), 1);
    CHECK_EQ(janus_supervisor_close(family.supervisor), 0);
  });
}

TEST(supervisor, children_come_and_go_while_it_runs) {
  on_any_workers([] {
    with_family(2, options_of(JANUS_ONE_FOR_ONE, 5), [](Family& family, janus_task) {
      family.add(2);
      CHECK(family.has_started(2, 1));
      CHECK(family.says("+2"));
      CHECK_EQ(janus_supervisor_remove(family.supervisor, family.ids[1]), 0);
      CHECK(family.says("-1"));  // it has ended by then
      CHECK_EQ(janus_supervisor_remove(family.supervisor, family.ids[1]), JANUS_E_STALE);
      family.tell(1, Order::kFail);
      janus_child children[3] = {};
      CHECK_EQ(janus_supervisor_children(family.supervisor, children, 3), 2);
      CHECK_EQ(children[0].id, family.ids[0]);
      CHECK_EQ(children[1].id, family.ids[2]);
      CHECK_EQ(children[1].state, JANUS_CHILD_RUNS);
      CHECK_EQ(children[1].last.kind, JANUS_KIND_PENDING);
      CHECK_EQ(janus_supervisor_children(family.supervisor, children, 1), 2);
      family.tell(2, Order::kPanic);
      CHECK(family.has_started(2, 2));
      CHECK_EQ(janus_supervisor_remove(family.supervisor, family.ids[0]), 0);
      CHECK_EQ(janus_supervisor_remove(family.supervisor, family.ids[2]), 0);
      CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), 0);
      family.add(3);
      CHECK(family.has_started(3, 1));
    });
  });
}

TEST(supervisor, one_that_waits_for_its_start_is_removed_at_once) {
  on_any_workers([] {
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 5);
    options.delay_min_ns = options.delay_max_ns = 3'600'000 * kMs;
    with_family(1, options, [](Family& family, janus_task) {
      family.tell(0, Order::kFail);  // at once
      CHECK(family.has_started(0, 2));
      family.tell(0, Order::kFail);  // in an hour
      janus_child child = {};
      CHECK(eventually([&] {
        return janus_supervisor_children(family.supervisor, &child, 1) == 1 && child.state == JANUS_CHILD_WAITS;
      }));
      CHECK_EQ(child.last.code, -77);
      CHECK_EQ(janus_supervisor_remove(family.supervisor, family.ids[0]), 0);
      CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), 0);
    });
  });
}

TEST(supervisor, nobody_removes_what_he_is_in) {
  on_any_workers([] {
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 0);
    struct Self {
      janus_supervisor* supervisor;
      std::atomic<int> answers[2];
      static std::int64_t below(void* arg) {
        auto& its = *static_cast<Self*>(arg);
        its.answers[1].store(janus_supervisor_remove(its.supervisor, 1));
        return 0;
      }
      static std::int64_t start(void* arg) {
        auto& its = *static_cast<Self*>(arg);
        its.answers[0].store(janus_supervisor_remove(its.supervisor, 1));
        Scope scope;
        scope.go(below, arg);
        CHECK_EQ(scope.end(), 0);
        CHECK_EQ(janus_supervisor_close(its.supervisor), 0);
        return 0;
      }
    } self{janus_supervisor_open(nullptr, &options), {}};
    janus_child_spec spec = {};
    spec.start = Self::start;
    spec.arg = &self;
    spec.restart = JANUS_TRANSIENT;
    CHECK_EQ(janus_supervisor_add(self.supervisor, &spec), 1);
    CHECK_EQ(janus_supervisor_run(self.supervisor), 0);  // closed by its child
    CHECK_EQ(self.answers[0].load(), JANUS_E_DEADLOCK);
    CHECK_EQ(self.answers[1].load(), JANUS_E_DEADLOCK);
    CHECK_EQ(janus_supervisor_close(self.supervisor), JANUS_E_STALE);
  });
}

// What the child waits for is the task that removes it; the cancel ends that wait, unless it is in a shield.
TEST(supervisor, one_that_waits_for_whoever_removes_it_is_removed) {
  on_any_workers([] {
    for (const bool is_shielded : {false, true}) {
      const janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 0);
      static janus_supervisor* supervisor;
      static janus_task remover, child;
      static std::atomic<int> state;  // 1: the remover is known; 2: the child is about to wait for it
      static std::atomic<std::int64_t> joined;
      supervisor = janus_supervisor_open(nullptr, &options);
      state.store(0);
      auto joins = [](void*) -> std::int64_t {
        state.store(2);
        return janus_task_join(remover, nullptr);
      };
      static janus_task_fn join;
      join = joins;
      janus_child_spec spec = {};
      spec.restart = JANUS_TEMPORARY;
      spec.arg = is_shielded ? &state : nullptr;
      spec.start = [](void* in_shield) -> std::int64_t {
        child = janus_task_self();
        joined.store(in_shield != nullptr ? janus_shield(join, nullptr) : join(nullptr));
        return joined.load();
      };
      auto removes = [] {
        remover = janus_task_self();
        state.store(1);
        CHECK(eventually([] { return state.load() == 2; }));
        CHECK(eventually([] { return janus_task_state(child) == JANUS_TASK_BLOCKED; }));
        return janus_supervisor_remove(supervisor, 1);
      };
      auto runs = [] { return janus_supervisor_run(supervisor); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task remove = scope.go(removes);
      CHECK(eventually([] { return state.load() == 1; }));
      CHECK_EQ(janus_supervisor_add(supervisor, &spec), 1);
      const janus_task run = scope.go(runs);
      std::int64_t answer = 1;
      CHECK_EQ(janus_task_join(remove, &answer), 0);
      CHECK_EQ(answer, is_shielded ? JANUS_E_DEADLOCK : 0);
      CHECK(eventually([] { return janus_supervisor_children(supervisor, nullptr, 0) == 0; }));
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
      CHECK_EQ(janus_task_join(run, &answer), 0);
      CHECK_EQ(answer, 0);
      CHECK_EQ(joined.load(), is_shielded ? 0 : JANUS_CANCELLED);
      scope.end();
    }
  });
}

TEST(supervisor, one_that_gives_up_is_started_again_by_the_one_above) {
  on_any_workers([] {
    struct Inner {
      std::atomic<int> runs{0}, starts{0};
      static std::int64_t run(void* arg) {
        auto& its = *static_cast<Inner*>(arg);
        its.runs.fetch_add(1);
        return run_alone(options_of(JANUS_ONE_FOR_ONE, 2), fail_at_once, &its.starts);
      }
    } inner;
    CHECK_EQ(run_alone(options_of(JANUS_ONE_FOR_ONE, 3), Inner::run, &inner), JANUS_E_STATE);
    CHECK_EQ(inner.runs.load(), 4);
    CHECK_EQ(inner.starts.load(), 12);
  });
}

TEST(supervisor, when_its_budget_is_dry_it_gives_up) {
  on_any_workers([] {
    std::atomic<int> starts{0};
    const auto run_with = [&](janus_budget budget, janus_budget of_child, janus_task_fn fn) {
      starts.store(0);
      janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, JANUS_RESTARTS_ANY);
      options.budget = budget;
      janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
      janus_child_spec spec = {};
      spec.start = fn;
      spec.arg = &starts;
      spec.budget = of_child;
      CHECK_EQ(janus_supervisor_add(supervisor, &spec), 1);
      CHECK_EQ(janus_supervisor_run(supervisor), JANUS_E_STATE);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
    };
    janus_budget budget = budget_of(1'000'000);
    budget.spawn_count = 7;
    run_with(budget, {}, fail_at_once);
    CHECK_EQ(starts.load(), 7);
    // Each life gets a budget of its own, which it uses up.
    auto spends_all = [](void* counter) -> std::int64_t {
      static_cast<std::atomic<int>*>(counter)->fetch_add(1);
      for (;;)
        if (janus_yield_check(1000) < 0) return JANUS_CANCELLED;
    };
    run_with(budget_of(100'000), budget_of(30'000, 1 << 20), spends_all);
    CHECK(starts.load() >= 3 && starts.load() <= 4);
    // All of them spend the one that it has.
    run_with(budget_of(50'000), {}, spends_all);
    CHECK(starts.load() >= 1 && starts.load() <= 2);
    run_with(budget_of(1'000'000, 100), {}, fail_at_once);  // no memory for one task
    CHECK_EQ(starts.load(), 0);
    // What is not there cannot be given to it.
    auto poor = [&]() -> std::int64_t {
      run_with(budget_of(UINT32_MAX - 1), {}, fail_at_once);
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100'000));
    scope.go(poor);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(starts.load(), 0);
  });
}

TEST(supervisor, told_to_end_while_it_restarts_it_ends) {
  on_any_workers([] {
    const int rounds = scaled(30, 10);
    for (int i = 0; i < rounds; ++i) {
      std::atomic<int> starts{0};
      janus_supervisor_options options = options_of(i % 3, JANUS_RESTARTS_ANY);
      if (i % 2 == 0) options.delay_min_ns = options.delay_max_ns = kMs / 50;
      auto runs = [&]() -> std::int64_t { return run_alone(options, fail_at_once, &starts); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task runner = scope.go(runs);
      CHECK(eventually([&] { return starts.load() > i; }));
      CHECK_EQ(janus_task_cancel(runner), 0);
      std::int64_t result = 0;
      CHECK_EQ(janus_task_join(runner, &result), 0);
      CHECK_EQ(result, JANUS_CANCELLED);
      scope.end();
    }
  });
}

TEST(supervisor, it_may_be_run_again_and_not_twice_at_once) {
  on_any_workers([] {
    with_family(2, options_of(JANUS_ONE_FOR_ONE, 1), [](Family& family, janus_task runner) {
      CHECK_EQ(janus_supervisor_run(family.supervisor), JANUS_E_STATE);
      family.tell(1, Order::kFail);
      CHECK(family.has_started(1, 2));
      CHECK_EQ(janus_task_cancel(runner), 0);
      CHECK_EQ(janus_task_join(runner, nullptr), 0);
      family.answer.store(1);
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(family);
      CHECK(family.has_started(0, 2) && family.has_started(1, 3));
      family.tell(1, Order::kFail);  // the restart of the first run is forgotten
      CHECK(family.has_started(1, 4));
      CHECK_EQ(family.answer.load(), 1);
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
    });
  });
}

// The child that is stopped first computes until the others were told, too, and have ended: by themselves, as it seems. Then
// it adds two more, which nobody starts any more.
TEST(supervisor, the_end_of_a_run_is_no_death_in_the_next_one_and_who_comes_meanwhile_waits_for_its_turn) {
  on_one_worker([] {
    static constexpr unsigned kFirst = kMost - 2;
    static std::atomic<bool> meddles;
    meddles.store(true);
    Family family;
    const janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 0);  // gives up at a death
    family.supervisor = janus_supervisor_open(nullptr, &options);
    for (unsigned i = 0; i < kFirst; ++i) family.add(i);
    janus_child_spec spec = {};
    spec.arg = &family;
    spec.start = [](void* of) -> std::int64_t {
      (void)janus_park(-1);
      if (!meddles.exchange(false)) return JANUS_CANCELLED;
      auto computes = [](void* arg) -> std::int64_t {
        Family& its = *static_cast<Family*>(arg);
        for (int i = 1; its.noted.load() != 2 * kFirst; ++i) {
          (void)janus_yield_check(1);
          if (i % 1024 == 0) (void)janus_sleep_ns(kMs / 50);  // virtual time has to go on
        }
        for (unsigned i = kFirst; i < kMost; ++i) its.add(i);
        return JANUS_CANCELLED;
      };
      return janus_shield(computes, of);
    };
    CHECK_EQ(janus_supervisor_add(family.supervisor, &spec), std::int64_t{kFirst} + 1);
    for (const char* starts : {"+0+1+2+3+4+5", "+0+1+2+3+4+5+6+7"}) {
      family.answer.store(1);
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(family);
      CHECK(family.says(starts));
      for (int i = 0; i < 100; ++i) (void)janus_yield();  // it may act upon what it thinks that it has seen
      CHECK_EQ(family.answer.load(), 1);
      const bool is_first = meddles.load();
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
      if (is_first)
        family.told = family.noted.load();
      else
        CHECK(family.says("-7-6-5-4-3-2-1-0"));
    }
    CHECK_EQ(janus_supervisor_children(family.supervisor, nullptr, 0), std::int64_t{kMost} + 1);
    CHECK_EQ(janus_supervisor_close(family.supervisor), 0);
  });
}

TEST(supervisor, the_next_child_is_started_when_the_one_before_is_ready) {
  on_any_workers([] {
    janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 1);
    static std::atomic<int> ready{0};
    static std::atomic<bool> is_first_late{false};
    struct Step {
      static std::int64_t start(void* arg) {
        const int number = static_cast<int>(reinterpret_cast<std::intptr_t>(arg));
        if (number == 0 && is_first_late.exchange(false)) return janus_sleep_ns(3'600'000 * kMs);
        CHECK_EQ(ready.load(), number);
        (void)janus_sleep_ns(kMs / 10);
        ready.store(number + 1);
        CHECK_EQ(janus_child_ready(), 0);
        return janus_park(-1);
      }
    };
    for (const bool is_late : {false, true}) {
      ready.store(0);
      is_first_late.store(is_late);
      options.strategy = is_late ? JANUS_ONE_FOR_ALL : JANUS_ONE_FOR_ONE;
      janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
      for (int i = 0; i < 4; ++i) {
        janus_child_spec spec = {};
        spec.start = Step::start;
        spec.arg = as_arg(i);
        spec.ready_ns = is_late && i == 0 ? 300 * kMs : 60'000 * kMs;
        CHECK_EQ(janus_supervisor_add(supervisor, &spec), i + 1);
      }
      auto runs = [&]() -> std::int64_t { return janus_supervisor_run(supervisor); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(runs);
      CHECK(eventually([&] { return ready.load() == 4; }));
      janus_child first = {};
      CHECK_EQ(janus_supervisor_children(supervisor, &first, 1), 4);
      CHECK_EQ(first.restarts, is_late ? 1u : 0u);
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
    }
    CHECK_EQ(janus_child_ready(), JANUS_E_STATE);  // not its child
  });
}

TEST(supervisor, a_child_that_gives_up_its_own_handle_is_watched_as_any) {
  on_any_workers([] {
    std::atomic<int> starts{0};
    auto hides = [](void* counter) -> std::int64_t {
      static_cast<std::atomic<int>*>(counter)->fetch_add(1);
      CHECK_EQ(janus_task_release(janus_task_self()), 0);
      return -1;
    };
    CHECK_EQ(run_alone(options_of(JANUS_ONE_FOR_ONE, 3), hides, &starts), JANUS_E_STATE);
    CHECK_EQ(starts.load(), 4);
  });
}

TEST(supervisor, ten_thousand_children_start_die_and_stop) {
  static const int kChildren = scaled(10'000, 1'000);
  for (const unsigned workers : {1u, 2u, 8u})
    run_in(with_workers(workers), [] {
      static std::atomic<int> running{0}, starts{0}, out_of_order{0};
      running.store(0);
      starts.store(0);
      janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, JANUS_RESTARTS_ANY);
      janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
      auto lives = [](void* arg) -> std::int64_t {
        if (starts.fetch_add(1) < kChildren / 10) return -1;  // some die at first
        const auto number = reinterpret_cast<std::intptr_t>(arg);
        running.fetch_add(1);
        while (janus_park(-1) != JANUS_CANCELLED) {
        }
        const int left = running.fetch_sub(1);
        if (left != number + 1) out_of_order.fetch_add(1);
        return JANUS_CANCELLED;
      };
      for (int i = 0; i < kChildren; ++i) {
        janus_child_spec spec = {};
        spec.start = lives;
        spec.arg = as_arg(i);
        CHECK_EQ(janus_supervisor_add(supervisor, &spec), i + 1);
      }
      auto runs = [&]() -> std::int64_t { return janus_supervisor_run(supervisor); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(runs);
      CHECK(eventually([&] { return running.load() == kChildren; }));
      CHECK_EQ(starts.load(), kChildren + kChildren / 10);
      CHECK_EQ(janus_supervisor_remove(supervisor, kChildren / 2), 0);
      scope.cancel();
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_CANCELLED);
      CHECK_EQ(running.load(), 0);
      CHECK_EQ(janus_supervisor_children(supervisor, nullptr, 0), kChildren - 1);
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
    });
}

// By ops, not by time: on a machine that stands still the thread of the runner may come too late.
TEST(supervisor, children_that_are_busy_when_it_is_told_to_end_are_told_before_the_grace_is_over) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(2, 7), deterministic(8, 7)})
    run_in(config, [] {
      constexpr int kChildren = 40;  // of few the grace may be over between two looks of a runner whose time is virtual
      static std::atomic<int> started{0}, cleaned{0};
      started.store(0);
      cleaned.store(0);
      janus_supervisor_options options = options_of(JANUS_ONE_FOR_ONE, 0);
      janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
      auto computes = [](void* waits) -> std::int64_t {
        started.fetch_add(1);
        while (janus_yield_check(1) == 0) {
        }
        auto cleans = [](void* does_wait) -> std::int64_t {
          return does_wait != nullptr ? janus_sleep_ns(20 * kMs) : 0;
        };
        CHECK_EQ(janus_shield(cleans, waits), 0);
        cleaned.fetch_add(1);
        return JANUS_CANCELLED;
      };
      for (int i = 0; i < kChildren; ++i) {
        janus_child_spec spec = {};
        spec.start = computes;
        spec.arg = i == kChildren - 1 ? &started : nullptr;  // the last one, which is stopped first, takes long
        CHECK_EQ(janus_supervisor_add(supervisor, &spec), i + 1);
      }
      auto runs = [&]() -> std::int64_t { return janus_supervisor_run(supervisor); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task runner = scope.go(runs);
      CHECK(eventually([&] { return started.load() == kChildren; }));
      CHECK_EQ(janus_task_cancel(runner), 0);
      std::int64_t result = 0;
      CHECK_EQ(janus_task_join(runner, &result), 0);
      CHECK_EQ(result, JANUS_CANCELLED);
      CHECK_EQ(cleaned.load(), kChildren);  // none of them was ended by force
      scope.end();
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
    });
}

namespace {

// A family whose supervisor is a child of another one; or below a child of it, in a nursery.
struct Dynasty {
  Family family;
  bool is_far_below = false;
  std::atomic<std::uint64_t> runner{0};  // of the family
  janus_supervisor* outer = nullptr;
  std::int64_t id = 0;

  explicit Dynasty(bool far) : is_far_below(far) {
    const janus_supervisor_options of_family = options_of(JANUS_ONE_FOR_ONE, 0), of_outer = options_of(0, 100);
    family.supervisor = janus_supervisor_open(nullptr, &of_family);
    for (unsigned i = 0; i < kMost; ++i) family.add(i);
    outer = janus_supervisor_open(nullptr, &of_outer);
    janus_child_spec spec = {};
    spec.start = start;
    spec.arg = this;
    id = janus_supervisor_add(outer, &spec);
    CHECK_GT(id, 0);
  }
  static std::int64_t run(void* of) {
    auto& its = *static_cast<Dynasty*>(of);
    its.runner.store(janus_task_self().raw);
    return its.family();
  }
  static std::int64_t start(void* of) {
    if (!static_cast<Dynasty*>(of)->is_far_below) return run(of);
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(run, of);
    return scope.end();
  }
  std::int64_t operator()() { return janus_supervisor_run(outer); }
  bool has_started(int times) {
    bool have_all = true;
    for (unsigned i = 0; i < kMost; ++i) have_all = family.has_started(i, times) && have_all;
    return have_all;
  }
  void close() {
    CHECK_EQ(janus_supervisor_close(family.supervisor), 0);
    CHECK_EQ(janus_supervisor_close(outer), 0);
  }
};

}  // namespace

// The outer one has one child, and all below it live on its grace. So that has to be large enough for the family, too.
TEST(supervisor, one_below_another_stops_its_children_in_order_when_both_are_told_to_end) {
  on_any_workers([] {
    for (const bool is_far_below : {false, true}) {
      Dynasty dynasty(is_far_below);
      dynasty.family.ops_at_end = 20'000;
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(dynasty);
      CHECK(dynasty.has_started(1));
      dynasty.family.told = dynasty.family.noted.load();
      scope.cancel();
      CHECK_EQ(scope.end(), JANUS_CANCELLED);
      CHECK(dynasty.family.says("-7-6-5-4-3-2-1-0"));
      CHECK_EQ(dynasty.family.answer.load(), JANUS_CANCELLED);
      dynasty.close();
    }
  });
}

TEST(supervisor, what_one_below_has_ended_with_is_no_grace_for_others) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(4, 3)})
    run_in(config, [] {
      constexpr int kRuns = 8;
      constexpr std::int64_t kGrace = 65536;
      Dynasty dynasty(false);
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task outer = scope.go(dynasty);
      for (int i = 1; i <= kRuns; ++i) {  // each run of the family is told to end, and it is run again
        CHECK(dynasty.has_started(i));
        if (i < kRuns) CHECK_EQ(janus_task_cancel(janus_task{dynasty.runner.load()}), 0);
      }
      CHECK_EQ(janus_supervisor_remove(dynasty.outer, dynasty.id), 0);
      static std::atomic<std::int64_t> spent, has_begun;
      spent.store(0);
      has_begun.store(0);
      janus_child_spec spec = {};
      spec.start = [](void*) -> std::int64_t {
        has_begun.store(1);
        (void)janus_park(-1);
        for (;; spent.fetch_add(1)) (void)janus_yield_check(1);
      };
      CHECK_GT(janus_supervisor_add(dynasty.outer, &spec), 0);
      CHECK(eventually([] { return has_begun.load() == 1; }));
      CHECK_EQ(janus_task_cancel(outer), 0);
      CHECK_EQ(janus_task_join(outer, nullptr), 0);
      CHECK_GT(spent.load(), kGrace);
      CHECK_LT(spent.load(), 3 * kGrace);  // its own, and that of the outer runner
      scope.end();
      dynasty.close();
    });
}

// To wait for it uses up no ops that the others live on, so that it goes on stopping one after the other.
TEST(supervisor, a_child_that_takes_a_minute_to_end_keeps_the_others_waiting_for_their_turn) {
  run_in(deterministic(2, 9), [] {
    with_family(3, options_of(JANUS_ONE_FOR_ONE, 0), [](Family& family, janus_task runner) {
      janus_child_spec spec = {};
      spec.arg = &family;
      spec.start = [](void* of) -> std::int64_t {
        (void)janus_park(-1);
        auto tidies = [](void*) -> std::int64_t { return janus_sleep_ns(60'000 * kMs); };
        const std::int64_t answer = janus_shield(tidies, nullptr);
        static_cast<Family*>(of)->note('x', 3);
        return answer;
      };
      CHECK_EQ(janus_supervisor_add(family.supervisor, &spec), 4);
      janus_child children[4] = {};
      CHECK(eventually([&] {
        return janus_supervisor_children(family.supervisor, children, 4) == 4 && children[3].state == JANUS_CHILD_RUNS;
      }));
      CHECK_EQ(janus_task_cancel(runner), 0);
      CHECK_EQ(janus_task_join(runner, nullptr), 0);
      CHECK(family.says("x3-2-1-0"));
    });
  });
}

TEST(supervisor, any_mix_of_deaths_additions_and_removals_ends_as_it_should) {
  on_any_workers([] {
    for (std::uint32_t strategy = 0; strategy < 3; ++strategy) {
      janus_supervisor_options options = options_of(strategy, JANUS_RESTARTS_ANY);
      if (strategy == 0) options.delay_min_ns = 1000;
      janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
      static std::atomic<std::int64_t> alive{0};
      alive.store(0);
      auto lives = [](void* seed) -> std::int64_t {
        Dice dice(reinterpret_cast<std::uintptr_t>(seed) + static_cast<std::uint64_t>(alive.fetch_add(1)));
        const unsigned life = dice.below(20);
        std::int64_t result = dice.below(3) == 0 ? 1 : -1;
        for (unsigned i = 0; i < life; ++i)
          if (janus_yield() < 0) result = JANUS_CANCELLED, i = life;
        alive.fetch_sub(1);
        return result;
      };
      auto changes = [&] {
        Dice dice(strategy);
        std::int64_t ids[8] = {};
        for (int i = scaled(60, 20); i > 0; --i) {
          std::int64_t& id = ids[dice.below(8)];
          if (id == 0) {
            janus_child_spec spec = {};
            spec.start = lives;
            spec.arg = as_arg(i);
            spec.restart = dice.below(3);
            id = janus_supervisor_add(supervisor, &spec);
            CHECK_GT(id, 0);
          } else {
            const int answer = janus_supervisor_remove(supervisor, id);
            CHECK(answer == 0 || answer == JANUS_E_STALE);  // temporary ones may have gone
            id = 0;
          }
          for (unsigned n = dice.below(10); n > 0; --n) (void)janus_yield();
        }
        for (const std::int64_t id : ids)
          if (id != 0) (void)janus_supervisor_remove(supervisor, id);
      };
      auto runs = [&]() -> std::int64_t { return janus_supervisor_run(supervisor); };
      Scope all(JANUS_ON_ERROR_COLLECT);
      all.go(runs);
      {
        Scope scope;
        for (int i = 0; i < 3; ++i) scope.go(changes);
        CHECK_EQ(scope.end(), 0);
      }
      CHECK_EQ(janus_supervisor_children(supervisor, nullptr, 0), 0);
      CHECK_EQ(alive.load(), 0);
      CHECK_EQ(janus_supervisor_close(supervisor), 0);
      const std::int64_t end = all.end();
      CHECK(end == 0 || end == JANUS_E_STALE);  // it may not have come to run anything
    }
  });
}

// A child runs with the budget and the rights of the task that runs the supervisor.
TEST(supervisor, nobody_adds_a_child_who_could_not_spawn_it) {
  run_in(with_workers(1), [] {
    janus_supervisor_options options = options_of(0, 0);
    janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
    janus_child_spec spec = {};
    spec.start = [](void*) -> std::int64_t { return janus_park(-1); };
    spec.restart = JANUS_TEMPORARY;
    auto adds = [&]() -> std::int64_t { return janus_supervisor_add(supervisor, &spec); };
    const auto from = [&](janus_nursery* nursery) {
      const janus_task task = spawn(nursery, call_closure<decltype(adds)>, &adds);
      std::int64_t answer = 0;
      CHECK_EQ(janus_task_join(task, &answer), 0);
      janus_nursery_await(nursery, nullptr);
      janus_nursery_destroy(nursery);
      return answer;
    };
    janus_nursery_options confined = {};
    confined.on_error = JANUS_ON_ERROR_COLLECT;
    confined.cap = janus_cap_derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN, {});
    const auto in_cage = [] { return open_nursery(JANUS_ON_ERROR_COLLECT, 0, budget_of(100000)); };
    CHECK_EQ(from(open_nursery(JANUS_ON_ERROR_COLLECT)), 1);
    CHECK_EQ(from(in_cage()), JANUS_E_NO_CAP);
    CHECK_EQ(from(janus_nursery_open(nullptr, &confined)), JANUS_E_NO_CAP);
    auto runs = [&]() -> std::int64_t { return janus_supervisor_run(supervisor); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(runs);
    janus_child first = {};
    CHECK(eventually(
        [&] { return janus_supervisor_children(supervisor, &first, 1) == 1 && first.state == JANUS_CHILD_RUNS; }));
    CHECK_GT(from(open_nursery(JANUS_ON_ERROR_COLLECT)), 1);
    CHECK_EQ(from(in_cage()), JANUS_E_NO_CAP);
    CHECK_EQ(from(janus_nursery_open(nullptr, &confined)), JANUS_E_NO_CAP);
    CHECK_EQ(janus_supervisor_close(supervisor), 0);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(supervisor, bad_arguments_get_one_answer_each) {
  run_in(with_workers(1), [] {
    const auto refuses = [](const janus_supervisor_options& options) {
      CHECK(janus_supervisor_open(nullptr, &options) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    };
    refuses(options_of(3, 1));
    refuses(options_of(0, 4097));
    refuses(options_of(0, JANUS_RESTARTS_ANY - 1));
    janus_supervisor_options options = options_of(0, 1);
    options.size = 8;
    refuses(options);
    options = options_of(0, 1);
    options.delay_min_ns = 2;
    options.delay_max_ns = 1;
    refuses(options);
    janus_supervisor* const supervisor = janus_supervisor_open(nullptr, nullptr);
    janus_child_spec spec = {};
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), JANUS_E_INVALID);  // starts nothing
    spec.start = return_zero;
    spec.restart = 3;
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), JANUS_E_INVALID);
    spec.restart = JANUS_PERMANENT;
    spec.size = 4;
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), JANUS_E_INVALID);
    spec.size = 0;
    CHECK_EQ(janus_supervisor_add(supervisor, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_add(nullptr, &spec), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_run(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_close(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_children(nullptr, nullptr, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_children(supervisor, nullptr, 1), JANUS_E_INVALID);
    CHECK_EQ(janus_supervisor_remove(nullptr, 1), JANUS_E_INVALID);
    for (const std::int64_t id : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1}, INT64_MAX})
      CHECK_EQ(janus_supervisor_remove(supervisor, id), JANUS_E_STALE);
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), 1);
    CHECK_EQ(janus_supervisor_run(supervisor), JANUS_E_STATE);  // a permanent child that returns is dead, too
    CHECK_EQ(janus_supervisor_remove(supervisor, 1), 0);
    CHECK_EQ(janus_supervisor_close(supervisor), 0);
    CHECK_EQ(janus_supervisor_close(supervisor), JANUS_E_STALE);
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), JANUS_E_STALE);
    CHECK_EQ(janus_supervisor_run(supervisor), JANUS_E_STALE);
    CHECK_EQ(janus_supervisor_remove(supervisor, 1), JANUS_E_STALE);
  });
}

TEST(supervisor, nothing_is_left_of_it) {
  run_in(with_workers(2), [] {
    std::atomic<int> starts{0};
    const janus_supervisor_options options = options_of(JANUS_ONE_FOR_ALL, 100);
    CHECK_EQ(run_alone(options, fail_at_once, &starts), JANUS_E_STATE);
    const janus_stats before = stats_of();
    for (int i = 0; i < 20; ++i) CHECK_EQ(run_alone(options, fail_at_once, &starts), JANUS_E_STATE);
    const janus_stats after = stats_of();
    CHECK_EQ(after.bytes_in_use, before.bytes_in_use);
    CHECK_EQ(after.tasks_live, before.tasks_live);
  });
}

}  // namespace janus::test
