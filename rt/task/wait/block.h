// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/block.h — stopping and resuming a task. Calls that wait use rt/task/wait/wait.h. docs/decisions/0071
#pragma once

#include "rt/base/biased_lock.h"
#include "rt/task/record/task.h"

namespace janus {

enum class WaitEnd : std::uint8_t {
  kOver,       // what the task waited for has come
  kCancelled,  // the task was told to end
  kTimedOut,   // its deadline has passed
  kNoStack,    // there is no stack that the worker could go on with
};

// Leaves the stack. Once it has been left: sets the task's state to waits_for(reason), then calls
// `publish(task, what)`, which makes the task findable and releases what it holds. kOver: the task was woken. kTimedOut,
// kNoStack: nothing has happened or was released.
using Publish = void (*)(Task& task, void* what);
[[nodiscard]] WaitEnd block(Task& task, WaitReason reason, Publish publish, void* what) noexcept;
// The pending action of block(), which gets the task and a Stop on the stack that was left.
void publish_stop(Worker& worker, void* task, void* stop) noexcept;
struct Stop {
  WaitReason reason;
  Publish publish;
  void* what;
  bool has_passed;  // the task's deadline, so that it is woken at once
};

// What block() does for a task with a deadline (rt/task/wait/deadline.h), by functions that are linked only then.
struct DeadlineActions {
  void (*publish_stop)(Worker& worker, void* task, void* stop) noexcept;
  bool (*has_passed)(Task& task) noexcept;
};
// Whether the deadline of a task ends such a wait. For the others, the end comes soon, or a budget imposes them.
constexpr bool is_ended_by_deadline(WaitReason reason) noexcept {
  return is_ended_by_cancel(reason) && reason != WaitReason::kBudget;
}

// As block(), for kChannel, on the fast path: the channel's lock is held by its owner, and is then released. False: it
// is still held. Requires that `task` is published, of the channel's runtime, that its ChannelWait is in the queue, and
// that no account is charged for its slice.
[[nodiscard]] bool block_at(Channel& channel, Task& task) noexcept;
// Called by a task that continues after it had left its stack. Fast path: as for begin_slice().
template <Path kPath = Path::kGeneral>
void resumed(Task& task) noexcept;

}  // namespace janus
