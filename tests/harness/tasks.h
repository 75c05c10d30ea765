// SPDX-License-Identifier: Apache-2.0
// tasks.h — shared by tests that run tasks, in an isolated runtime or in a program: task functions, nurseries, the
// runtime's counters, and waiting for a condition. Sees rt.h alone.
#pragma once

#include <janus/rt.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>

#include "tests/harness/test.h"

namespace janus::test {

inline std::int64_t return_zero(void*) {
  return 0;
}
// Yields until it is told to end.
inline std::int64_t yield_until_cancelled(void*) {
  while (janus_yield() == 0) {
  }
  return JANUS_CANCELLED;
}
inline std::int64_t park_until_cancelled(void*) {
  return janus_park(-1);
}
inline std::int64_t count_up(void* counter) {
  static_cast<std::atomic<int>*>(counter)->fetch_add(1);
  return 0;
}

inline std::int64_t return_arg(void* value) {
  return reinterpret_cast<std::intptr_t>(value);
}
inline void* as_arg(std::int64_t value) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(value));
}
inline std::int64_t return_number(void* number) {
  return *static_cast<const std::int64_t*>(number);
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
inline janus_task spawn(janus_nursery* nursery, janus_task_fn fn, void* arg = nullptr, std::uint64_t flags = 0,
                        janus_budget budget = {}) {
  janus_spawn_options options = {};
  options.flags = flags;
  options.budget = budget;
  return janus_nursery_spawn_in(nursery, fn, arg, &options);
}
inline long end(janus_nursery* nursery, janus_result* result = nullptr) {
  const long status = janus_nursery_await(nursery, result);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  return status;
}

// nullptr: the caller's runtime, or the program's.
inline janus_stats stats_of(janus_rt* rt = nullptr) {
  janus_stats stats = {};
  stats.size = sizeof stats;
  janus_rt_stats(rt, &stats);
  return stats;
}

// Called by a task: lets others run until `condition` holds; false if it does not within a time that is long for any
// machine.
template <class Condition>
bool eventually(Condition condition) {
  const std::uint64_t patience = janus_now_ns() + 60'000'000'000;
  while (!condition()) {
    if (janus_yield() < 0 || janus_now_ns() > patience) return condition();
  }
  return true;
}
// Whether a worker has started the task; a cancel may still come before its function. Its present state depends on the
// number of workers.
inline bool has_started(janus_task task) {
  return eventually([&] { return janus_task_state(task) != JANUS_TASK_CREATED; });
}

}  // namespace janus::test
