// SPDX-License-Identifier: Apache-2.0
// ends_test.cpp — the ends of tasks, runtimes and waits that are easy to get wrong.
#include <janus/llvm.h>
#include "rt/sched/worker.h"
#include "tests/api/world.h"
#include "tests/harness/thread_group.h"
#include "tests/task/pipe.h"

namespace janus::test {

namespace {

// Nested spawns of empty tasks: a stolen task ends at once, so thieves mostly find nothing.
std::int64_t tiny_tree(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return 0;
  Scope scope;
  for (int i = 0; i < 2; ++i) scope.go(tiny_tree, as_arg(left - 1));
  return scope.end();
}

// A child runs out of ops and nobody will recharge it: its wait ends as soon as no other task can run.
std::int64_t ends_by_quiescence() {
  Scope scope(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND);
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.ops = 10;
  auto spender = [] {
    for (int i = 0; i < 100000; ++i) {
      if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
    }
    return 0;
  };
  scope.go(spender, 0, budget);
  return scope.end();
}

}  // namespace

TEST(ends, thieves_that_find_nothing_fall_asleep) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const long status = run_in(deterministic(4, seed), [] {
      tiny_tree(as_arg(7));
      return ends_by_quiescence();
    });
    CHECK_EQ(status, JANUS_BUDGET_EXCEEDED);
  }
}

TEST(ends, an_exhausted_task_that_nobody_can_recharge_ends_on_any_number_of_workers) {
  for (unsigned workers : {1u, 2u, 4u, 8u}) {
    const long status = run_in(with_workers(workers), [] {
      for (int i = 0; i < 20; ++i) tiny_tree(as_arg(8));
      return ends_by_quiescence();
    });
    CHECK_EQ(status, JANUS_BUDGET_EXCEEDED);
  }
}

// --- Locals ---

namespace {

std::atomic<int> destroyed{0};
void count_destroyed(void*) {
  destroyed.fetch_add(1);
}
void panic_in_destructor(void*) {
  janus_task_panic("in a destructor");
}
void fault_in_destructor(void*) {
  __builtin_trap();
}
void nest_in_destructor(void* value) {
  Scope scope;
  for (int i = 0; i < 10; ++i) scope.go(count_up, value);
  scope.end();
}

// The key of each destructor, made once per process.
janus_local_key key_of(void (*destroy)(void*)) {
  static struct {
    void (*destroy)(void*);
    janus_local_key key;
  } known[8];
  for (auto& entry : known) {
    if (entry.destroy == destroy) return entry.key;
    if (entry.destroy != nullptr) continue;
    entry.destroy = destroy;
    CHECK_EQ(janus_local_new(&entry.key, destroy), 0);
    return entry.key;
  }
  return {0};
}

}  // namespace

TEST(ends, locals_are_destroyed_with_their_task) {
  const janus_local_key key = key_of(count_destroyed);
  destroyed = 0;
  run_in(with_workers(4), [&] {
    Scope scope;
    auto child = [&] { return janus_local_set(key, &destroyed); };
    for (int i = 0; i < 100; ++i) scope.go(child);
    CHECK_EQ(scope.end(), 0);
  });
  CHECK_EQ(destroyed.load(), 100);
}

// Each task has a value for only one of many keys.
TEST(ends, each_local_is_destroyed_where_there_is_no_other) {
  constexpr unsigned kKeys = 70;
  static janus_local_key keys[kKeys];
  for (janus_local_key& key : keys) CHECK_EQ(janus_local_new(&key, count_destroyed), 0);
  destroyed = 0;
  run_in(with_workers(1), [] {
    for (unsigned n = 0; n < kKeys; ++n) {
      auto child = [=] { return janus_local_set(keys[n], &destroyed); };
      Scope scope;
      scope.go(child);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(destroyed.load(), static_cast<int>(n) + 1);
    }
  });
  for (const janus_local_key key : keys) CHECK_EQ(janus_local_delete(key), 0);
}

TEST(ends, a_destructor_may_open_nurseries_of_its_own) {
  const janus_local_key key = key_of(nest_in_destructor);
  std::atomic<int> ran{0};
  run_in(with_workers(4), [&] {
    Scope scope;
    auto child = [&] { return janus_local_set(key, &ran); };
    for (int i = 0; i < 20; ++i) scope.go(child);
    CHECK_EQ(scope.end(), 0);
  });
  CHECK_EQ(ran.load(), 200);
}

