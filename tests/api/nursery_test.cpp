// SPDX-License-Identifier: Apache-2.0
// Nurseries through rt.h: states, results, cancellation, and nurseries left open.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

TASK_TEST(nursery, two_clean_children_are_success) {
  std::atomic<int> ran = 0;
  REQUIRE(janus_nursery_create() != nullptr);
  CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
  CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
  CHECK_EQ(janus_nursery_await_all(), JANUS_SUCCESS);
  CHECK_EQ(ran.load(), 2);
}

TASK_TEST(nursery, a_failing_child_gives_its_own_value) {
  std::int64_t failure = -4242;
  janus_nursery_create();
  janus_nursery_spawn(return_number, &failure);
  CHECK_EQ(janus_nursery_await_all(), -4242);
}

TASK_TEST(nursery, values_of_zero_or_more_are_success_whatever_their_width) {
  std::int64_t large = INT64_MAX;
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, return_number, &large);
  std::int64_t value = 0;
  CHECK_EQ(janus_task_join(task, &value), 0);
  CHECK_EQ(value, INT64_MAX);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), 0);
  CHECK_EQ(result.kind, JANUS_KIND_SUCCESS);
  CHECK_EQ(result.errors, 0u);
}

TASK_TEST(nursery, a_child_that_returns_a_value_of_the_table_is_told_apart_by_kind) {
  for (std::int64_t code : {-1, -2, -3, -4}) {
    janus_nursery* nursery = open_nursery();
    const janus_task task = spawn(nursery, return_number, &code);
    const std::uint64_t raw = task.raw;
    janus_result result = {};
    CHECK_EQ(janus_nursery_await(nursery, &result), code);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.code, code);
    CHECK_NE(result.task_id, 0u);
    CHECK_NE(raw, 0u);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
  }
}

TASK_TEST(nursery, without_a_current_one_spawn_and_await_all_say_so) {
  CHECK_EQ(janus_nursery_spawn(return_zero, nullptr), -1);
  CHECK_LT(janus_last_error(), -4096);
  CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);
}

TASK_TEST(nursery, the_current_one_is_a_stack) {
  std::int64_t inner_failure = -70, outer_failure = -71;
  janus_nursery_create();
  janus_nursery_spawn(return_number, &outer_failure);
  janus_nursery_create();
  janus_nursery_spawn(return_number, &inner_failure);
  CHECK_EQ(janus_nursery_await_all(), -70);
  CHECK_EQ(janus_nursery_await_all(), -71);
  CHECK_EQ(janus_nursery_await_all(), JANUS_E_STATE);
}

TASK_TEST(nursery, opening_one_does_not_change_the_current_one) {
  std::atomic<int> ran = 0;
  janus_nursery_create();
  janus_nursery* other = open_nursery();
  janus_nursery_spawn(count_up, &ran);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(ran.load(), 1);
  CHECK_EQ(janus_nursery_state(other), JANUS_NURSERY_OPEN);
  CHECK_EQ(end(other), 0);
}

std::int64_t has_no_current_nursery(void*) {
  return janus_nursery_spawn(return_zero, nullptr) == -1 && janus_nursery_await_all() == JANUS_E_STATE ? 0 : -100;
}

TASK_TEST(nursery, a_task_starts_without_a_current_one) {
  janus_nursery_create();
  janus_nursery_spawn(has_no_current_nursery, nullptr);
  CHECK_EQ(janus_nursery_await_all(), 0);
}

TASK_TEST(nursery, the_pointer_of_create_is_a_handle_for_every_call_but_await) {
  std::atomic<int> ran = 0;
  auto* nursery = static_cast<janus_nursery*>(janus_nursery_create());
  CHECK_NE(spawn(nursery, count_up, &ran).raw, 0u);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_OPEN);
  CHECK_EQ(janus_nursery_try_result(nursery, nullptr), JANUS_PENDING);
  CHECK_GE(janus_nursery_close(nursery), 0);
  CHECK_EQ(janus_nursery_await_all(), 0);
  CHECK_EQ(ran.load(), 1);
}

TASK_TEST(nursery, an_empty_one_goes_from_open_to_closed_by_close) {
  janus_nursery* nursery = open_nursery();
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_OPEN);
  CHECK_EQ(janus_nursery_destroy(nursery), JANUS_PENDING);
  CHECK_EQ(janus_nursery_close(nursery), 0);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_CLOSED);
  janus_result result = {};
  CHECK_EQ(janus_nursery_try_result(nursery, &result), 0);
  CHECK_EQ(result.kind, JANUS_KIND_SUCCESS);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
}

