// SPDX-License-Identifier: Apache-2.0
// fork_join and janus_fork_join: each half ends by itself, whatever the other one does, and the caller goes on.
#include <janus/rt.hpp>

#include "tests/api/counted.h"
#include "tests/api/in_task.h"
#include "tests/harness/scale.h"

extern "C" {
// The C library's locks (rt/abi/lock_by_address.cpp).
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);
}

namespace {

using namespace janus;
using test::Counted;
using test::eventually;
using test::scaled;
using test::stats_of;

// Neither copied nor moved.
class Fixed {
 public:
  explicit Fixed(int value) noexcept : value_(value) {}
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;
  int operator()() const noexcept { return value_; }

 private:
  int value_;
};

[[noreturn]] int panic_now() {
  janus_task_panic("on purpose");
}
// Overflows the stack.
[[gnu::noinline]] int dive(int depth) {
  volatile int here[64] = {depth};
  return depth == INT32_MAX ? 0 : dive(depth + 1) + here[0];
}
Result<int> loop_until_cancelled() {
  while (janus_yield_check(1) == 0) {
  }
  return Error{JANUS_CANCELLED, JANUS_KIND_CANCELLED};
}

template <class T>
bool is_panic(const Result<T>& result) {
  return !result.ok() && result.error().code == JANUS_PANIC && result.error().kind == JANUS_KIND_PANIC;
}
template <class T>
bool is_cancel(const Result<T>& result) {
  return !result.ok() && result.error().code == JANUS_CANCELLED && result.error().kind == JANUS_KIND_CANCELLED;
}

TASK_TEST(fork, results_come_in_the_order_of_the_closures) {
  auto [number, nothing, text, error] = fork_join([] { return -7; }, [] {}, [] { return "text"; },
                                                  []() -> Result<long> {
                                                    return Error{-42, 9};
                                                  });
  static_assert(std::is_same_v<decltype(nothing), Result<void>> && std::is_same_v<decltype(error), Result<long>>);
  CHECK_EQ(number.value(), -7);
  CHECK(nothing.ok());
  CHECK_STREQ(text.value(), "text");
  CHECK_EQ(error.error().code, -42);
  CHECK_EQ(error.error().kind, 9u);
}

TASK_TEST(fork, closures_stay_where_they_are_and_may_be_references) {
  const Fixed five(5);
  Fixed six(6);
  int written = 0;
  auto [a, b, c] = fork_join(five, six, [&written] { written = 1; });
  CHECK_EQ(a.value() * 10 + b.value(), 56);
  CHECK(c.ok());
  CHECK_EQ(written, 1);
  auto [d, e] = fork_join(five, five);
  CHECK_EQ(d.value() + e.value(), 10);
}

TASK_TEST(fork, results_and_closures_that_only_move_are_destroyed_once) {
  {
    auto results =
        fork_join([counted = Counted(1)] { return Counted(counted.value() + 1); },
                  [counted = Counted(3)]() mutable { return std::move(counted); }, [] { return Counted(7); });
    CHECK_EQ(std::get<0>(results).value().value(), 2);
    CHECK_EQ(std::get<1>(results).value().value(), 3);
    Counted moved = std::get<2>(std::move(results)).value();
    CHECK_EQ(moved.value(), 7);
  }
  CHECK_EQ(Counted::alive(), 0);
}

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a.value() + b.value();
}

TASK_TEST(fork, a_recursion_gives_its_result_and_its_memory_back) {
  CHECK_EQ(fib(scaled(20, 14)), scaled(6765, 377));
  const std::uint64_t before = stats_of().bytes_in_use;
  for (int i = 0; i < 3; ++i) CHECK_EQ(fib(14), 377);
  CHECK_LE(stats_of().bytes_in_use, before + before / 2 + (1 << 20));
}