TEST(ends, a_panic_in_a_destructor_is_the_tasks_own) {
  const janus_local_key key = key_of(panic_in_destructor);
  run_in(with_workers(2), [&] {
    for (int round = 0; round < 20; ++round) {
      Scope scope;
      auto child = [&] {
        janus_local_set(key, &destroyed);
        return 7;
      };
      scope.go(child);
      CHECK_EQ(scope.end(), JANUS_PANIC);
    }
  });
}

TEST(ends, a_fault_in_a_destructor_is_the_tasks_own) {
  const janus_local_key key = key_of(fault_in_destructor);
  run_in(with_workers(2), [&] {
    for (int round = 0; round < 20; ++round) {
      Scope scope;
      auto child = [&] {
        janus_local_set(key, &destroyed);
        return 7;
      };
      scope.go(child);
      CHECK_EQ(scope.end(), JANUS_PANIC);
    }
  });
}

TEST(ends, a_panicked_task_with_a_failing_destructor_harms_no_other_task) {
  const janus_local_key key = key_of(panic_in_destructor);
  run_in(with_workers(2), [&] {
    Scope scope;
    auto child = [&] {
      janus_local_set(key, &destroyed);
      janus_task_panic("before the destructor");
      return 0;
    };
    scope.go(child);
    CHECK_EQ(scope.end(), JANUS_PANIC);
  });
}

// --- The end of a runtime ---

namespace {

struct Outside {
  janus_rt* rt;
  janus_nursery* nursery;
  explicit Outside(unsigned workers) {
    const janus_rt_config config = with_workers(workers);
    rt = janus_rt_create(&config);
    nursery = janus_nursery_open(rt, nullptr);
  }
  template <class Closure>
  janus_task go(Closure& closure) {
    return janus_nursery_spawn_in(nursery, call_closure<Closure>, &closure, nullptr);
  }
};

void wait_for(std::atomic<int>& count, int wanted) {
  const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
  while (count.load() < wanted && platform::now_ns() < patience) __builtin_ia32_pause();
  CHECK_EQ(count.load(), wanted);
}

}  // namespace

TEST(ends, destroying_a_runtime_cancels_what_waits_and_lets_it_unwind) {
  for (unsigned workers : {1u, 3u}) {
    Outside outside(workers);
    std::atomic<int> began{0}, unwound{0};
    auto waiter = [&] {
      began.fetch_add(1);
      const int told = janus_park(-1);
      unwound.fetch_add(1);
      return told;
    };
    for (int i = 0; i < 50; ++i) outside.go(waiter);
    wait_for(began, 50);
    janus_rt_destroy(outside.rt);
    CHECK_EQ(unwound.load(), 50);
  }
}

TEST(ends, destroying_a_runtime_ends_a_loop_of_yields) {
  for (unsigned workers : {1u, 2u}) {
    Outside outside(workers);
    std::atomic<int> began{0}, unwound{0};
    auto looper = [&] {
      began.fetch_add(1);
      while (janus_yield() == 0) {
      }
      unwound.fetch_add(1);
      return JANUS_CANCELLED;
    };
    for (int i = 0; i < 4; ++i) outside.go(looper);
    wait_for(began, 4);
    janus_rt_destroy(outside.rt);
    CHECK_EQ(unwound.load(), 4);
  }
}

// --- Deadlock ---

namespace {

std::int64_t receive_what_nobody_sends(void*) {
  janus_channel* const channel = janus_channel_create(1, 0);
  char byte;
  const int told = janus_channel_recv(channel, &byte);
  janus_channel_release(channel);
  return told;
}
std::int64_t join_each_other(void*) {
  static std::atomic<std::uint64_t> handles[2];
  handles[0] = handles[1] = 0;
  Scope scope;
  auto first = [&] {
    while (handles[1].load() == 0) janus_yield();
    return janus_task_join({handles[1].load()}, nullptr);
  };
  auto second = [&] {
    while (handles[0].load() == 0) janus_yield();
    return janus_task_join({handles[0].load()}, nullptr);
  };
  handles[0] = scope.go(first).raw;
  handles[1] = scope.go(second).raw;
  return scope.end();
}
// Three children per task, `depth` levels deep; the innermost tasks park until they are cancelled.
std::int64_t park_below(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return janus_park(-1);
  Scope scope;
  for (int i = 0; i < 3; ++i) scope.go(park_below, as_arg(left - 1));
  return scope.end();
}

bool begins_with(const char* text, const char* beginning) {
  for (; *beginning != '\0' && *text == *beginning; ++text) ++beginning;
  return *beginning == '\0';
}
unsigned times_in(const char* text, const char* part) {
  unsigned times = 0;
  for (; *text != '\0'; ++text) times += begins_with(text, part) ? 1 : 0;
  return times;
}

}  // namespace

