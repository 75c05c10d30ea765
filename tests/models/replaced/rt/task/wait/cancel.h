// SPDX-License-Identifier: Apache-2.0
// replaced/rt/task/wait/cancel.h — replaces rt/task/wait/cancel.h (see replaced/rt/task/record/runtime.h).
#pragma once

#include "rt/base/errors.h"
#include "rt/task/wait/wake.h"

namespace janus {

inline bool is_told(const Task& task) noexcept {
  return task.is_told.load(std::memory_order_relaxed);
}
inline bool is_cancelled(const Task& task) noexcept {
  return is_told(task);  // no task is in a shield
}
inline bool learn_of_cancel(const Task&) noexcept {
  return true;
}
inline bool sees_cancel(const Task& task) noexcept {
  return is_cancelled(task);
}
inline void cancel(Task& task) noexcept {
  task.is_told.store(true, std::memory_order_relaxed);
  full_fence();  // the partner is block()
  (void)wake(nullptr, task, WaitReason::kBudget);
}

}  // namespace janus