TASK_TEST(fork, a_half_that_panics_ends_alone) {
  for (int i = 0; i < 3; ++i) {
    auto [a, b] = fork_join(panic_now, [] { return 1; });
    CHECK(is_panic(a));
    CHECK_EQ(b.value(), 1);
    auto [c, d] = fork_join([] { return 2; }, panic_now);
    CHECK_EQ(c.value(), 2);
    CHECK(is_panic(d));
    auto [e, f, g, h] = fork_join([] { return 3; }, [] { return 4; }, panic_now, [] { return 5; });
    CHECK_EQ(e.value() * 100 + f.value() * 10 + h.value(), 345);
    CHECK(is_panic(g));
    auto [j, k, l] = fork_join(panic_now, panic_now, panic_now);
    CHECK(is_panic(j) && is_panic(k) && is_panic(l));
  }
  CHECK_EQ(fib(10), 55);
}

TASK_TEST(fork, a_half_that_overflows_ends_alone) {
  const int rounds = scaled(20, 3);
  for (int i = 0; i < rounds; ++i) {
    auto [a, b] = fork_join([] { return dive(0); }, [] { return fib(5); });
    CHECK(is_panic(a));
    CHECK_EQ(b.value(), 5);
    auto [c, d] = fork_join([] { return fib(5); }, [] { return dive(0); });
    CHECK_EQ(c.value(), 5);
    CHECK(is_panic(d));
  }
}

TASK_TEST(fork, a_panic_ends_the_innermost_half_and_no_other) {
  auto [outer, other] = fork_join(
      [] {
        auto [inner, beside] = fork_join(panic_now, [] { return 1; });
        return is_panic(inner) && beside.ok() ? 2 : 3;
      },
      [] {
        auto [inner, beside] = fork_join([] { return 1; }, panic_now);
        return is_panic(beside) && inner.ok() ? 4 : 5;
      });
  CHECK_EQ(outer.value(), 2);
  CHECK_EQ(other.value(), 4);
}

TASK_TEST(fork, the_value_of_a_failed_half_panics_the_caller) {
  auto [a, b] = fork_join(
      [] {
        auto [inner, beside] = fork_join(panic_now, [] {});
        return inner.value();
      },
      [] { return 1; });
  CHECK(is_panic(a));
  CHECK_EQ(b.value(), 1);
  Nursery nursery({.on_error = OnError::kCollect});
  auto task = nursery.spawn([] {
    auto [left, right] = fork_join([] { return 1; }, panic_now);
    return right.value();
  });
  CHECK_EQ(task.join().error().code, JANUS_PANIC);
}

TASK_TEST(fork, the_first_half_is_part_of_the_calling_task_and_the_others_are_not) {
  const std::uint64_t self = janus_task_id();
  auto [a, b] = fork_join([] { return janus_task_id(); }, [] { return janus_task_id(); });
  CHECK_EQ(a.value(), self);
  CHECK_NE(b.value(), self);
}

TASK_TEST(fork, a_half_begins_without_a_current_nursery_and_the_callers_is_current_again) {
  std::atomic<int> count = 0;
  CHECK(janus_nursery_create() != nullptr);
  CHECK_EQ(janus_nursery_spawn(test::count_up, &count), 0);
  auto [a, b] = fork_join([&] { return janus_nursery_spawn(test::count_up, &count); },
                          [&] { return janus_nursery_spawn(test::count_up, &count); });
  CHECK_EQ(a.value(), -1);
  CHECK_EQ(b.value(), -1);
  CHECK_EQ(janus_nursery_spawn(test::count_up, &count), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(count.load(), 2);
  CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);
}

TASK_TEST(fork, nurseries_that_a_half_leaves_open_are_awaited) {
  std::atomic<int> ended = 0;
  const auto leave_counted = [&ended] {
    janus_nursery* const nursery = test::open_nursery();
    for (int i = 0; i < 3; ++i)
      test::spawn(
          nursery,
          [](void* at) -> std::int64_t {
            for (int n = 0; n < 20; ++n) janus_yield();
            static_cast<std::atomic<int>*>(at)->fetch_add(1);
            return 0;
          },
          &ended);
  };
  auto [a, b] = fork_join(leave_counted, leave_counted);
  CHECK(a.ok() && b.ok());
  CHECK_EQ(ended.load(), 6);
  // A failure in there becomes the half's.
  const auto leave_failing = [] {
    CHECK(janus_nursery_create() != nullptr);
    CHECK_EQ(janus_nursery_spawn(test::return_arg, test::as_arg(-77)), 0);
    return 1;
  };
  auto [c, d] = fork_join(leave_failing, leave_failing);
  CHECK_EQ(c.error().code, -77);
  CHECK_EQ(d.error().code, -77);
}