TEST(ends, a_deadlock_of_an_isolated_runtime_is_the_result_of_its_root) {
  for (const janus_task_fn fn : {receive_what_nobody_sends, join_each_other, park_below}) {
    for (const janus_rt_config& config :
         {with_workers(1), with_workers(2), with_workers(8), deterministic(1, 0), deterministic(4, 1)}) {
      janus_rt* const rt = janus_rt_create(&config);
      for (int round = 0; round < 3; ++round) CHECK_EQ(janus_rt_run(rt, fn, as_arg(2)), JANUS_E_DEADLOCK);
      CHECK_EQ(janus_rt_run(rt, return_arg, as_arg(7)), 7);
      const janus_stats stats = stats_of(rt);
      CHECK_EQ(stats.deadlocks, 3u);
      CHECK_EQ(stats.tasks_live, 0u);
      janus_rt_destroy(rt);
    }
  }
}

TEST(ends, a_thread_outside_reaches_tasks_by_their_handles) {
  Outside outside(1);
  std::atomic<int> began{0};
  auto waiter = [&] {
    began.fetch_add(1);
    return janus_park(-1);
  };
  const janus_task woken = outside.go(waiter), told = outside.go(waiter);
  wait_for(began, 2);
  CHECK_GE(janus_task_state(woken), JANUS_TASK_CREATED);
  CHECK_EQ(janus_unpark(woken), 0);
  CHECK_EQ(janus_task_cancel(told), 0);
  CHECK_EQ(janus_nursery_await(outside.nursery, nullptr), 0);
  CHECK_EQ(janus_task_state(woken), JANUS_TASK_COMPLETED);
  CHECK_EQ(janus_task_state(told), JANUS_TASK_CANCELLED);
  CHECK_EQ(janus_task_release(woken), 0);
  CHECK_EQ(janus_task_state(woken), JANUS_E_STALE);
  CHECK_EQ(janus_nursery_destroy(outside.nursery), 0);
  janus_rt_destroy(outside.rt);
}

// The report has a line for each waiting task; a task that waits for others comes before these.
TEST(ends, a_deadlock_names_who_waits_and_for_what) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const Pipe pipe;
  static char text[32768] = {};
  {
    const StandardErrorInto redirected(pipe);
    run_in(with_workers(1), [] {
      auto parks = [] {
        janus_task_set_name("sleeper");
        return janus_park(-1);
      };
      Scope scope;
      scope.go(receive_what_nobody_sends, nullptr);
      scope.go(parks);
      return scope.end();
    });
    run_in(with_workers(1), [] { return park_below(as_arg(2)); });
  }
  std::size_t length = 0;
  for (std::size_t more; (more = pipe.read(text + length, sizeof text - 1 - length)) != 0;) length += more;
  // If a child runs on the root's stack, the report does not name the nursery for which the root waits.
  CHECK(begins_with(text,
                    "janus: deadlock: every task waits for another\n"
                    "janus:   task 1 waits for tasks to end; nursery -\n") ||
        begins_with(text,
                    "janus: deadlock: every task waits for another\n"
                    "janus:   task 1 waits for nursery - to end; nursery -\n"));
  CHECK_EQ(times_in(text, "janus: deadlock: "), 2u);
  CHECK_EQ(times_in(text, " waits at a channel 0x"), 1u);
  CHECK_EQ(times_in(text, " (0 of 0); nursery -/-\n"), 1u);
  CHECK_EQ(times_in(text, "'sleeper' is parked; nursery -/-\n"), 1u);
  CHECK_EQ(times_in(text, " is parked; nursery -/-/-\n"), 9u);
  const unsigned tasks = times_in(text, "janus:   task ");
  CHECK_EQ(tasks, 3u + (1u + 3u + 9u));
  CHECK_EQ(times_in(text, "\n"), 2u + tasks + times_in(text, "janus:   at "));
}

