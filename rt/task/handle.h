// SPDX-License-Identifier: Apache-2.0
// rt/task/handle.h — handles of tasks, and the records behind them.
#pragma once

#include "rt/task/task.h"

namespace janus {

std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept;
// The task of a handle, locked, or nullptr: the handle is {0}, forged or stale.
Task* lock_handle(Runtime& runtime, std::uint64_t handle) noexcept;
// Nothing of the task is left; its record goes back, and its handles are stale.
void free_record(Worker* worker, Task& task) noexcept;
int release_handle(Worker* worker, Runtime& runtime, std::uint64_t handle) noexcept;
// All records that a terminal nursery has kept.
void release_records(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