TASK_TEST(fork, the_children_of_a_half_that_panics_are_cancelled_and_awaited) {
  std::atomic<int> ended = 0;
  const auto panic_with_children = [&ended]() -> int {
    janus_nursery* const nursery = test::open_nursery();
    CHECK(janus_nursery_create() != nullptr);
    const janus_task child = test::spawn(
        nursery,
        [](void* at) -> std::int64_t {
          test::yield_until_cancelled(nullptr);
          static_cast<std::atomic<int>*>(at)->fetch_add(1);
          return JANUS_CANCELLED;
        },
        &ended);
    CHECK(test::has_started(child));
    janus_task_panic("on purpose");
  };
  auto [a, b] = fork_join(panic_with_children, [] { return 1; });
  CHECK(is_panic(a));
  CHECK_EQ(b.value(), 1);
  CHECK_EQ(ended.load(), 1);
  auto [c, d] = fork_join([] { return 1; }, panic_with_children);
  CHECK(is_panic(d));
  CHECK_EQ(c.value(), 1);
  CHECK_EQ(ended.load(), 2);
  // The caller's nurseries are its own.
  Nursery outer;
  auto beside = outer.spawn([] { return loop_until_cancelled(); });
  auto [e, f] = fork_join(panic_with_children, panic_now);
  CHECK(is_panic(e) && is_panic(f));
  CHECK(!beside.done());
  beside.cancel();
  CHECK(is_cancel(beside.join()));
}

TASK_TEST(fork, a_half_that_has_waited_may_panic_or_fail) {
  const Channel<int> channel;
  auto [a, b] = fork_join(
      [&]() -> int {
        CHECK_EQ(channel.recv().value(), 1);
        janus_task_panic("on purpose");
      },
      [&] {
        CHECK(channel.send(1).ok());
        return 2;
      });
  CHECK(is_panic(a));
  CHECK_EQ(b.value(), 2);
  auto [c, d] = fork_join(
      [&]() -> Result<int> {
        CHECK_EQ(channel.recv().value(), 1);
        return Error{-5, JANUS_KIND_CHILD_FAILED};
      },
      [&] {
        CHECK(channel.send(1).ok());
        return 3;
      });
  CHECK_EQ(c.error().code, -5);
  CHECK_EQ(d.value(), 3);
  CHECK_EQ(fib(8), 21);
}

TASK_TEST(fork, locks_that_a_half_took_are_released_when_it_panics_and_the_callers_are_not) {
  static const int kBefore = 0, kInside = 0;
  CHECK_EQ(janus_hold_try(&kBefore), 1);
  auto [a, b] = fork_join(
      []() -> int {
        CHECK_EQ(janus_hold_try(&kInside), 1);
        janus_task_panic("on purpose");
      },
      [] { return 1; });
  CHECK(is_panic(a) && b.ok());
  auto [c, d] = fork_join([] { return 0; }, [] { return janus_hold_try(&kBefore) * 10 + janus_hold_try(&kInside); });
  CHECK(c.ok());
  CHECK_EQ(d.value(), 1);
  janus_hold_end(&kBefore);
}

