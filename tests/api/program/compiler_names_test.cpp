// SPDX-License-Identifier: Apache-2.0
// janus/llvm.h, used as the output of a compiler does.
#include <janus/llvm.h>

#include "tests/harness/tasks.h"

namespace {

using namespace janus::test;

std::atomic<int> calls;

std::int64_t add_to_calls(void* by) {
  calls += *static_cast<int*>(by);
  return 0;
}

std::int64_t without_an_argument() {
  ++calls;
  return -77;
}

std::int32_t with_a_narrow_result(void* value) {
  return *static_cast<std::int32_t*>(value);
}

std::int64_t value_of(janus_task_fn fn, void* arg) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  const janus_task task = spawn(nursery, fn, arg);
  std::int64_t value = 0;
  CHECK_EQ(janus_task_join(task, &value), 0);
  (void)end(nursery);
  return value;
}

}  // namespace

TEST(compiler_names, the_schedulers_spawn_is_one_in_the_current_nursery) {
  int by = 3;
  calls = 0;
  CHECK_EQ(janus_scheduler_spawn(reinterpret_cast<void*>(add_to_calls), &by), -1);
  REQUIRE(janus_nursery_create() != nullptr);
  CHECK_EQ(janus_scheduler_spawn(reinterpret_cast<void*>(add_to_calls), &by), 0);
  CHECK_EQ(janus_scheduler_spawn(reinterpret_cast<void*>(add_to_calls), &by), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(calls.load(), 6);
}

TEST(compiler_names, the_schedulers_yield_is_one) {
  janus_stats before = {}, after = {};
  before.size = after.size = sizeof before;
  janus_rt_stats(nullptr, &before);
  for (int i = 0; i < 10; ++i) CHECK_EQ(janus_scheduler_yield(), 0);
  janus_rt_stats(nullptr, &after);
  CHECK_GE(after.yields - before.yields, 10u);
}

TEST(compiler_names, the_runtime_is_the_process_s) {
  janus_rt* const runtime = janus_rt_get();
  REQUIRE(runtime != nullptr);
  const janus_stats stats = stats_of(runtime);
  CHECK_GE(stats.workers, 1u);
}

TEST(compiler_names, a_function_without_argument_is_adapted) {
  calls = 0;
  CHECK_EQ(value_of(janus_run_noarg, janus_noarg_arg(without_an_argument)), -77);
  CHECK_EQ(calls.load(), 1);
}

TEST(compiler_names, a_result_of_32_bits_keeps_its_sign) {
  for (std::int32_t value : {INT32_MIN, -1, 0, 1, INT32_MAX}) {
    janus_task32 narrow = {with_a_narrow_result, &value};
    CHECK_EQ(value_of(janus_run_task32, &narrow), value);
  }
}
