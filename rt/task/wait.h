// SPDX-License-Identifier: Apache-2.0
// rt/task/wait.h — stopping and being woken: what all blocking calls are made of.
#pragma once

#include "rt/base/biased_lock.h"
#include "rt/task/task.h"

namespace janus {

// Leaves the stack. Once it has been left: state := `state`; then `publish(task, what)`, which makes the task findable
// and releases what it holds. Returns after a wake. False: no stack to go on with; nothing happened, nothing released.
using Publish = void (*)(Task& task, void* what);
[[nodiscard]] bool block(Task& task, TaskState state, Publish publish, void* what) noexcept;
// The same for what a lock guards, which is held: kBlocked, and then the lock is released. False: it is still held.
[[nodiscard]] bool block_unlocking(Task& task, TaskLock& lock) noexcept;
// The same as kAwaitsTurn: a cancel does not end it, only wake().
using TurnLock = RankedLock<LockRank::kTurn>;
[[nodiscard]] bool block_for_turn(Task& task, TurnLock& lock) noexcept;
// The same at a channel, whose lock is held as `hold` says: kAtChannel, and then the lock is released. False: it is
// still held. `task` is published, of the channel's runtime, and what the channel knows of it is in place. kFast: the
// lock is held by its owner, and nobody is charged for the task's slice.
template <Path kPath>
[[nodiscard]] bool block_at(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept;
// On a task that goes on after it had left its stack. kFast: as begin_slice().
template <Path kPath = Path::kGeneral>
void resumed(Task& task) noexcept;

}  // namespace janus