TASK_TEST(fork, a_half_that_unlocks_what_its_caller_locked_leaves_no_lock_of_its_own) {
  static const int kFirst = 0, kSecond = 0, kInside = 0;
  const auto is_free = [](const int* object) {
    auto [a, b] = fork_join([] {}, [object] { return janus_hold_try(object); });
    return a.ok() && b.value() == 1;
  };
  const auto unlock_and_panic = [](auto... unlocked) -> int {
    (janus_hold_end(unlocked), ...);
    CHECK_EQ(janus_hold_try(&kInside), 1);
    janus_task_panic("on purpose");
  };
  // The older of the caller's locks, then, in a half of a half, both of two callers.
  CHECK_EQ(janus_hold_try(&kFirst), 1);
  CHECK_EQ(janus_hold_try(&kSecond), 1);
  auto [a, b] = fork_join([&] { return unlock_and_panic(&kFirst); }, [] {});
  CHECK(is_panic(a) && b.ok());
  CHECK(is_free(&kFirst) && is_free(&kInside));
  CHECK(!is_free(&kSecond));
  auto [c, d] = fork_join(
      [&]() -> int {
        CHECK_EQ(janus_hold_try(&kFirst), 1);
        auto [e, f] = fork_join([&] { return unlock_and_panic(&kFirst, &kSecond); }, [] {});
        CHECK(is_panic(e) && f.ok());
        CHECK(is_free(&kFirst) && is_free(&kSecond) && is_free(&kInside));
        CHECK_EQ(janus_hold_try(&kInside), 1);
        janus_task_panic("on purpose");
      },
      [] {});
  CHECK(is_panic(c) && d.ok());
  CHECK(is_free(&kFirst) && is_free(&kSecond) && is_free(&kInside));
}

TASK_TEST(fork, a_cancel_of_the_caller_cancels_both_halves) {
  Nursery nursery;
  std::atomic<int> began = 0;
  auto task = nursery.spawn([&began] {
    const auto half = [&began] {
      began.fetch_add(1);
      return loop_until_cancelled();
    };
    auto [a, b] = fork_join(half, half);
    CHECK(is_cancel(a) && is_cancel(b));
    // From now on nothing begins.
    auto [c, d] = fork_join([&began] { began.fetch_add(10); }, [&began] { began.fetch_add(10); });
    CHECK(is_cancel(c) && is_cancel(d));
    return 3;
  });
  CHECK(eventually([&] { return began.load() > 0; }));
  nursery.cancel();
  CHECK_EQ(task.join().value(), 3);
  CHECK_LE(began.load(), 2);
}

TASK_TEST(fork, a_thousand_deep_in_either_half) {
  struct Deep {
    static int first(int depth) {
      if (depth == 0) return 0;
      auto [a, b] = fork_join([depth] { return first(depth - 1); }, [] { return 1; });
      return a.value() + b.value();
    }
    static int second(int depth) {
      if (depth == 0) return 0;
      auto [a, b] = fork_join([] { return 1; }, [depth] { return second(depth - 1); });
      return a.value() + b.value();
    }
  };
  const int depth = test::kIsWatched ? 30 : 1000;  // instrumented frames are large
  for (const auto run : {Deep::first, Deep::second}) {
    Nursery nursery;
    auto task = nursery.spawn([run] { return run(depth); }, {.stack_size = 4 << 20});
    CHECK_EQ(task.join().value(), depth);
  }
}

TASK_TEST(fork, below_a_budget_the_other_half_costs_a_spawn) {
  const auto in_cage = [](janus_budget budget, auto body) {
    Nursery nursery({.on_error = OnError::kCollect, .on_exhaustion = OnExhaustion::kDeny, .budget = budget});
    auto task = nursery.spawn(body);
    const auto result = task.join();
    (void)nursery.await();
    return result;
  };
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.spawn_count = 9;
  budget.memory = 4 << 20;
  budget.ops = 1 << 30;
  const auto spent = in_cage(budget, [] {
    const janus_budget before = janus_budget_get_current();
    auto [a, b, c] = fork_join([] {}, [] {}, [] {});
    CHECK(a.ok() && b.ok() && c.ok());
    const janus_budget after = janus_budget_get_current();
    CHECK_EQ(after.memory, before.memory);
    return before.spawn_count - after.spawn_count;
  });
  CHECK_EQ(spent.value(), 2);
  // Where it does not reach, neither half runs.
  budget.spawn_count = 1;
  const auto refused = in_cage(budget, [] {
    std::atomic<int> ran = 0;
    const auto run = [&ran] { ran.fetch_add(1); };
    auto [a, b] = fork_join(run, run);
    CHECK_EQ(a.error().code, JANUS_E_BUDGET);
    CHECK_EQ(b.error().code, JANUS_E_BUDGET);
    CHECK_EQ(b.error().kind, Error::kCall);
    return ran.load();
  });
  CHECK_EQ(refused.value(), 0);
}

