// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/block.h — stopping and resuming a task. Calls that wait use rt/task/wait/wait.h. docs/decisions/0071
#pragma once

#include "rt/base/biased_lock.h"
#include "rt/task/record/task.h"

namespace janus {

// Leaves the stack. Once it has been left: sets the task's state to waits_for(reason), then calls
// `publish(task, what)`, which makes the task findable and releases what it holds. Returns true after a wake. False:
// there is no stack to switch to, and nothing has happened or was released.
using Publish = void (*)(Task& task, void* what);
[[nodiscard]] bool block(Task& task, WaitReason reason, Publish publish, void* what) noexcept;
// The steps of block(), with another pending action that calls publish_stop(). It gets the task and the Stop, which lies
// on the stack that was left.
struct Stop {
  WaitReason reason;
  Publish publish;
  void* what;
  Deadline* deadline;
};
using StopAction = void (*)(Worker& worker, void* task, void* stop);
[[nodiscard]] bool block_as(Task& task, Stop& stop, StopAction action) noexcept;
void publish_stop(Worker& worker, void* task, void* stop) noexcept;
// As block(), for kChannel, on the fast path: the channel's lock is held by its owner, and is then released. False: it
// is still held. Requires that `task` is published, of the channel's runtime, that its ChannelWait is in the queue, and
// that no account is charged for its slice.
[[nodiscard]] bool block_at(Channel& channel, Task& task) noexcept;
// Called by a task that continues after it had left its stack. Fast path: as for begin_slice().
template <Path kPath = Path::kGeneral>
void resumed(Task& task) noexcept;

}  // namespace janus
