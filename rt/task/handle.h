// SPDX-License-Identifier: Apache-2.0
// rt/task/handle.h — what users are given of tasks, nurseries and channels, and the records behind it.
#pragma once

#include "rt/task/task.h"

namespace janus {

// A handle is, from the top: 32 bits that nobody can guess; the runtime's number; the record's index and 1. Who has it
// was given it. No address is in it, so that nothing a user names is ever read before it is known to be a record.
inline constexpr unsigned kIndexBits = 26;
inline constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1;
inline constexpr unsigned kMaxRuntimes = 1u << (32 - kIndexBits);

constexpr unsigned runtime_number_of(std::uint64_t handle) noexcept {
  return static_cast<std::uint32_t>(handle) >> kIndexBits;
}
// Of the record; beyond any for a handle that is none.
constexpr std::uint32_t index_of_handle(std::uint64_t handle) noexcept {
  return (static_cast<std::uint32_t>(handle) & kIndexMask) - 1;
}

// Before the first handle: out of the machine's entropy, in deterministic mode out of the seed.
void init_handle_key(Runtime& runtime) noexcept;

// Never 0. `number` is given once only for things of one kind, and below 2^62.
enum class Handled : std::uint8_t { kTask, kNursery, kChannel };
std::uint64_t make_handle(const Runtime& runtime, Handled kind, std::uint64_t number, std::uint32_t index) noexcept;

// Of an exposed task.
std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept;
// The task of a handle, locked, or nullptr: the handle is {0}, forged or stale. `caller`: the worker of the task that
// asks, which pays for a handle of another task than the one that is there now; nullptr: no task.
Task* lock_handle(Worker* caller, Runtime& runtime, std::uint64_t handle) noexcept;
// Nothing of the task is left; its record goes back, and its handles are stale.
void free_record(Worker* worker, Task& task) noexcept;
// Gives up the handle of a task that lock_handle() gave, and its lock.
int release_locked(Worker* worker, Task* task) noexcept;
// All records that a terminal nursery has kept.
void release_records(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
