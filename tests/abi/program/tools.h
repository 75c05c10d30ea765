// SPDX-License-Identifier: Apache-2.0
// What the tests here share. They are a program like any other: main is the root task, rt.h all that they see.
#pragma once

#include <janus/rt.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "tests/harness/task_functions.h"
#include "tests/harness/test.h"

namespace janus::test {

inline janus_task spawn(janus_nursery* nursery, janus_task_fn fn, void* arg = nullptr, std::uint64_t flags = 0) {
  janus_spawn_options options = {};
  options.flags = flags;
  return janus_nursery_spawn_in(nursery, fn, arg, &options);
}

inline janus_nursery* open_nursery(std::uint32_t on_error = JANUS_ON_ERROR_CANCEL,
                                   std::uint32_t on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND,
                                   janus_budget budget = {}) {
  janus_nursery_options options = {};
  options.on_error = on_error;
  options.on_exhaustion = on_exhaustion;
  options.budget = budget;
  return janus_nursery_open(nullptr, &options);
}

inline long end(janus_nursery* nursery, janus_result* result = nullptr) {
  const long status = janus_nursery_await(nursery, result);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  return status;
}

inline janus_stats statistics() {
  janus_stats stats = {};
  stats.size = sizeof stats;
  janus_rt_stats(nullptr, &stats);
  return stats;
}

inline std::uint64_t bytes_in_use() {
  return statistics().bytes_in_use;
}

// Lets others run until `condition` holds; false if it does not come true in a time that is long for any machine.
template <class Condition>
bool eventually(Condition condition) {
  const std::uint64_t patience = janus_now_ns() + 20000000000u;
  while (!condition()) {
    if (janus_yield() < 0 || janus_now_ns() > patience) return condition();
  }
  return true;
}

// Whether it has run at least once. Where it stands now depends on how many workers there are.
inline bool has_started(janus_task task) {
  return eventually([&] { return janus_task_state(task) != JANUS_TASK_CREATED; });
}

inline std::int64_t return_number(void* number) {
  return *static_cast<const std::int64_t*>(number);
}

}  // namespace janus::test
