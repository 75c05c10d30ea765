// SPDX-License-Identifier: Apache-2.0
// janus_blocking: a function on a helper thread, for which its task waits.
#include "tests/api/in_task.h"
#include "tests/api/world.h"

namespace janus::test {

namespace {

template <class Closure>
std::int64_t blocking(Closure& closure) {
  return janus_blocking(call_closure<Closure>, &closure);
}

// Where functions on helper threads wait until the test lets them go on.
class Gate {
 public:
  void pass() {
    inside_.fetch_add(1);
    most_.store(inside_.load() > most_.load() ? inside_.load() : most_.load());
    while (open_.load() == 0) platform::wait(open_, 0, platform::kForever);
    inside_.fetch_sub(1);
  }
  void open() {
    open_.store(1);
    platform::wake(open_, ~0u >> 1);
  }
  int inside() const { return inside_.load(); }

 private:
  std::atomic<std::uint32_t> open_{0};
  std::atomic<int> inside_{0}, most_{0};
};

const void* slot_here() {
  const void* self = nullptr;
  asm volatile("mov %%gs:0, %0" : "=r"(self));
  return self;
}

TEST(blocking, the_task_gets_the_result) {
  on_any_workers([] {
    const void* const worker = slot_here();
    auto fn = [&]() -> std::int64_t {
      CHECK(slot_here() != worker);
      CHECK_EQ(janus_task_id(), 0u);
      CHECK_EQ(janus_yield(), JANUS_E_NO_TASK);
      CHECK_EQ(janus_blocking(return_zero, nullptr), JANUS_E_NO_TASK);
      for (int i = 0; i < 100'000; ++i) CHECK_EQ(janus_yield_check(1000), 0);  // no check ends a slice there
      return 42;
    };
    CHECK_EQ(blocking(fn), 42);
    CHECK_EQ(janus_blocking(return_arg, as_arg(-7)), -7);
    CHECK_EQ(janus_blocking(nullptr, nullptr), JANUS_E_INVALID);
    std::atomic<int> sum{0};
    auto calls = [&] {
      for (int i = 0; i < 20; ++i) CHECK_EQ(janus_blocking(count_up, &sum), 0);
    };
    Scope scope;
    for (int i = 0; i < 10; ++i) scope.go(calls);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(sum.load(), 200);
  });
}

TEST(blocking, its_worker_goes_on) {
  run_in(with_workers(1), [] {
    Gate gate;
    auto waits = [&] { gate.pass(); };
    auto calls = [&] { CHECK_EQ(blocking(waits), 0); };
    Scope scope;
    for (int i = 0; i < 3; ++i) scope.go(calls);
    CHECK(eventually([&] { return gate.inside() == 3; }));
    gate.open();
    CHECK_EQ(scope.end(), 0);
  });
}

// 64 in the process, and 16 of a cage. What is beyond waits for one that ends.
TEST(blocking, helpers_are_limited) {
  static constexpr int kMost = 64, kMostOfCage = 16;
  run_in(with_workers(2), [] {
    Gate of_cage, of_all;
    std::atomic<int> done{0};
    auto waits_caged = [&] { of_cage.pass(); };
    auto waits = [&] { of_all.pass(); };
    auto calls_caged = [&] {
      CHECK_EQ(blocking(waits_caged), 0);
      done.fetch_add(1);
    };
    auto calls = [&] {
      CHECK_EQ(blocking(waits), 0);
      done.fetch_add(1);
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(10'000'000));
    for (int i = 0; i < kMostOfCage + 8; ++i) cage.go(calls_caged);
    CHECK(eventually([&] { return of_cage.inside() == kMostOfCage; }));
    Scope scope;
    for (int i = 0; i < kMost; ++i) scope.go(calls);
    CHECK(eventually([&] { return of_all.inside() == kMost - kMostOfCage; }));
    for (int i = 0; i < 2000; ++i) CHECK_EQ(janus_yield(), 0);
    CHECK_EQ(of_cage.inside(), kMostOfCage);
    CHECK_EQ(of_all.inside(), kMost - kMostOfCage);
    CHECK_EQ(done.load(), 0);
    of_all.open();
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(of_cage.inside(), kMostOfCage);
    of_cage.open();
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(done.load(), kMost + kMostOfCage + 8);
  });
}

TEST(blocking, a_cancel_ends_the_wait_for_a_helper_and_not_the_one_for_the_function) {
  run_in(with_workers(2), [] {
    Gate gate;
    std::atomic<int> begun{0}, ran{0}, cancelled{0}, saw_it_after{0};
    auto waits = [&] {
      gate.pass();
      ran.fetch_add(1);
      return 5;
    };
    auto calls = [&]() -> std::int64_t {
      begun.fetch_add(1);
      const std::int64_t answer = blocking(waits);
      if (answer == 5 && janus_cancelled() == 1) saw_it_after.fetch_add(1);
      if (answer == JANUS_CANCELLED) cancelled.fetch_add(1);
      return 0;
    };
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(10'000'000));
    for (int i = 0; i < 20; ++i) cage.go(calls);
    CHECK(eventually([&] { return begun.load() == 20 && gate.inside() == 16; }));
    CHECK_EQ(cage.cancel(), 0);
    CHECK(eventually([&] { return cancelled.load() == 4; }));
    for (int i = 0; i < 1000; ++i) CHECK_EQ(janus_yield(), 0);
    CHECK_EQ(gate.inside(), 16);
    gate.open();
    cage.end();
    CHECK_EQ(ran.load(), 16);
    CHECK_EQ(saw_it_after.load(), 16);
    CHECK_EQ(cancelled.load(), 4);
  });
}

TEST(blocking, a_cancelled_task_calls_no_helper_but_in_a_shield) {
  on_any_workers([] {
    std::atomic<int> ran{0};
    auto task = [&]() -> std::int64_t {
      CHECK_EQ(janus_park(-1), JANUS_CANCELLED);
      CHECK_EQ(janus_blocking(count_up, &ran), JANUS_CANCELLED);
      CHECK_EQ(ran.load(), 0);
      return janus_shield([](void* counter) { return janus_blocking(count_up, counter); }, &ran);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    CHECK(has_started(scope.go(task)));
    CHECK_EQ(scope.cancel(), 0);
    scope.end();
    CHECK_EQ(ran.load(), 1);
  });
}

TEST(blocking, a_function_that_ends_by_force_is_the_tasks_panic) {
  on_any_workers([] {
    const auto faults = [](void*) -> std::int64_t {
      static int* volatile nowhere = nullptr;
      return *nowhere;
    };
    const auto panics = [](void*) -> std::int64_t { janus_task_panic("on a helper"); };
    const struct {
      janus_task_fn fn;
      std::uint32_t cause;
    } cases[] = {{faults, JANUS_CAUSE_BAD_ACCESS}, {panics, JANUS_CAUSE_TASK_PANIC}};
    for (const auto& [fn, cause] : cases) {
      if (kIsWatched && cause == JANUS_CAUSE_BAD_ACCESS) continue;  // the sanitizer reports it
      auto task = [fn = fn]() -> std::int64_t {
        (void)janus_blocking(fn, nullptr);
        CHECK(false);
        return 0;
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task handle = scope.go(task);
      CHECK_EQ(scope.await(), JANUS_PANIC);
      janus_result result = {};
      CHECK_EQ(janus_task_result(handle, &result), 0);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
      CHECK_EQ(result.cause, cause);
      scope.end();
      CHECK_EQ(janus_blocking(return_arg, as_arg(3)), 3);
    }
  });
}

TEST(blocking, it_costs_a_system_call_and_needs_the_rights) {
  on_any_workers([] {
    auto once = [] {
      CHECK_EQ(janus_blocking(return_arg, as_arg(1)), 1);
      CHECK_EQ(janus_budget_get_current().syscalls, 0u);
      CHECK_EQ(janus_blocking(return_arg, as_arg(1)), JANUS_E_BUDGET);
    };
    auto never = [] { CHECK_EQ(janus_blocking(return_arg, as_arg(1)), JANUS_E_NO_CAP); };
    janus_budget budget = budget_of(1'000'000);
    budget.syscalls = 1;
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
    cage.go(once);
    CHECK_EQ(cage.end(), 0);
    budget.syscalls = 0;
    Scope none(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
    none.go(never);
    CHECK_EQ(none.end(), 0);
    for (const std::uint32_t rights : {JANUS_CAP_SPAWN, JANUS_CAP_SYSCALL}) {
      janus_nursery_options options = {};
      options.cap = janus_cap_derive(janus_cap_root(nullptr), rights | JANUS_CAP_BUDGET, {});
      janus_spawn_options with = {};
      with.cap = janus_cap_derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN, {});
      janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
      if (rights == JANUS_CAP_SPAWN)
        CHECK_NE(janus_nursery_spawn_in(nursery, call_closure<decltype(never)>, &never, nullptr).raw, 0u);
      CHECK_EQ(end(nursery), 0);
    }
  });
}

// A function of a task in a cage is no thread of the host.
TEST(blocking, a_function_of_a_cage_calls_next_to_nothing) {
  on_any_workers([] {
    auto harmless = []() -> std::int64_t {
      CHECK_GT(janus_now_ns(), 0u);
      (void)janus_unix_time_ns();
      return janus_syscall(39) > 0 ? 1 : 2;
    };
    auto calls_harmless = [&] {
      const std::int64_t answer = blocking(harmless);
      CHECK_EQ(answer, has_kernel() ? 1 : 2);
    };
    const janus_task_fn escapes[] = {
        [](void*) -> std::int64_t { return janus_alloc(16) != nullptr; },
        [](void*) -> std::int64_t { return janus_nursery_open(nullptr, nullptr) != nullptr; },
        [](void*) -> std::int64_t { return janus_rt_create(nullptr) != nullptr; },
        [](void*) -> std::int64_t { janus_exit(9); },
        [](void*) -> std::int64_t { return janus_print(2, "out\n"); },
    };
    Scope good(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000));
    good.go(calls_harmless);
    CHECK_EQ(good.end(), 0);
    const janus_task_fn faults = [](void*) -> std::int64_t {
      static int* volatile nowhere = nullptr;
      return *nowhere;
    };
    const janus_task_fn panics = [](void*) -> std::int64_t { janus_task_panic("in a cage"); };
    for (const janus_task_fn fn : {escapes[0], escapes[1], escapes[2], escapes[3], escapes[4], faults, panics}) {
      if (fn == faults && kIsWatched) continue;  // the sanitizer reports it
      const std::uint32_t cause = fn == faults   ? JANUS_CAUSE_BAD_ACCESS
                                  : fn == panics ? JANUS_CAUSE_TASK_PANIC
                                                 : JANUS_CAUSE_MISUSE;
      auto task = [fn]() -> std::int64_t {
        (void)janus_blocking(fn, nullptr);
        CHECK(false);
        return 0;
      };
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000));
      const janus_task handle = cage.go(task);
      CHECK_EQ(cage.await(), JANUS_PANIC);
      janus_result result = {};
      CHECK_EQ(janus_task_result(handle, &result), 0);
      CHECK_EQ(result.cause, cause);
      cage.end();
    }
  });
}

// Elsewhere it may do what a thread outside tasks may, and leaves nothing to the next function on its thread.
TEST(blocking, a_function_outside_cages_is_a_thread_of_the_host) {
  run_in(with_workers(2), [] {
    janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 1);
    auto sends = [&] {
      const std::uint64_t word = 11;
      CHECK_EQ(janus_channel_try_send(channel, &word), 0);
      CHECK(janus_rt_create(nullptr) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_STATE);
    };
    auto receives = [&] {
      std::uint64_t word = 0;
      CHECK_EQ(janus_channel_recv(channel, &word), 0);
      CHECK_EQ(word, 11u);
    };
    Scope scope;
    scope.go(receives);
    CHECK_EQ(blocking(sends), 0);
    CHECK_EQ(scope.end(), 0);
    auto asks = [] {
      CHECK_EQ(janus_last_error(), 0);
      CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);
    };
    CHECK_EQ(blocking(asks), 0);
    janus_channel_release(channel);
  });
}

TEST(blocking, in_deterministic_mode_the_order_comes_from_the_seed) {
  expect_order_by_seed(3, [] {
    auto calls = [] {
      for (int i = 0; i < 5; ++i) {
        CHECK_EQ(janus_blocking(return_arg, as_arg(i)), i);
        CHECK_EQ(janus_yield(), 0);
      }
    };
    Scope scope;
    for (int i = 0; i < 4; ++i) scope.go(calls);
    CHECK_EQ(scope.end(), 0);
  });
}

}  // namespace

}  // namespace janus::test