TASK_TEST(nursery, closing_with_a_live_child_waits_in_closing_and_takes_no_spawn) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, park_until_cancelled);
  CHECK_EQ(janus_nursery_close(nursery), 0);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_CLOSING);
  CHECK_EQ(spawn(nursery, return_zero).raw, 0u);
  CHECK_LT(janus_last_error(), -4096);
  CHECK_EQ(janus_nursery_try_result(nursery, nullptr), JANUS_PENDING);
  CHECK(eventually([&] { return janus_unpark(task) == 0; }));
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(nursery, a_cancelled_one_reports_cancelled) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, yield_until_cancelled);
  CHECK(has_started(task));
  CHECK_EQ(janus_nursery_cancel(nursery), 0);
  janus_result result = {};
  CHECK_EQ(janus_nursery_await(nursery, &result), JANUS_CANCELLED);
  CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
  CHECK_EQ(result.was_cancelled, 1u);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_CANCELLED);
  // the answer does not matter: the state must not change
  CHECK_GE(janus_nursery_cancel(nursery), JANUS_E_UNSUPPORTED);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_CANCELLED);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
}

TASK_TEST(nursery, the_first_failure_cancels_the_others) {
  std::int64_t failure = -77;
  janus_nursery* nursery = open_nursery();
  spawn(nursery, yield_until_cancelled);
  spawn(nursery, park_until_cancelled);
  spawn(nursery, return_number, &failure);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), -77);
  CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
  CHECK_EQ(result.errors, 1u);
}

TASK_TEST(nursery, collect_lets_the_others_go_on_and_counts) {
  std::int64_t failure = -78;
  std::atomic<int> ran = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  for (int i = 0; i < 10; ++i) {
    spawn(nursery, return_number, &failure);
    spawn(nursery, count_up, &ran);
  }
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), -78);
  CHECK_EQ(ran.load(), 10);
  CHECK_EQ(result.errors, 10u);
  CHECK_EQ(result.was_cancelled, 0u);
}

std::int64_t fail_when_cancelled(void* has_begun) {
  static_cast<std::atomic<bool>*>(has_begun)->store(true);
  while (janus_yield() == 0) {
  }
  return -90;
}

TASK_TEST(nursery, an_error_beats_cancellation) {
  janus_nursery* nursery = open_nursery();
  std::atomic<bool> has_begun{false};
  spawn(nursery, fail_when_cancelled, &has_begun);
  CHECK(eventually([&] { return has_begun.load(); }));
  janus_nursery_cancel(nursery);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), -90);
  CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
  CHECK_EQ(result.was_cancelled, 1u);
}

std::int64_t panic_with_words(void*) {
  janus_task_panic("as the test wants it");
}

TASK_TEST(nursery, a_panic_beats_a_failure) {
  std::int64_t failure = -79;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  spawn(nursery, return_number, &failure);
  spawn(nursery, panic_with_words);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), JANUS_PANIC);
  CHECK_EQ(result.kind, JANUS_KIND_PANIC);
  CHECK_EQ(result.errors, 2u);
}

// The owner cancels the nursery before any task in it can start; on one worker that is certain.
std::int64_t cancel_before_start(void* counter) {
  auto* nursery = open_nursery();
  spawn(nursery, count_up, counter);
  janus_nursery_cancel(nursery);
  return janus_nursery_await(nursery, nullptr) + janus_nursery_destroy(nursery) == JANUS_CANCELLED ? 0 : -1000;
}

TASK_TEST(nursery, a_task_cancelled_before_its_start_never_runs) {
  const janus_stats stats = stats_of();
  if (stats.workers != 1) SKIP("another worker may be quick enough to start it");
  std::atomic<int> ran = 0;
  CHECK_EQ(cancel_before_start(&ran), 0);
  CHECK_EQ(ran.load(), 0);
}

std::int64_t note_cancelled(void* seen) {
  while (janus_yield() == 0) {
  }
  static_cast<std::atomic<int>*>(seen)->fetch_add(1);
  return JANUS_CANCELLED;
}

TASK_TEST(nursery, with_run_cancelled_the_function_is_called_all_the_same) {
  std::atomic<int> seen = 0;
  janus_nursery* nursery = open_nursery();
  for (int i = 0; i < 100; ++i) CHECK_NE(spawn(nursery, note_cancelled, &seen, JANUS_SPAWN_RUN_CANCELLED).raw, 0u);
  janus_nursery_cancel(nursery);
  CHECK_EQ(end(nursery), JANUS_CANCELLED);
  CHECK_EQ(seen.load(), 100);
}

struct Log {
  std::atomic<bool> inner_started = false;
  std::atomic<int> steps = 0;
  int inner_done = 0, inner_cleanup = 0, outer_cleanup = 0;
};

std::int64_t inner_child(void* arg) {
  auto* log = static_cast<Log*>(arg);
  log->inner_started = true;
  while (janus_yield() == 0) {
  }
  log->inner_done = ++log->steps;
  return JANUS_CANCELLED;
}

std::int64_t with_inner_nursery(void* arg) {
  auto* log = static_cast<Log*>(arg);
  janus_nursery* inner = open_nursery();
  spawn(inner, inner_child, log);
  const long status = janus_nursery_await(inner, nullptr);
  log->inner_cleanup = ++log->steps;
  janus_nursery_destroy(inner);
  return status;
}

