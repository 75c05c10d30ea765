// SPDX-License-Identifier: Apache-2.0
// The turn limit: a task in a cage that does not come back to the runtime for turn_ns ends as a panic, and nobody else
// does. Tasks measure by platform::now_ns(), which is no call of the runtime, and which no thread's CPU time overtakes: so
// whoever returns in time by that clock is in time. docs/decisions/0345
#include <janus/supervise.h>
#include <janus/sync.h>

#include "tests/api/world.h"

extern "C" void* memset(void* to, int value, std::size_t count);

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

janus_nursery_options cage_options(std::uint64_t turn_ns) {
  janus_nursery_options options = {};
  options.size = sizeof options;
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.budget = budget_of(4'000'000'000, 16 << 20);
  options.budget.syscalls = 1000;
  options.turn_ns = turn_ns;
  return options;
}

janus_nursery* open_cage(std::uint64_t turn_ns) {
  const janus_nursery_options options = cage_options(turn_ns);
  janus_nursery* const cage = janus_nursery_open(nullptr, &options);
  CHECK(cage != nullptr);
  return cage;
}

// Without a check, and without an end.
[[noreturn]] void loop() {
  for (;;) asm volatile("");
}
std::int64_t loop_at_once(void*) {
  loop();
}

// Without a check, for a while.
void hold_worker(std::uint64_t ns) {
  for (const std::uint64_t end = platform::now_ns() + ns; platform::now_ns() < end;) {
  }
}

janus_result result_of(janus_nursery* nursery) {
  janus_result result = {};
  end(nursery, &result);
  return result;
}

// That one task was ended for its turn, of those in the nursery, which is awaited and destroyed.
void check_overrun(janus_nursery* nursery) {
  const janus_result result = result_of(nursery);
  CHECK_EQ(result.kind, JANUS_KIND_PANIC);
  CHECK_EQ(result.cause, JANUS_CAUSE_OVERRUN);
  CHECK_EQ(result.errors, 1u);
}

// Runs `fn` alone in a cage, in runtimes with several numbers of workers.
void check_ends(janus_task_fn fn, void* arg = nullptr, std::uint64_t turn_ns = 5 * kMs) {
  for (const unsigned workers : {1u, 2u, 4u})
    run_in(with_workers(workers), [=] {
      janus_nursery* const cage = open_cage(turn_ns);
      spawn(cage, fn, arg);
      check_overrun(cage);
    });
}

TEST(turn_limit, a_loop_without_checks_ends_as_a_panic) {
  check_ends(loop_at_once);
}

TEST(turn_limit, a_loop_that_begins_after_many_turns_ends) {
  check_ends([](void*) -> std::int64_t {
    for (int i = 0; i < 1000; ++i) janus_yield();
    loop();
  });
}

TEST(turn_limit, a_loop_that_begins_after_a_sleep_ends) {
  check_ends([](void*) -> std::int64_t {
    for (int i = 0; i < 3; ++i) janus_sleep_ns(20 * kMs);
    loop();
  });
}

TEST(turn_limit, a_loop_of_free_calls_ends) {
  check_ends([](void*) -> std::int64_t {
    for (;;) (void)janus_now_ns();
  });
}

// Its instructions are in the runtime's text, but nobody there has called it.
TEST(turn_limit, a_loop_in_memset_ends) {
  check_ends([](void*) -> std::int64_t {
    constexpr std::size_t kBytes = 1 << 20;
    void* const block = janus_alloc(kBytes);
    CHECK(block != nullptr);
    for (;;) memset(block, 1, kBytes);
  });
}

TEST(turn_limit, a_check_that_costs_nothing_is_none) {
  check_ends([](void*) -> std::int64_t {
    for (;;) janus_yield_check(0);
  });
}

// Its frames lie in memory that the stack got by growing.
[[gnu::noinline]] std::int64_t descend(int levels) {
  volatile char frame[2000];
  frame[0] = static_cast<char>(levels);
  static const volatile bool has_end = false;
  while (levels == 0 && !has_end) asm volatile("");
  return levels != 0 ? descend(levels - 1) + frame[0] : 0;
}

TEST(turn_limit, a_loop_on_a_stack_that_has_grown_ends) {
  check_ends([](void*) -> std::int64_t { return descend(40); });
}

// The alarm rings at any instruction of what grows a stack.
TEST(turn_limit, a_task_whose_stack_grows_is_ended_once_and_whole) {
  const int tasks = scaled(100, 10);
  run_in(with_workers(2), [=] {
    janus_nursery* const cage = open_cage(kMs);
    for (int i = 0; i < tasks; ++i)
      spawn(
          cage,
          [](void* levels) -> std::int64_t {
            return descend(static_cast<int>(reinterpret_cast<std::intptr_t>(levels)));
          },
          as_arg(10 + i % 40));
    const janus_result result = result_of(cage);
    CHECK_EQ(result.kind, JANUS_KIND_PANIC);
    CHECK_EQ(result.cause, JANUS_CAUSE_OVERRUN);
    CHECK_EQ(result.errors, static_cast<unsigned>(tasks));
  });
}

TEST(turn_limit, what_the_task_opened_ends_with_it) {
  check_ends([](void*) -> std::int64_t {
    janus_nursery* const nursery = open_nursery();
    for (int i = 0; i < 10; ++i) spawn(nursery, park_until_cancelled);
    janus_yield();
    loop();
  });
}

TEST(turn_limit, a_child_on_its_parents_stack_ends_alone) {
  run_in(with_workers(1), [] {
    janus_nursery* const cage = open_cage(5 * kMs);
    static std::int64_t seen;
    spawn(cage, [](void*) -> std::int64_t {
      janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
      spawn(nursery, loop_at_once);
      seen = end(nursery);
      return 0;
    });
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
    CHECK_EQ(seen, JANUS_PANIC);
  });
}

// Either half is given up alone, and the task goes on.
TEST(turn_limit, a_half_of_a_fork_ends_alone) {
  run_in(with_workers(1), [] {
    janus_nursery* const cage = open_cage(5 * kMs);
    static std::int64_t seen[2];
    spawn(cage, [](void*) -> std::int64_t {
      janus_result results[2];
      seen[0] = janus_fork_join(loop_at_once, nullptr, return_zero, nullptr, results);
      CHECK_EQ(results[0].cause, JANUS_CAUSE_OVERRUN);
      seen[1] = janus_fork_join(return_zero, nullptr, loop_at_once, nullptr, results);
      CHECK_EQ(results[1].cause, JANUS_CAUSE_OVERRUN);
      return 0;
    });
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
    for (const std::int64_t each : seen) CHECK_EQ(each, JANUS_PANIC);
  });
}

// It is in a cage if its supervisor has a budget.
TEST(turn_limit, a_child_of_a_supervisor_ends_and_is_started_again) {
  run_in(with_workers(1), [] {
    janus_supervisor_options options = {};
    options.max_restarts = 1;
    options.budget = budget_of(100'000'000, 8 << 20);
    janus_supervisor* const supervisor = janus_supervisor_open(nullptr, &options);
    static int starts;
    starts = 0;
    janus_child_spec spec = {};
    spec.start = [](void*) -> std::int64_t {
      ++starts;
      loop();
    };
    CHECK_EQ(janus_supervisor_add(supervisor, &spec), 1);
    CHECK_EQ(janus_supervisor_run(supervisor), JANUS_E_STATE);
    CHECK_EQ(starts, 2);
    janus_child child;
    CHECK_EQ(janus_supervisor_children(supervisor, &child, 1), 1);
    CHECK_EQ(child.last.cause, JANUS_CAUSE_OVERRUN);
    CHECK_EQ(janus_supervisor_close(supervisor), 0);
  });
}

// --- Locks ---

TEST(turn_limit, a_mutex_is_handed_on_with_an_error) {
  run_in(with_workers(1), [] {
    static janus_mutex mutex;
    static bool is_locked;
    mutex = {};
    is_locked = false;
    janus_nursery* const cage = open_cage(5 * kMs);
    spawn(cage, [](void*) -> std::int64_t {
      CHECK_EQ(janus_mutex_lock(&mutex), 0);
      is_locked = true;
      janus_yield();
      loop();
    });
    spawn(cage, [](void*) -> std::int64_t {
      while (!is_locked) janus_yield();
      CHECK_EQ(janus_mutex_lock(&mutex), JANUS_E_STATE);
      CHECK_EQ(janus_mutex_heal(&mutex), 0);
      return janus_mutex_unlock(&mutex);
    });
    check_overrun(cage);
    CHECK_EQ(janus_mutex_lock(&mutex), 0);
    CHECK_EQ(janus_mutex_unlock(&mutex), 0);
  });
}

// --- Who is not ended ---

TEST(turn_limit, a_task_that_comes_back_in_time_is_not_ended) {
  for (const unsigned workers : {1u, 4u})
    run_in(with_workers(workers), [=] {
      janus_nursery* const cage = open_cage(50 * kMs);
      for (unsigned i = 0; i < workers; ++i)
        spawn(cage, [](void*) -> std::int64_t {
          for (int turn = 0; turn < 5; ++turn) {
            hold_worker(40 * kMs);
            if (turn % 2 == 0)
              janus_yield_check(1);
            else
              janus_yield();
          }
          return 0;
        });
      CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
    });
}

// Each look of the alarm finds another task, or other ops.
TEST(turn_limit, many_looks_end_nobody_who_comes_back) {
  const std::uint64_t until_ns = platform::now_ns() + static_cast<std::uint64_t>(scaled(500, 100)) * kMs;
  run_in(with_workers(4), [=] {
    static std::uint64_t end_ns;
    end_ns = until_ns;
    janus_nursery* const cage = open_cage(10 * kMs);
    for (int i = 0; i < 16; ++i)
      spawn(
          cage,
          [](void* number) -> std::int64_t {
            Dice dice(reinterpret_cast<std::uintptr_t>(number));
            while (platform::now_ns() < end_ns) {
              hold_worker(dice.below(1000) * 1000);
              switch (dice.below(4)) {
                case 0:
                  janus_yield();
                  break;
                case 1:
                  janus_sleep_ns(dice.below(2000) * 1000);
                  break;
                case 2:
                  janus_free(janus_alloc(dice.below(5000)));
                  break;
                default:
                  janus_yield_check(1);
              }
            }
            return 0;
          },
          as_arg(i));
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
  });
}

TEST(turn_limit, a_task_in_no_cage_is_not_ended) {
  run_in(with_workers(2), [] {
    janus_nursery* const cage = open_cage(5 * kMs);
    spawn(cage, [](void*) -> std::int64_t {
      for (int i = 0; i < 200; ++i) janus_sleep_ns(kMs);
      return 0;
    });
    Scope scope;
    auto outside = [] { hold_worker(100 * kMs); };
    scope.go(outside);
    scope.go(outside);
    hold_worker(100 * kMs);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
  });
}

TEST(turn_limit, the_budget_of_a_program_is_no_cage) {
  janus_rt_config config = with_workers(1);
  config.root_budget = budget_of(1'000'000'000, 64 << 20);
  const long result = run_in(config, [] {
    janus_yield();
    hold_worker(300 * kMs);
    return std::int64_t{7};
  });
  CHECK_EQ(result, 7);
}

TEST(turn_limit, in_a_budget_of_a_program_a_cage_is_limited) {
  janus_rt_config config = with_workers(1);
  config.root_budget = budget_of(1'000'000'000, 64 << 20);
  run_in(config, [] {
    janus_nursery_options options = cage_options(5 * kMs);
    options.budget = budget_of(1'000'000, 8 << 20);
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    spawn(cage, loop_at_once);
    check_overrun(cage);
  });
}

TEST(turn_limit, a_deterministic_runtime_has_no_limit) {
  run_in(deterministic(2, 1), [] {
    janus_nursery* const cage = open_cage(kMs);
    spawn(cage, [](void*) -> std::int64_t {
      hold_worker(50 * kMs);
      return 0;
    });
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
  });
}

// A wait in the kernel is no turn, and is not cut short.
TEST(turn_limit, a_system_call_may_last) {
  run_in(with_workers(2), [] {
    constexpr long kNanosleep = 35;
    janus_nursery* const cage = open_cage(5 * kMs);
    static std::int64_t answer, slept_ns;
    spawn(cage, [](void*) -> std::int64_t {
      const std::int64_t time[2] = {0, 100 * kMs};
      const std::uint64_t from = platform::now_ns();
      answer = janus_syscall(kNanosleep, &time, nullptr);
      slept_ns = static_cast<std::int64_t>(platform::now_ns() - from);
      return 0;
    });
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
    if (answer == -38) SKIP("there is no kernel");
    CHECK_EQ(answer, 0);
    CHECK_GE(slept_ns, static_cast<std::int64_t>(100 * kMs));
  });
}

TEST(turn_limit, a_loop_after_a_system_call_ends) {
  check_ends([](void*) -> std::int64_t {
    constexpr long kNanosleep = 35;
    const std::int64_t time[2] = {0, 10 * kMs};
    (void)janus_syscall(kNanosleep, &time, nullptr);
    loop();
  });
}

// --- The option ---

TEST(turn_limit, the_least_of_all_cages_above_counts) {
  run_in(with_workers(2), [] {
    janus_nursery* const outer = open_cage(5 * kMs);
    spawn(outer, [](void*) -> std::int64_t {
      janus_nursery_options options = cage_options(UINT64_MAX);
      options.budget = budget_of(1000, 1 << 20);
      janus_nursery* const inner = janus_nursery_open(nullptr, &options);
      spawn(inner, loop_at_once);
      spawn(inner, loop_at_once, nullptr, 0, budget_of(100, 500'000));
      const janus_result result = result_of(inner);
      CHECK_EQ(result.cause, JANUS_CAUSE_OVERRUN);
      CHECK_EQ(result.errors, 2u);
      return 0;
    });
    CHECK_EQ(result_of(outer).kind, JANUS_KIND_SUCCESS);
  });
}

TEST(turn_limit, an_inner_cage_may_be_limited_alone) {
  run_in(with_workers(2), [] {
    janus_nursery* const outer = open_cage(UINT64_MAX);
    spawn(outer, [](void*) -> std::int64_t {
      janus_nursery_options options = cage_options(5 * kMs);
      options.budget = budget_of(1000, 1 << 20);
      janus_nursery* const inner = janus_nursery_open(nullptr, &options);
      spawn(inner, loop_at_once);
      check_overrun(inner);
      hold_worker(150 * kMs);
      return 0;
    });
    CHECK_EQ(result_of(outer).kind, JANUS_KIND_SUCCESS);
  });
}

TEST(turn_limit, without_a_limit_a_turn_may_last) {
  run_in(with_workers(1), [] {
    janus_nursery* const cage = open_cage(UINT64_MAX);
    spawn(cage, [](void*) -> std::int64_t {
      janus_yield();
      hold_worker(300 * kMs);
      return 0;
    });
    CHECK_EQ(result_of(cage).kind, JANUS_KIND_SUCCESS);
  });
}

// Also for options of a size that ends before turn_ns, and for a task with a budget of its own.
TEST(turn_limit, the_default_is_100_ms) {
  run_in(with_workers(1), [] {
    janus_nursery_options options = cage_options(0);
    options.size = offsetof(janus_nursery_options, turn_ns);
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    static std::uint64_t held_ns, began_ns;
    const auto in_time = [](void*) -> std::int64_t {
      hold_worker(90 * kMs);
      return 0;
    };
    spawn(cage, in_time);
    spawn(cage, [](void*) -> std::int64_t {
      began_ns = platform::now_ns();
      for (;;) held_ns = platform::now_ns() - began_ns;
    });
    check_overrun(cage);
    CHECK_GE(held_ns, 100 * kMs);
    Scope plain(JANUS_ON_ERROR_COLLECT);
    plain.go(in_time, nullptr, 0, budget_of(1000, 500'000));
    plain.go(loop_at_once, nullptr, 0, budget_of(1000, 500'000));
    janus_result result;
    plain.end(&result);
    CHECK_EQ(result.cause, JANUS_CAUSE_OVERRUN);
    CHECK_EQ(result.errors, 1u);
  });
}

TEST(turn_limit, the_smallest_limit_ends_who_holds_his_worker_for_milliseconds) {
  check_ends(loop_at_once, nullptr, 1);
}

TEST(turn_limit, it_is_for_a_nursery_with_a_budget) {
  run_in(with_workers(1), [] {
    for (const std::uint64_t turn_ns : {std::uint64_t{1}, 100 * kMs, UINT64_MAX}) {
      janus_nursery_options options = cage_options(turn_ns);
      options.budget = {};
      CHECK(janus_nursery_open(nullptr, &options) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
      char text[200];
      CHECK_STREQ(janus_last_error_text(text, sizeof text),
                  "JANUS_E_INVALID: a senseless argument: turn_ns is for a nursery with a budget of its own");
    }
  });
}

// --- Its price ---

// An op for each 100 ns, which the account owes.
TEST(turn_limit, the_time_is_paid_for_in_ops) {
  run_in(with_workers(1), [] {
    janus_nursery_options options = cage_options(5 * kMs);
    options.on_exhaustion = JANUS_ON_EXHAUSTION_FAIL;
    options.budget.ops = 100'000;
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    spawn(cage, loop_at_once);
    const janus_task later = spawn(cage, [](void*) -> std::int64_t {
      janus_sleep_ns(50 * kMs);
      for (int i = 0; i < 60'000; ++i)
        if (janus_yield_check(1) < 0) return -1;
      return 0;
    });
    std::int64_t code = 0;
    CHECK_EQ(janus_task_join(later, &code), 0);
    CHECK_EQ(code, JANUS_BUDGET_EXCEEDED);
    CHECK_EQ(result_of(cage).errors, 2u);
  });
}

}  // namespace

}  // namespace janus::test