TASK_TEST(fork, halves_that_use_up_the_budget_end_as_such) {
  Nursery nursery({.on_error = OnError::kCollect,
                   .on_exhaustion = OnExhaustion::kFail,
                   .budget = {1 << 14, 4 << 20, 100, 100, 100}});
  std::atomic<int> went_on = 0;
  auto task = nursery.spawn([&went_on] {
    auto [a, b] = fork_join([] { return loop_until_cancelled(); }, [] { return loop_until_cancelled(); });
    went_on = a.error().kind == JANUS_KIND_BUDGET_EXCEEDED && b.error().kind == JANUS_KIND_BUDGET_EXCEEDED ? 1 : -1;
    return loop_until_cancelled();
  });
  CHECK_EQ(task.join().error().kind, JANUS_KIND_BUDGET_EXCEEDED);
  CHECK_GE(went_on.load(), 0);  // the caller may have been the first to find nothing left
}

TASK_TEST(fork, halves_that_wait_for_budget_go_on_when_it_comes) {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.ops = 1 << 13;
  budget.memory = 4 << 20;
  Nursery nursery({.budget = budget});
  auto task = nursery.spawn([] {
    const auto work = [] {
      for (int i = 0; i < 1 << 13; ++i) {
        if (janus_yield_check(1) < 0) return -1;
      }
      return 1;
    };
    auto [a, b] = fork_join(work, work);
    return a.value() + b.value();
  });
  for (int i = 0; i < 20; ++i) {
    (void)janus_nursery_recharge(nursery.raw(), {1 << 12, 0, 0, 0, 0});
    (void)yield();
  }
  CHECK_EQ(task.join().value(), 2);
}

TASK_TEST(fork, the_c_function_reports_how_each_ended) {
  janus_result results[2] = {};
  CHECK_EQ(janus_fork_join(test::return_arg, test::as_arg(1), test::return_arg, test::as_arg(2), results), 0);
  CHECK_EQ(janus_fork_join(test::return_arg, test::as_arg(-9), test::return_arg, test::as_arg(2), results), -9);
  CHECK_EQ(results[0].kind, JANUS_KIND_CHILD_FAILED);
  CHECK_EQ(results[0].code, -9);
  CHECK_EQ(results[0].task_id, janus_task_id());
  CHECK_EQ(results[1].kind, JANUS_KIND_SUCCESS);
  CHECK_EQ(janus_fork_join(test::return_arg, test::as_arg(1), test::return_arg, test::as_arg(-8), results), -8);
  CHECK_EQ(results[0].kind, JANUS_KIND_SUCCESS);
  CHECK_EQ(results[1].code, -8);
  CHECK_NE(results[1].task_id, janus_task_id());
  const auto panic = [](void*) -> std::int64_t { panic_now(); };
  CHECK_EQ(janus_fork_join(panic, nullptr, test::return_arg, test::as_arg(-8), results), JANUS_PANIC);
  CHECK_EQ(results[0].kind, JANUS_KIND_PANIC);
  CHECK_EQ(results[0].cause, JANUS_CAUSE_TASK_PANIC);
  CHECK_EQ(results[1].code, -8);
  CHECK_EQ(janus_fork_join(nullptr, nullptr, test::return_arg, nullptr, results), JANUS_E_INVALID);
  CHECK_EQ(results[0].kind, JANUS_KIND_PENDING);
  CHECK_EQ(results[1].code, JANUS_E_INVALID);
  CHECK_EQ(janus_fork_join(test::return_arg, nullptr, nullptr, nullptr, results), JANUS_E_INVALID);
}

}  // namespace
