// SPDX-License-Identifier: Apache-2.0
// janus_last_error_text: why a call was refused.
#include <cstdlib>
#include <cstring>

#include "tests/harness/tasks.h"

namespace {

using namespace janus::test;

// True if the last call failed with `error` and its text ends in `what`.
bool says(int error, const char* what) {
  char text[192];
  if (janus_last_error() != error) return false;
  const std::size_t length = std::strlen(janus_last_error_text(text, sizeof text)), tail = std::strlen(what);
  return length > tail && std::strcmp(text + length - tail, what) == 0;
}

// What is left of `component` according to the last error's text; all bits set if the text does not name the component.
std::uint64_t said_of_component(const char* component) {
  char text[192];
  const char* const named = std::strstr(janus_last_error_text(text, sizeof text), component);
  if (named == nullptr || std::strncmp(named + std::strlen(component), ", ", 2) != 0) return ~std::uint64_t{0};
  return std::strtoull(named + std::strlen(component) + 2, nullptr, 10);
}

TEST(last_error_text, names_the_component_and_what_is_left) {
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, {100, 0, 0, 0, 0});
  CHECK_EQ(spawn(nursery, return_zero).raw, 0u);
  CHECK(says(JANUS_E_NO_CAP, ": spawn_count was not granted, 0 left"));
  end(nursery);
  nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, {100, 100, 2, 0, 0});
  CHECK_EQ(spawn(nursery, return_zero).raw, 0u);
  CHECK(says(JANUS_E_BUDGET, ": memory, 100 left"));
  end(nursery);
}

// Each call needs more of a component than its budget has, under JANUS_ON_EXHAUSTION_DENY.
TEST(last_error_text, names_each_component_that_is_denied) {
  constexpr janus_budget kBudget = {100000, 1 << 20, 2, 1, 0};
  static bool is_named;
  const janus_task_fn calls[] = {
      [](void*) -> std::int64_t {
        is_named = janus_alloc(2 << 20) == nullptr && says(JANUS_E_BUDGET, " left") &&
                   said_of_component("memory") == janus_budget_get_current().memory;
        return 0;
      },
      [](void*) -> std::int64_t {
        janus_nursery* const scope = open_nursery();
        const bool is_first = spawn(scope, return_zero).raw != 0;
        is_named = is_first && spawn(scope, return_zero).raw == 0 && says(JANUS_E_BUDGET, ": spawn_count, 0 left");
        return end(scope);
      },
      [](void*) -> std::int64_t {
        janus_channel* const channel = janus_channel_create(8, 4);
        const std::int64_t word = 1;
        is_named = janus_channel_try_send(channel, &word) == 0 &&
                   janus_channel_try_send(channel, &word) == JANUS_E_BUDGET &&
                   says(JANUS_E_BUDGET, ": channel_ops, 0 left");
        janus_channel_release(channel);
        return 0;
      },
      [](void*) -> std::int64_t {
        is_named = janus_syscall(39) == JANUS_E_NO_CAP && says(JANUS_E_NO_CAP, ": syscalls was not granted, 0 left");
        return 0;
      },
  };
  for (const janus_task_fn call : calls) {
    is_named = false;
    janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, kBudget);
    CHECK_NE(spawn(nursery, call).raw, 0u);
    CHECK_EQ(end(nursery), 0);
    CHECK(is_named);
  }
  janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, kBudget);
  janus_nursery_options larger = {};
  larger.budget.ops = 200000;
  spawn(
      nursery,
      [](void* options) -> std::int64_t {
        is_named = janus_nursery_open(nullptr, static_cast<janus_nursery_options*>(options)) == nullptr &&
                   said_of_component("ops") < 100000;
        return 0;
      },
      &larger);
  CHECK_EQ(end(nursery), 0);
  CHECK(is_named);
}

