// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/block.h — stopping and resuming a task, for all blocking calls. docs/decisions/0071
#pragma once

#include "rt/base/biased_lock.h"
#include "rt/task/record/task.h"

namespace janus {

// Leaves the stack. Once it has been left: sets the task's state to `state`, then calls `publish(task, what)`, which
// makes the task findable and releases what it holds. Returns true after a wake. False: there is no stack to switch to,
// and nothing has happened or was released.
using Publish = void (*)(Task& task, void* what);
[[nodiscard]] bool block(Task& task, TaskState state, Publish publish, void* what) noexcept;
// As block(), for a condition that `lock`, which is held, guards: sets the state to kBlocked, then releases the lock.
// False: the lock is still held.
[[nodiscard]] bool block_unlocking(Task& task, TaskLock& lock) noexcept;
// As block_unlocking(), with the state kAwaitsLock: a cancel does not end the wait.
using KeyedQueueLock = RankedLock<LockRank::kKeyedLock>;
[[nodiscard]] bool block_for_lock(Task& task, KeyedQueueLock& lock) noexcept;
// As block(), at a channel whose lock is held as `hold` says: the state becomes kAtChannel, and then the lock is
// released. False: it is still held. `task` is published, of the channel's runtime, and its ChannelWait is in the
// queue. Fast path: requires that the lock is held by its owner, and that no account is charged for the task's slice.
template <Path kPath>
[[nodiscard]] bool block_at(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept;
// Called by a task that continues after it had left its stack. Fast path: as for begin_slice().
template <Path kPath = Path::kGeneral>
void resumed(Task& task) noexcept;

}  // namespace janus
