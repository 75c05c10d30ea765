// SPDX-License-Identifier: Apache-2.0
// rt/task/handle.h — handles of tasks, and the records behind them.
#pragma once

#include "rt/task/task.h"

namespace janus {

// A handle is, from the top: 32 bits that nobody can guess, other ones for each task that is exposed; the runtime's
// number; the record's index and 1. Who has it was given it, and may use it.
inline constexpr unsigned kIndexBits = 26;
inline constexpr unsigned kMaxRuntimes = 1u << (32 - kIndexBits);

constexpr unsigned runtime_number_of(std::uint64_t handle) noexcept {
  return static_cast<std::uint32_t>(handle) >> kIndexBits;
}

// Before the first handle: out of the machine's entropy, in deterministic mode out of the seed.
void init_handle_key(Runtime& runtime) noexcept;

// Of an exposed task.
std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept;
// The task of a handle, locked, or nullptr: the handle is {0}, forged or stale.
Task* lock_handle(Runtime& runtime, std::uint64_t handle) noexcept;
// Nothing of the task is left; its record goes back, and its handles are stale.
void free_record(Worker* worker, Task& task) noexcept;
// Gives up the handle of a task that lock_handle() gave, and its lock.
int release_locked(Worker* worker, Task* task) noexcept;
// All records that a terminal nursery has kept.
void release_records(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
