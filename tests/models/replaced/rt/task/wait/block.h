// SPDX-License-Identifier: Apache-2.0
// replaced/rt/task/wait/block.h — replaces rt/task/wait/block.h (see replaced/rt/task/record/runtime.h): the same steps,
// in the same order, by a thread that does not switch stacks.
#pragma once

#include "rt/task/wait/cancel.h"

namespace janus {

enum class WaitEnd : std::uint8_t { kOver, kCancelled, kTimedOut, kNoStack };
using Publish = void (*)(Task& task, void* what);
inline WaitEnd block(Task& task, WaitReason reason, Publish publish, void* what) noexcept {
  const TaskState state = waits_for(reason);
  task.state.store(state, std::memory_order_release);
  full_fence();  // the partner is cancel()
  if (is_cancelled(task)) (void)wake(nullptr, task, reason);
  Runtime& runtime = *task.nursery->runtime;
  publish(task, what);
  runtime.scheduler.stop_one();
  while (state_of(task) == state) model::sleep(&task.state, static_cast<std::uint32_t>(state), true);
  task.state.store(TaskState::kRunning, std::memory_order_relaxed);
  return WaitEnd::kOver;
}

}  // namespace janus
