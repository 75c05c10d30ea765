// SPDX-License-Identifier: Apache-2.0
// report_test.cpp — janus_rt_config.report: what is told to a report function, where it runs, and what it may do.
// What then goes to stderr is seen by tests/programs/process_test.py.
#include <cstring>

#include "tests/api/world.h"

namespace janus::test {

namespace {

// What a report function was told last, and what it shall do.
struct Log {
  std::atomic<int> calls{0};
  janus_report last{};
  char name[32] = {};
  char path[128] = {};
  char text[1024] = {};
  int (*act)(const janus_report&, Log&) = nullptr;
  std::atomic<int> done{0};
  void* with = nullptr;
};

void copy(char* to, std::size_t room, const char* from) {
  std::size_t i = 0;
  for (; from[i] != 0 && i + 1 < room; ++i) to[i] = from[i];
  to[i] = 0;
}

bool begins(const char* text, const char* part) {
  for (; *part != 0; ++part)
    if (*text++ != *part) return false;
  return true;
}
bool contains(const char* text, const char* part) {
  for (; *text != 0; ++text)
    if (begins(text, part)) return true;
  return false;
}

int note(const janus_report* report) {
  Log& log = *static_cast<Log*>(report->context);
  log.last = *report;
  copy(log.name, sizeof log.name, report->name);
  copy(log.path, sizeof log.path, report->nursery_path);
  copy(log.text, sizeof log.text, report->text);
  const int answer = log.act != nullptr ? log.act(*report, log) : 0;
  log.calls.fetch_add(1);
  return answer;
}

janus_rt_config told(janus_rt_config config, Log& log) {
  config.report = note;
  config.report_context = &log;
  return config;
}

// Runs `body` in runtimes with a report function, one after the other.
template <class Body>
void with_log(Body body, std::uint32_t failures = 0, int (*act)(const janus_report&, Log&) = nullptr) {
  for (janus_rt_config config : {with_workers(1), with_workers(4), deterministic(4, 1)}) {
    Log log;
    log.act = act;
    config.report_failures = failures;
    run_in(told(config, log), [&] { body(log); });
  }
}

std::int64_t write_to_nowhere(void*) {
  *reinterpret_cast<volatile int*>(0x123450) = 1;
  return 0;
}
std::int64_t panic_so(void* why) {
  janus_task_panic(static_cast<const char*>(why));
}
std::int64_t burn(void*) {
  for (;;) janus_yield_check(64);
}
std::int64_t recurse(void* arg) {
  volatile char frame[512];
  frame[0] = arg != nullptr ? 1 : 0;
  return frame[0] != 0 ? recurse(arg) + frame[0] : 0;
}
std::int64_t leave_children_and_write_to_nowhere(void*) {
  janus_nursery* const nursery = open_nursery();
  spawn(nursery, yield_until_cancelled);
  return write_to_nowhere(nullptr);
}

// Awaits one task in a nursery called "outer".
janus_result run_one(janus_task_fn fn, void* arg = nullptr, const char* name = nullptr) {
  janus_nursery_options options{};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.name = "outer";
  janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
  janus_spawn_options spawning{};
  spawning.name = name;
  CHECK(janus_nursery_spawn_in(nursery, fn, arg, &spawning).raw != 0);
  janus_result result{};
  end(nursery, &result);
  return result;
}

}  // namespace

TEST(report, a_panic_is_told_with_cause_task_name_path_and_text) {
  with_log([](Log& log) {
    static char why[] = "enough";
    const janus_result result = run_one(panic_so, why, "some task");
    CHECK_EQ(result.kind, JANUS_KIND_PANIC);
    CHECK_EQ(log.calls.load(), 1);
    CHECK_EQ(log.last.size, sizeof(janus_report));
    CHECK_EQ(log.last.event, JANUS_REPORT_PANIC);
    CHECK_EQ(log.last.kind, JANUS_KIND_PANIC);
    CHECK_EQ(log.last.cause, JANUS_CAUSE_TASK_PANIC);
    CHECK_EQ(log.last.code, JANUS_PANIC);
    CHECK_EQ(log.last.task_id, result.task_id);
    CHECK_EQ(log.last.address, 0u);
    CHECK(log.last.rt != nullptr);
    CHECK_STREQ(log.name, "some task");
    CHECK_STREQ(log.path, "-/outer");
    CHECK(contains(log.text, "'some task' panicked: enough; nursery -/outer"));
    CHECK(begins(log.text, "janus: "));
  });
}

TEST(report, a_fault_is_told_after_its_handler_with_the_address) {
  with_log([](Log& log) {
    CHECK_EQ(run_one(write_to_nowhere).cause, JANUS_CAUSE_BAD_ACCESS);
    CHECK_EQ(log.calls.load(), 1);
    CHECK_EQ(log.last.cause, JANUS_CAUSE_BAD_ACCESS);
    CHECK_EQ(log.last.address, 0x123450u);
    CHECK_STREQ(log.name, "");
    CHECK_EQ(run_one(leave_children_and_write_to_nowhere).cause, JANUS_CAUSE_BAD_ACCESS);
    CHECK_EQ(log.calls.load(), 2);
    CHECK_EQ(log.last.address, 0x123450u);
    CHECK_EQ(run_one(recurse, &log).cause, JANUS_CAUSE_STACK_OVERFLOW);
    CHECK_EQ(log.calls.load(), 3);
    CHECK_EQ(log.last.cause, JANUS_CAUSE_STACK_OVERFLOW);
  });
}

// The task that has called tells it, once the helper thread is out of the function.
TEST(report, a_function_of_janus_blocking_that_ends_by_force_is_told) {
  with_log([](Log& log) {
    const auto panics = [](void*) -> std::int64_t {
      janus_task_panic("on a helper");
      return 0;
    };
    for (const janus_task_fn fn : {static_cast<janus_task_fn>(panics), write_to_nowhere}) {
      const bool has_address = fn == write_to_nowhere;
      const int before = log.calls.load();
      auto calls = [fn] { return janus_blocking(fn, nullptr); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(calls);
      CHECK_EQ(scope.end(), JANUS_PANIC);
      CHECK_EQ(log.calls.load(), before + 1);
      CHECK_EQ(log.last.event, static_cast<std::uint32_t>(JANUS_REPORT_PANIC));
      CHECK_EQ(log.last.cause,
               static_cast<std::uint32_t>(has_address ? JANUS_CAUSE_BAD_ACCESS : JANUS_CAUSE_TASK_PANIC));
      CHECK(contains(log.text, "panicked in janus_blocking: "));
      CHECK(contains(log.text, has_address ? "at 0x123450" : "on a helper"));
      CHECK_EQ(log.last.address, has_address ? 0x123450u : 0u);
    }
  });
}

TEST(report, a_used_up_budget_is_told_once) {
  with_log([](Log& log) {
    janus_nursery* const cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget_of(20'000));
    auto with_children = [] {
      spawn(open_nursery(), yield_until_cancelled);
      return burn(nullptr);
    };
    spawn(cage, call_closure<decltype(with_children)>, &with_children);
    janus_result result{};
    end(cage, &result);
    CHECK_EQ(result.kind, JANUS_KIND_BUDGET_EXCEEDED);
    // Its child draws on the same budget, and may be ended for that, too.
    CHECK(log.calls.load() == 1 || log.calls.load() == 2);
    CHECK_EQ(log.last.event, JANUS_REPORT_EXHAUSTED);
    CHECK_EQ(log.last.kind, JANUS_KIND_BUDGET_EXCEEDED);
    CHECK_EQ(log.last.cause, JANUS_CAUSE_OPS);
    CHECK_EQ(log.last.code, JANUS_BUDGET_EXCEEDED);
    CHECK(contains(log.text, "used up its budget of ops; nursery -/-"));
  });
}

TEST(report, failures_are_told_where_that_is_asked_for) {
  with_log([](Log& log) {
    CHECK_EQ(run_one(return_arg, as_arg(-7)).code, -7);
    CHECK_EQ(run_one(return_arg, as_arg(7)).kind, JANUS_KIND_SUCCESS);
    CHECK_EQ(log.calls.load(), 0);
  });
  with_log(
      [](Log& log) {
        const janus_result result = run_one(return_arg, as_arg(-7));
        CHECK_EQ(log.calls.load(), 1);
        CHECK_EQ(log.last.event, JANUS_REPORT_FAILED);
        CHECK_EQ(log.last.kind, JANUS_KIND_CHILD_FAILED);
        CHECK_EQ(log.last.cause, JANUS_CAUSE_NONE);
        CHECK_EQ(log.last.code, -7);
        CHECK_EQ(log.last.task_id, result.task_id);
        CHECK(contains(log.text, "failed with -7; nursery -/outer"));
        CHECK_EQ(run_one(return_arg, as_arg(7)).kind, JANUS_KIND_SUCCESS);
        Scope scope;
        scope.go(park_until_cancelled, nullptr);
        scope.cancel();
        scope.end();
        CHECK_EQ(log.calls.load(), 1);  // neither a success nor a cancelled task
      },
      1);
}

TEST(report, a_deadlock_is_told_before_it_is_ended) {
  for (const janus_rt_config& config : {with_workers(1), with_workers(2), deterministic(3, 5)}) {
    Log log;
    CHECK_EQ(run_in(told(config, log), [] { return std::int64_t{janus_park(-1)}; }), JANUS_E_DEADLOCK);
    CHECK_EQ(log.calls.load(), 1);
    CHECK_EQ(log.last.event, JANUS_REPORT_DEADLOCK);
    CHECK_EQ(log.last.kind, JANUS_KIND_PENDING);
    CHECK_EQ(log.last.code, JANUS_E_DEADLOCK);
    CHECK_EQ(log.last.task_id, 0u);
    CHECK_STREQ(log.path, "");
    CHECK(contains(log.text, "deadlock: every task waits for another"));
    CHECK(contains(log.text, "task 1 is parked"));
  }
}

TEST(report, a_function_that_panics_or_faults_is_left) {
  static char why[] = "first";
  const auto panic = [](const janus_report&, Log&) -> int { janus_task_panic("the function's own"); };
  const auto fault = [](const janus_report&, Log&) -> int { return static_cast<int>(write_to_nowhere(nullptr)); };
  const auto overflow = [](const janus_report&, Log& log) -> int { return static_cast<int>(recurse(&log)); };
  for (int (*act)(const janus_report&, Log&) : {+panic, +fault, +overflow}) {
    with_log(
        [](Log& log) {
          for (int i = 0; i < 3; ++i) {
            log.last = {};
            CHECK_EQ(run_one(panic_so, why).kind, JANUS_KIND_PANIC);
            CHECK_EQ(log.last.cause, JANUS_CAUSE_TASK_PANIC);  // it was called
            CHECK_EQ(run_one(write_to_nowhere).cause, JANUS_CAUSE_BAD_ACCESS);
            CHECK_EQ(log.last.cause, JANUS_CAUSE_BAD_ACCESS);
          }
          CHECK_EQ(log.calls.load(), 0);  // and never came to its end
        },
        0, act);
  }
}

TEST(report, the_function_is_outside_tasks_and_may_not_wait) {
  static char why[] = "call the function";
  with_log(
      [](Log& log) {
        log.with = janus_channel_create(sizeof(int), 4);
        const std::uint64_t mine = janus_task_id();
        CHECK_EQ(run_one(panic_so, why).kind, JANUS_KIND_PANIC);
        CHECK_EQ(log.done.load(), 1);
        CHECK_EQ(janus_task_id(), mine);
        int got = 0;
        auto* const channel = static_cast<janus_channel*>(log.with);
        CHECK_EQ(janus_channel_try_recv(channel, &got), 0);
        CHECK_EQ(got, 5);
        janus_channel_release(channel);
      },
      0,
      [](const janus_report& report, Log& log) {
        CHECK_EQ(janus_task_id(), 0u);
        CHECK_EQ(janus_task_self().raw, 0u);
        CHECK_EQ(janus_yield(), JANUS_E_NO_TASK);
        CHECK_EQ(janus_sleep_ns(1), JANUS_E_NO_TASK);
        CHECK_EQ(janus_park(-1), JANUS_E_NO_TASK);
        auto* const channel = static_cast<janus_channel*>(log.with);
        const int five = 5;
        int got = 0;
        CHECK_EQ(janus_channel_recv(channel, &got), JANUS_E_NO_TASK);
        CHECK_EQ(janus_channel_try_send(channel, &five), 0);
        void* const block = janus_alloc(100);
        if (CHECK(block != nullptr)) std::memset(block, 1, 100);
        janus_free(block);
        CHECK_EQ(janus_rt_run(report.rt, return_zero, nullptr), JANUS_E_STATE);
        CHECK(janus_rt_create(nullptr) == nullptr);
        janus_rt_destroy(report.rt);
        CHECK_EQ(janus_last_error(), JANUS_E_STATE);
        CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);
        CHECK_EQ(stats_of(report.rt).tasks_panicked, 0u);  // counted once it has ended
        log.done.fetch_add(1);
        return 0;
      });
}

TEST(report, the_function_may_wake_and_cancel_tasks) {
  with_log(
      [](Log& log) {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        janus_task parked = scope.go(park_until_cancelled, nullptr);
        log.with = &parked;
        static char why[] = "call the function";
        CHECK_EQ(run_one(panic_so, why).kind, JANUS_KIND_PANIC);
        std::int64_t result = 1;
        CHECK_EQ(janus_task_join(parked, &result), 0);
        CHECK_EQ(result, 0);
        scope.end();
      },
      0, [](const janus_report&, Log& log) { return janus_unpark(*static_cast<janus_task*>(log.with)); });
}

TEST(report, the_function_has_a_stack_of_its_own) {
  with_log(
      [](Log& log) {
        CHECK_EQ(run_one(recurse, &log).cause, JANUS_CAUSE_STACK_OVERFLOW);
        CHECK_EQ(log.done.load(), 1);
      },
      0,
      [](const janus_report&, Log& log) {
        volatile char large[40'000];
        for (volatile char& byte : large) byte = 1;
        log.done.fetch_add(large[39'999]);
        return 0;
      });
}

TEST(report, many_at_once_are_each_told_once) {
  for (janus_rt_config config : {with_workers(4), deterministic(4, 9)}) {
    static std::atomic<int> calls;
    calls = 0;
    Log log;
    config.report = [](const janus_report* report) {
      if (report->cause == JANUS_CAUSE_TASK_PANIC) calls.fetch_add(1);
      return 0;
    };
    config.report_context = &log;
    const auto tasks = static_cast<int>(scaled(400, 40));
    run_in(config, [tasks] {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      static char why[] = "one of many";
      for (int i = 0; i < tasks; ++i) scope.go(panic_so, why);
      janus_result result{};
      scope.end(&result);
      CHECK_EQ(result.errors, static_cast<std::uint32_t>(tasks));
    });
    CHECK_EQ(calls.load(), tasks);
  }
}

}  // namespace janus::test
