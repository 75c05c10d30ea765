// SPDX-License-Identifier: Apache-2.0
// Null pointers, zeroed handles, forged handles and senseless values give errors, never crashes.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

TASK_TEST(bad_input, a_null_nursery_is_an_error_in_every_call) {
  janus_result result = {};
  CHECK_EQ(janus_nursery_spawn_in(nullptr, return_zero, nullptr, nullptr).raw, 0u);
  CHECK_LT(janus_last_error(), -4096);
  CHECK_LT(janus_nursery_close(nullptr), -4096);
  CHECK_LT(janus_nursery_cancel(nullptr), -4096);
  CHECK_LT(janus_nursery_state(nullptr), -4096);
  CHECK_LT(janus_nursery_try_result(nullptr, &result), -4096);
  CHECK_LT(janus_nursery_await(nullptr, &result), -4096);
  CHECK_LT(janus_nursery_destroy(nullptr), -4096);
  CHECK_LT(janus_nursery_recharge(nullptr, {}), -4096);
  CHECK_LT(janus_budget_grant64(nullptr, 0, 1), -4096);
}

TASK_TEST(bad_input, no_handle_and_forged_handles_are_errors) {
  for (std::uint64_t raw : {UINT64_C(0), UINT64_C(1), UINT64_C(0xdeadbeef), UINT64_MAX, UINT64_C(1) << 63,
                            janus_task_self().raw ^ (UINT64_C(1) << 40), janus_task_self().raw + 1}) {
    const janus_task forged = {raw};
    janus_result result = {};
    CHECK_LT(janus_task_join(forged, nullptr), -4096);
    CHECK_LT(janus_task_state(forged), -4096);
    CHECK_LT(janus_task_result(forged, &result), -4096);
    CHECK_LT(janus_task_cancel(forged), -4096);
    CHECK_LT(janus_task_release(forged), -4096);
    CHECK_LT(janus_unpark(forged), -4096);
  }
}

TASK_TEST(bad_input, a_null_channel_is_invalid) {
  int value = 0;
  CHECK_EQ(janus_channel_send(nullptr, &value), JANUS_E_INVALID);
  CHECK_EQ(janus_channel_recv(nullptr, &value), JANUS_E_INVALID);
  CHECK_EQ(janus_channel_try_send(nullptr, &value), JANUS_E_INVALID);
  CHECK_EQ(janus_channel_try_recv(nullptr, &value), JANUS_E_INVALID);
  CHECK_EQ(janus_channel_close(nullptr), JANUS_E_INVALID);
  CHECK(janus_channel_retain(nullptr) == nullptr);
  janus_channel_release(nullptr);
  CHECK(janus_channel_create(SIZE_MAX, SIZE_MAX) == nullptr);
  CHECK(janus_channel_create(SIZE_MAX / 2, 4) == nullptr);
}

TASK_TEST(bad_input, a_spawn_of_nothing_or_with_senseless_options_fails) {
  janus_nursery* nursery = open_nursery();
  CHECK_EQ(janus_nursery_spawn_in(nursery, nullptr, nullptr, nullptr).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  janus_spawn_options options = {};
  options.stack_size = (64 << 20) + 1;
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  options = {};
  options.priority = 99;
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  options = {};
  options.flags = UINT64_C(1) << 60;
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  CHECK_EQ(janus_nursery_state(nursery), JANUS_NURSERY_OPEN);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(bad_input, senseless_nursery_options_give_no_nursery) {
  janus_nursery_options options = {};
  options.on_error = 7;
  CHECK(janus_nursery_open(nullptr, &options) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  options = {};
  options.flags = 2;
  CHECK(janus_nursery_open(nullptr, &options) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  options = {};
  options.flags = JANUS_NURSERY_RECLAIM;  // senseless without a budget
  CHECK(janus_nursery_open(nullptr, &options) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  options = {};
  options.on_exhaustion = 7;
  CHECK(janus_nursery_open(nullptr, &options) == nullptr);
  CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  options = {};
  options.size = 3;
  CHECK(janus_nursery_open(nullptr, &options) == nullptr);
}

TASK_TEST(bad_input, zeroes_in_options_are_the_defaults) {
  const janus_nursery_options none = {};
  const janus_spawn_options plain = {};
  janus_nursery* nursery = janus_nursery_open(nullptr, &none);
  REQUIRE(nursery != nullptr);
  CHECK_NE(janus_nursery_spawn_in(nursery, return_zero, nullptr, &plain).raw, 0u);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(bad_input, stacks_of_every_class_are_given) {
  janus_nursery* nursery = open_nursery();
  for (std::size_t size : {std::size_t{1}, std::size_t{8192}, std::size_t{8193}, std::size_t{65536},
                           std::size_t{1 << 20}, std::size_t{(1 << 20) + 1}, std::size_t{64 << 20}}) {
    janus_spawn_options options = {};
    options.stack_size = size;
    CHECK_NE(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  }
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(bad_input, a_program_cannot_initialise_a_second_runtime) {
  CHECK_EQ(janus_rt_try_init(nullptr), JANUS_E_STATE);
  janus_rt_init({});
  CHECK_EQ(janus_task_id(), 1u);
}

TASK_TEST(bad_input, null_results_and_stats_are_ignored) {
  janus_rt_stats(nullptr, nullptr);
  janus_stats stats = {};
  janus_rt_stats(nullptr, &stats);
  CHECK_LT(janus_local_new(nullptr, nullptr), 0);
  CHECK_LT(janus_local_new_inherited(nullptr, nullptr), 0);
  CHECK_LT(janus_local_set({9999}, &stats), 0);
  CHECK(janus_local_get({9999}) == nullptr);
  CHECK_LT(janus_budget_grant64(nullptr, 99, 1), 0);
}

TASK_TEST(bad_input, a_priority_that_is_none_is_refused) {
  janus_nursery* nursery = open_nursery();
  std::atomic<int> ran = 0;
  janus_spawn_options options = {};
  for (const std::uint32_t none : {JANUS_PRIORITY_LOW + 1, 256u, ~0u}) {
    options.priority = none;
    CHECK_EQ(janus_nursery_spawn_in(nursery, count_up, &ran, &options).raw, 0u);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  }
  for (const std::uint32_t priority : {JANUS_PRIORITY_NORMAL, JANUS_PRIORITY_HIGH, JANUS_PRIORITY_LOW}) {
    options.priority = priority;
    CHECK(janus_nursery_spawn_in(nursery, count_up, &ran, &options).raw != 0);
  }
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(ran.load(), 3);
}

}  // namespace