TASK_TEST(nursery, cancelling_the_outer_one_reaches_the_inner_child_and_unwinds_inside_out) {
  Log log;
  janus_nursery* outer = open_nursery();
  const janus_task task = spawn(outer, with_inner_nursery, &log);
  CHECK(eventually([&] { return log.inner_started && janus_task_state(task) == JANUS_TASK_BLOCKED; }));
  janus_nursery_cancel(outer);
  CHECK_EQ(janus_nursery_await(outer, nullptr), JANUS_CANCELLED);
  log.outer_cleanup = ++log.steps;
  janus_nursery_destroy(outer);
  CHECK_EQ(log.inner_done, 1);
  CHECK_EQ(log.inner_cleanup, 2);
  CHECK_EQ(log.outer_cleanup, 3);
}

std::int64_t leave_open(void* counter) {
  janus_nursery* outer = open_nursery();
  janus_nursery* inner = open_nursery();
  for (int i = 0; i < 10; ++i) {
    spawn(outer, count_up, counter);
    spawn(inner, count_up, counter);
  }
  return 5;
}

TASK_TEST(nursery, nurseries_left_open_are_awaited_after_success) {
  std::atomic<int> ran = 0;
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, leave_open, &ran);
  std::int64_t value = 0;
  CHECK_EQ(janus_task_join(task, &value), 0);
  CHECK_EQ(value, 5);
  CHECK_EQ(ran.load(), 20);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t leave_open_and_fail(void*) {
  spawn(open_nursery(), yield_until_cancelled);
  return -33;
}

TASK_TEST(nursery, nurseries_left_open_are_cancelled_after_a_failure) {
  janus_nursery* nursery = open_nursery();
  spawn(nursery, leave_open_and_fail);
  CHECK_EQ(end(nursery), -33);
}

std::int64_t leave_a_failure_unread(void*) {
  static std::int64_t failure = -34;
  spawn(open_nursery(), return_number, &failure);
  return 0;
}

TASK_TEST(nursery, a_failure_that_nobody_read_becomes_the_tasks_own) {
  janus_nursery* nursery = open_nursery();
  spawn(nursery, leave_a_failure_unread);
  CHECK_EQ(end(nursery), -34);
}

TASK_TEST(nursery, opened_ones_may_be_awaited_in_any_order) {
  janus_nursery* nurseries[3] = {open_nursery(), open_nursery(), open_nursery()};
  for (janus_nursery* nursery : nurseries) spawn(nursery, return_zero);
  for (int i : {1, 0, 2}) CHECK_EQ(end(nurseries[i]), 0);
}

std::int64_t spawn_above(void* nursery) {
  return spawn(static_cast<janus_nursery*>(nursery), return_zero).raw != 0 ? 0 : -5;
}

TASK_TEST(nursery, every_task_below_the_owner_may_spawn_in_it) {
  janus_nursery* nursery = open_nursery();
  janus_task tasks[50];
  for (janus_task& task : tasks) task = spawn(nursery, spawn_above, nursery);
  for (const janus_task& task : tasks) CHECK_EQ(janus_task_join(task, nullptr), 0);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t await_from_below(void* nursery) {
  const long status = janus_nursery_await(static_cast<janus_nursery*>(nursery), nullptr);
  return status < -4096 ? 0 : -6;
}

TASK_TEST(nursery, only_the_owner_awaits) {
  janus_nursery* nursery = open_nursery();
  spawn(nursery, await_from_below, nursery);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(nursery, a_destroyed_one_is_stale) {
  janus_nursery* nursery = open_nursery();
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_E_STALE);
  CHECK_EQ(janus_nursery_cancel(nursery), JANUS_E_STALE);
  CHECK_EQ(janus_nursery_destroy(nursery), JANUS_E_STALE);
  CHECK_EQ(spawn(nursery, return_zero).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_STALE);
}

std::int64_t ten_levels(void* depth) {
  const auto levels = reinterpret_cast<std::intptr_t>(depth);
  if (levels == 0) return 0;
  janus_nursery* nursery = open_nursery();
  for (int i = 0; i < 2; ++i) spawn(nursery, ten_levels, reinterpret_cast<void*>(levels - 1));
  const long status = janus_nursery_await(nursery, nullptr);
  janus_nursery_destroy(nursery);
  return status;
}

TASK_TEST(nursery, a_tree_of_two_thousand_gives_everything_back) {
  const janus_stats before = stats_of();
  for (int i = 0; i < 6; ++i) CHECK_EQ(ten_levels(reinterpret_cast<void*>(10)), 0);
  const janus_stats after = stats_of();
  CHECK_EQ(after.tasks_spawned - before.tasks_spawned, 6u * 2046u);
  CHECK_EQ(after.tasks_live, before.tasks_live);
  CHECK_EQ(after.nurseries_live, before.nurseries_live);
  CHECK_EQ(after.bytes_in_use, before.bytes_in_use);
}

}  // namespace