TEST(ends, a_panic_report_distinguishes_stack_overflow_from_other_faults) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const Pipe pipe;
  static char text[16384] = {};
  {
    const StandardErrorInto redirected(pipe);
    run_in(with_workers(1), [] {
      auto below_its_stack = [] {
        *static_cast<volatile std::byte*>(current_worker().stack->limit - 16) = std::byte{1};
      };
      auto nowhere = [] { *reinterpret_cast<volatile std::byte*>(std::uintptr_t{4096} + 16) = std::byte{1}; };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(below_its_stack);
      scope.go(nowhere);
      CHECK_EQ(scope.end(), JANUS_PANIC);
    });
  }
  std::size_t length = 0;
  for (std::size_t more; (more = pipe.read(text + length, sizeof text - 1 - length)) != 0;) length += more;
  CHECK_EQ(times_in(text, " panicked: "), 2u);
  CHECK_EQ(times_in(text, " panicked: stack overflow at 0x"), 1u);
  CHECK_EQ(times_in(text, " panicked: invalid memory access at 0x1010;"), 1u);
}

TEST(ends, a_thread_that_waits_for_a_deadlock_hears_of_it_however_late_it_comes) {
  for (unsigned workers : {1u, 2u}) {
    Outside outside(workers);
    std::atomic<int> began{0};
    auto waiter = [&] {
      began.fetch_add(1);
      return receive_what_nobody_sends(nullptr);
    };
    for (int i = 0; i < 5; ++i) outside.go(waiter);
    wait_for(began, 5);
    janus_result result = {};
    CHECK_EQ(janus_nursery_await(outside.nursery, &result), JANUS_E_DEADLOCK);
    CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
    CHECK_EQ(result.cause, JANUS_CAUSE_OTHER);
    CHECK_EQ(janus_nursery_destroy(outside.nursery), 0);
    janus_rt_destroy(outside.rt);
  }
}

// A task that a thread outside may wake is no deadlock, however long it waits.
TEST(ends, a_wait_that_a_thread_outside_may_end_is_no_deadlock) {
  for (unsigned workers : {1u, 2u}) {
    Outside outside(workers);
    std::atomic<int> began{0};
    auto waiter = [&] {
      began.fetch_add(1);
      return janus_park(-1);
    };
    const janus_task task = outside.go(waiter);
    wait_for(began, 1);
    while (janus_task_state(task) == JANUS_TASK_RUNNING) __builtin_ia32_pause();
    const std::uint64_t until = platform::now_ns() + 20'000'000;
    while (platform::now_ns() < until) __builtin_ia32_pause();
    CHECK_EQ(stats_of(outside.rt).deadlocks, 0u);
    CHECK_EQ(janus_nursery_cancel(outside.nursery), 0);
    CHECK_EQ(janus_nursery_await(outside.nursery, nullptr), JANUS_CANCELLED);
    CHECK_EQ(janus_nursery_destroy(outside.nursery), 0);
    janus_rt_destroy(outside.rt);
  }
}

// A thread outside that has woken a task once may wake it again, although another thread awaits its nursery meanwhile.
TEST(ends, a_wake_from_a_thread_outside_is_no_deadlock) {
  for (unsigned workers : {1u, 2u}) {
    Outside outside(workers);
    std::atomic<int> rounds{0};
    auto waiter = [&] {
      for (int i = 0; i < 2; ++i) {
        rounds.fetch_add(1);
        if (janus_park(-1) != 0) return -5;
      }
      return 7;
    };
    const janus_task task = outside.go(waiter);
    const auto wait_for_round = [&](int round) {
      wait_for(rounds, round);
      while (janus_task_state(task) == JANUS_TASK_RUNNING) __builtin_ia32_pause();
    };
    wait_for_round(1);
    CHECK_EQ(janus_unpark(task), 0);
    wait_for_round(2);
    std::atomic<int> awaits{0};
    auto waker = [&] {
      wait_for(awaits, 1);
      const std::uint64_t until = platform::now_ns() + 20'000'000;
      while (platform::now_ns() < until) __builtin_ia32_pause();
      CHECK_EQ(janus_unpark(task), 0);
    };
    ThreadGroup threads;
    threads.start(waker);
    awaits.store(1);
    CHECK_EQ(janus_nursery_await(outside.nursery, nullptr), 0);
    threads.join();
    CHECK_EQ(stats_of(outside.rt).deadlocks, 0u);
    CHECK_EQ(janus_nursery_destroy(outside.nursery), 0);
    janus_rt_destroy(outside.rt);
  }
}