TEST(last_error_text, names_the_state) {
  static janus_nursery* cancelled;
  CHECK_EQ(end(open_nursery()), 0);
  janus_nursery* const nursery = open_nursery();
  janus_nursery_close(nursery);
  CHECK_EQ(spawn(nursery, return_zero).raw, 0u);
  CHECK(says(JANUS_E_STATE, ": the nursery was closed or awaited"));
  end(nursery);
  cancelled = open_nursery();
  janus_nursery_cancel(cancelled);
  CHECK_EQ(spawn(cancelled, return_zero).raw, 0u);
  CHECK(says(JANUS_E_STATE, ": the nursery was cancelled, or the task that opened it"));
  end(cancelled);
  janus_nursery* const scope = open_nursery();
  static bool is_named;
  spawn(scope, [](void*) -> std::int64_t {
    is_named = janus_nursery_spawn(return_zero, nullptr) == -1 &&
               says(JANUS_E_STATE, ": there is no current nursery: janus_nursery_create opens one");
    return 0;
  });
  CHECK_EQ(end(scope), 0);
  CHECK(is_named);
  CHECK_EQ(janus_rt_create(nullptr), static_cast<janus_rt*>(nullptr));
  CHECK(says(JANUS_E_STATE, ": tasks cannot make, run or end runtimes"));
}

TEST(last_error_text, names_the_argument) {
  janus_nursery* const nursery = open_nursery();
  CHECK_EQ(spawn(nursery, nullptr).raw, 0u);
  CHECK(says(JANUS_E_INVALID, ": the function is NULL"));
  janus_spawn_options options = {};
  options.stack_size = std::size_t{1} << 30;
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  CHECK(says(JANUS_E_INVALID, ": stack_size is more than 64 MiB"));
  CHECK_EQ(janus_nursery_spawn_in(nullptr, return_zero, nullptr, nullptr).raw, 0u);
  CHECK(says(JANUS_E_INVALID, ": the nursery is NULL"));
  CHECK_EQ(janus_channel_retain(nullptr), static_cast<janus_channel*>(nullptr));
  CHECK(says(JANUS_E_INVALID, ": the channel is NULL"));
  CHECK_EQ(janus_channel_create(std::size_t{2} << 20, 1), static_cast<janus_channel*>(nullptr));
  CHECK(says(JANUS_E_INVALID, ": element_size is more than 1 MiB, or the buffer more than there can be"));
  CHECK_EQ(janus_alloc_aligned(3, 1), static_cast<void*>(nullptr));
  CHECK(says(JANUS_E_INVALID, ": align is no power of two up to 1 MiB"));
  options = {};
  options.priority = 3;
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  CHECK(says(JANUS_E_INVALID, ": priority is none of JANUS_PRIORITY_*"));
  options = {};
  options.cap = {12345};
  CHECK_EQ(janus_nursery_spawn_in(nursery, return_zero, nullptr, &options).raw, 0u);
  CHECK(says(JANUS_E_NO_CAP, ": cap is no token of this runtime that is in force"));
  janus_nursery_options wrong = {};
  janus_cap cap = janus_cap_derive({}, 0, {});
  wrong.cap = cap;
  janus_nursery* const confined = janus_nursery_open(nullptr, &wrong);
  CHECK_EQ(spawn(confined, return_zero).raw, 0u);
  CHECK(says(JANUS_E_NO_CAP, ": no token gives the right to do that"));
  end(confined);
  while (cap.raw != 0) cap = janus_cap_derive(cap, 0, {});
  CHECK(says(JANUS_E_BUDGET, ": 16 tokens are derived one from the other already"));
  wrong = {};
  wrong.on_exhaustion = 3;
  CHECK_EQ(janus_nursery_open(nullptr, &wrong), static_cast<janus_nursery*>(nullptr));
  CHECK(says(JANUS_E_INVALID, ": on_exhaustion is none of JANUS_ON_EXHAUSTION_*"));
  char few[8];
  CHECK_EQ(janus_nursery_spawn_in(nullptr, return_zero, nullptr, nullptr).raw, 0u);
  CHECK_EQ(std::strcmp(janus_last_error_text(few, sizeof few), "JANUS_E"), 0);
  CHECK_EQ(end(nursery), 0);
}

}  // namespace
