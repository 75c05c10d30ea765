// SPDX-License-Identifier: Apache-2.0
// task_functions.h — what tasks of tests do, wherever they run: in an isolated runtime or in a program. Sees rt.h
// alone.
#pragma once

#include <janus/rt.h>

#include <atomic>
#include <cstdint>

namespace janus::test {

inline std::int64_t return_zero(void*) {
  return 0;
}
// Until told to end.
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

}  // namespace janus::test