// As above, but the task finds the park token before it sleeps, so the thread did not have to wake it.
TEST(ends, a_park_token_from_a_thread_outside_is_no_deadlock) {
  for (unsigned workers : {1u, 2u}) {
    Outside outside(workers);
    std::atomic<int> began{0}, tokens{0};
    auto waiter = [&] {
      began.store(1);
      wait_for(tokens, 1);
      for (int i = 0; i < 2; ++i) {
        if (janus_park(-1) != 0) return -5;
      }
      return 7;
    };
    const janus_task task = outside.go(waiter);
    wait_for(began, 1);
    CHECK_EQ(janus_unpark(task), 0);
    tokens.store(1);
    auto waker = [&] {
      while (janus_task_state(task) == JANUS_TASK_RUNNING) __builtin_ia32_pause();
      const std::uint64_t until = platform::now_ns() + 20'000'000;
      while (platform::now_ns() < until) __builtin_ia32_pause();
      CHECK_EQ(janus_unpark(task), 0);
    };
    ThreadGroup threads;
    threads.start(waker);
    CHECK_EQ(janus_nursery_await(outside.nursery, nullptr), 0);
    threads.join();
    CHECK_EQ(stats_of(outside.rt).deadlocks, 0u);
    CHECK_EQ(janus_nursery_destroy(outside.nursery), 0);
    janus_rt_destroy(outside.rt);
  }
}

// Each of two runtimes sleeps while the other one runs.
TEST(ends, a_channel_between_two_runtimes_makes_no_deadlock) {
  Outside one(1), other(1);
  janus_channel* channels[2];
  std::atomic<int> made{0};
  auto maker = [&] {
    for (auto& channel : channels) channel = janus_channel_create(sizeof(int), 0);
    made.store(1);
    for (int i = 0; i < 200; ++i) {
      int value = i;
      if (janus_channel_send(channels[0], &value) != 0 || janus_channel_recv(channels[1], &value) != 0) return -5;
      if (value != i + 1) return -6;
    }
    return 0;
  };
  auto partner = [&] {
    for (int i = 0; i < 200; ++i) {
      int value = 0;
      if (janus_channel_recv(channels[0], &value) != 0) return -5;
      ++value;
      if (janus_channel_send(channels[1], &value) != 0) return -6;
    }
    return 0;
  };
  one.go(maker);
  wait_for(made, 1);
  other.go(partner);
  CHECK_EQ(janus_nursery_await(other.nursery, nullptr), 0);
  CHECK_EQ(janus_nursery_await(one.nursery, nullptr), 0);
  for (const Outside* outside : {&one, &other}) {
    CHECK_EQ(janus_nursery_destroy(outside->nursery), 0);
    CHECK_EQ(stats_of(outside->rt).deadlocks, 0u);
  }
  for (janus_channel* channel : channels) janus_channel_release(channel);
  janus_rt_destroy(other.rt);
  janus_rt_destroy(one.rt);
}

