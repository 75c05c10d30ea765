// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/handle.h — the handles of tasks, nurseries and channels that users are given, and the records
// behind them. docs/decisions/0161, 0204
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// A handle is, from the top: 32 bits that cannot be guessed; the runtime's number; the record's index plus 1. A caller
// that has a handle was given it, and may use it. It contains no address, so the runtime reads no memory at an address
// that a user chose.
inline constexpr unsigned kIndexBits = 26;
inline constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1;
inline constexpr unsigned kMaxRuntimes = 1u << (32 - kIndexBits);

constexpr unsigned runtime_number_of(std::uint64_t handle) noexcept {
  return static_cast<std::uint32_t>(handle) >> kIndexBits;
}
// The record's index; for an invalid handle an index beyond that of any record.
constexpr std::uint32_t index_of_handle(std::uint64_t handle) noexcept {
  return (static_cast<std::uint32_t>(handle) & kIndexMask) - 1;
}
constexpr std::uint32_t secret_of_handle(std::uint64_t handle) noexcept {
  return static_cast<std::uint32_t>(handle >> 32);
}

// Called before the first handle is made: the key comes from the machine's entropy, or from the clock if there is none
// yet; in deterministic mode from the seed.
void init_handle_key(Runtime& runtime) noexcept;

// Makes a handle, never 0. `number` is used only once for objects of one kind, and is below 2^62.
// kSalt: of no handle; what users must not know, either.
enum class HandleKind : std::uint8_t { kTask, kNursery, kChannel, kCap, kSalt };
std::uint64_t make_handle(const Runtime& runtime, HandleKind kind, std::uint64_t number, std::uint32_t index) noexcept;

// The handle of an exposed task.
std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept;
// That of the running task, which is exposed from now on.
std::uint64_t own_handle(Runtime& runtime, Task& self) noexcept;
// Finds the task of a handle and locks it. nullptr: the handle is {0}, forged or stale. `caller`: the worker of the
// calling task, or nullptr outside tasks. The calling task pays for a handle that does not fit the task which the
// record holds now (price::kGuess).
Task* lock_handle(Worker* caller, Runtime& runtime, std::uint64_t handle) noexcept;
// A wrong handle also costs time, so that no caller, even with unlimited ops, can try all 2^32 secrets of a record in a
// practical time. `caller`: as for lock_handle().
void pay_for_guess(Worker* caller) noexcept;
// Called when no part of the task is in use any more: gives its record back to the pool. The task's handles become
// stale.
void free_record(Worker* worker, Task& task) noexcept;
// Gives up the handle of a task that lock_handle() returned, and releases its lock.
int release_locked(Worker* worker, Task* task) noexcept;
// Frees all records that a terminal nursery has kept.
void release_records(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
