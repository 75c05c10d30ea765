// SPDX-License-Identifier: Apache-2.0
// unguarded_test.cpp — a machine without guard pages: a task that overruns its stack damages the canary there. The
// task's next call or its end finds that, and the task ends alone.
#include <string_view>

#include "rt/sched/worker.h"
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/task/pipe.h"

namespace janus::test {

namespace {

// Damages the canary as the deepest frame of a recursion would.
void run_over() {
  std::byte* const limit = current_worker().stack->limit;
  limit[-16] = ~limit[-16];
}

long ended_with(janus_task_fn fn, unsigned workers, int& others) {
  fake_platform::reset();
  fake_platform::limit_guards(0, platform::Guard::kNone);
  std::atomic<int> ran{0};
  janus_stats stats = {};
  const long status = run_in(
      with_workers(workers),
      [&] {
        Scope wild(JANUS_ON_ERROR_COLLECT), tame;
        wild.go(fn, nullptr);
        const long result = wild.end();
        for (int n = 0; n < 100; ++n) tame.go(count_up, &ran);
        CHECK_EQ(tame.end(), 0);
        return result;
      },
      &stats);
  CHECK_EQ(stats.guard_pages, 0u);
  CHECK_EQ(stats.tasks_panicked, status == JANUS_PANIC ? 1u : 0u);
  others = ran.load();
  return status;
}

std::int64_t over_and_end(void*) {
  return run_over(), 7;
}
std::int64_t over_and_call(void*) {
  run_over();
  janus_yield();
  janus_exit(99);  // not reached
  return 0;
}
std::int64_t over_and_panic(void*) {
  run_over();
  janus_task_panic("by itself");
  return 0;
}
std::int64_t up_to_the_end(void*) {
  *current_worker().stack->limit = std::byte{1};
  return 0;
}

}  // namespace

TEST(unguarded, a_task_that_overran_its_stack_panics_alone) {
  for (unsigned workers : {1u, 4u})
    for (janus_task_fn fn : {over_and_end, over_and_call, over_and_panic}) {
      int others = 0;
      CHECK_EQ(ended_with(fn, workers, others), JANUS_PANIC);
      CHECK_EQ(others, 100);  // they run on the same stacks
    }
}

// The overrun is found by the task's next call, of whatever kind, or by its end. Only one of them reports it.
TEST(unguarded, a_task_that_overran_its_stack_is_reported_once) {
  for (janus_task_fn fn : {over_and_end, over_and_call, over_and_panic}) {
    const Pipe pipe;
    static char text[8192];
    {
      const StandardErrorInto redirected(pipe);
      int others = 0;
      CHECK_EQ(ended_with(fn, 1, others), JANUS_PANIC);
    }
    const std::string_view said(text, pipe.read(text, sizeof text));
    const std::size_t told = said.find(" panicked: stack overflow");
    CHECK_NE(told, said.npos);
    CHECK_EQ(said.find(" panicked: "), told);
    CHECK_EQ(said.rfind(" panicked: "), told);
  }
}

TEST(unguarded, the_last_byte_of_a_stack_is_the_tasks) {
  int others = 0;
  CHECK_EQ(ended_with(up_to_the_end, 1, others), 0);
  CHECK_EQ(others, 100);
}

}  // namespace janus::test