namespace {

// While this object lives, writes to descriptor 2 go to a file in memory.
class Stderr {
 public:
  Stderr() {
    constexpr long kMemFd = 319;
    file_ = static_cast<int>(call(kMemFd, reinterpret_cast<long>("stderr")));
    CHECK_GE(file_, 0);
    before_ = static_cast<int>(call(kDup, 2));
    CHECK_EQ(call(kDup2, file_, 2), 2);
  }
  ~Stderr() { call(kClose, file_); }
  // Restores descriptor 2 and reads up to `room` bytes of what was written.
  std::size_t end(char* text, std::size_t room) {
    CHECK_EQ(call(kDup2, before_, 2), 2);
    call(kClose, before_);
    constexpr long kPread = 17;
    const long got = call(kPread, file_, reinterpret_cast<long>(text), static_cast<long>(room));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  static constexpr long kClose = 3, kDup = 32, kDup2 = 33;
  static long call(long number, long first = 0, long second = 0, long third = 0) {
    const long arguments[6] = {first, second, third, 0, 0, 0};
    return platform::syscall(number, arguments);
  }
  int file_, before_;
};

}  // namespace

// A runtime cannot be freed while one of its tasks runs. So janus_rt_destroy() waits for the task's end, and prints a
// line that says so.
TEST(ends, destroying_a_runtime_waits_for_a_task_beyond_its_grace) {
  if (!has_pipes()) SKIP("no kernel, no file to read standard error from");
  janus_rt_config config = with_workers(1);
  config.grace_ms = 20;
  janus_rt* const rt = janus_rt_create(&config);
  janus_nursery* const nursery = janus_nursery_open(rt, nullptr);
  std::atomic<int> began{0};
  std::atomic<bool> has_ended{false};
  auto deaf = [&] {
    began.fetch_add(1);
    const std::uint64_t until = platform::now_ns() + 100'000'000;
    while (platform::now_ns() < until) __builtin_ia32_pause();
    has_ended.store(true);
    return 0;
  };
  CHECK(janus_nursery_spawn_in(nursery, call_closure<decltype(deaf)>, &deaf, nullptr).raw != 0);
  wait_for(began, 1);
  Stderr said;
  janus_rt_destroy(rt);
  char line[200] = {};
  CHECK_LT(said.end(line, sizeof line - 1), sizeof line - 1);
  CHECK(has_ended.load());
  CHECK_STREQ(line, "janus: the end of a runtime waits for tasks that have not ended 20 ms after they were told to\n");
}

TEST(ends, a_runtime_that_never_ran_anything_ends) {
  for (unsigned workers : {1u, 2u, 8u}) {
    const janus_rt_config config = with_workers(workers);
    janus_rt* const rt = janus_rt_create(&config);
    REQUIRE(rt != nullptr);
    janus_rt_destroy(rt);
  }
}

namespace {

// Every call with a destroyed runtime must fail with JANUS_E_STALE.
void expect_no_runtime(janus_rt* rt) {
  constexpr janus_task_fn kNothing = [](void*) { return std::int64_t{0}; };
  CHECK_EQ(janus_rt_run(rt, kNothing, nullptr), JANUS_E_STALE);
  janus_rt_destroy(rt);
  CHECK_EQ(janus_last_error(), JANUS_E_STALE);
  CHECK(janus_nursery_open(rt, nullptr) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_STALE);
  janus_stats stats{};
  stats.size = sizeof stats;
  stats.tasks_spawned = 4711;
  janus_rt_stats(rt, &stats);
  CHECK_EQ(stats.tasks_spawned, 4711u);
  CHECK_EQ(janus_last_error(), JANUS_E_STALE);
}

}  // namespace

TEST(ends, a_runtime_that_is_gone_is_refused_and_not_touched) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  janus_rt_destroy(rt);
  expect_no_runtime(rt);
  static char bytes[64];
  expect_no_runtime(reinterpret_cast<janus_rt*>(bytes));
  expect_no_runtime(reinterpret_cast<janus_rt*>(std::uintptr_t{8}));
}

TEST(ends, a_process_whose_runtime_was_destroyed_by_its_pointer_has_none) {
  const janus_rt_config config = with_workers(1);
  for (int round = 0; round < 2; ++round) {
    if (janus_rt_try_init(&config) != 0) SKIP("a program's own runtime stays");
    janus_rt* const rt = janus_rt_get();
    janus_rt_destroy(rt);
    CHECK(janus_rt_get() == nullptr);
    expect_no_runtime(rt);
    CHECK_EQ(janus_rt_run(
                 nullptr, [](void*) { return std::int64_t{0}; }, nullptr),
             JANUS_E_STATE);
    janus_rt_shutdown();
  }
}

// --- Results ---

TEST(ends, minus_one_after_a_cancel_is_cancelled_even_if_the_task_never_looked) {
  run_in(with_workers(2), [] {
    Scope scope;
    std::atomic<bool> is_told{false};
    auto blind = [&] {
      while (!is_told.load()) __builtin_ia32_pause();
      return JANUS_CANCELLED;
    };
    auto canceller = [&] {
      scope.cancel();
      is_told.store(true);
      return 0;
    };
    scope.go(canceller);
    scope.go(blind);
    janus_result result = {};
    CHECK_EQ(scope.end(&result), JANUS_CANCELLED);
    CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
    CHECK_EQ(result.errors, 0u);
  });
}

}  // namespace janus::test
