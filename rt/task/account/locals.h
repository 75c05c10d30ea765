// SPDX-License-Identifier: Apache-2.0
// rt/task/account/locals.h — task-local values: keys for the whole process, and a table in each task that uses one, which the
// task's account pays for. docs/decisions/0207
#pragma once

#include <cstdint>

#include "rt/task/record/runtime.h"

namespace janus {

inline constexpr unsigned kLocalKeys = 1024;
// This many of them are only for tasks on the root's account, so that no cage takes all keys, or uses them all up: a
// place that has had 2^22 - 1 keys gets no more.
inline constexpr unsigned kReservedLocalKeys = kLocalKeys / 2;

// A key is a count of the keys that had its place before, above the number of the place in the low bits; never 0.
// `destroy` (may be nullptr) is called with what is left when a task ends. 0: *error says why. `task` is the calling
// task, nullptr outside tasks; below the root it pays for the key.
std::uint32_t new_local(Task* task, void (*destroy)(void*), int* error) noexcept;
// Values that tasks still have are forgotten; no destructor is called for them. 0; kErrorInvalid; kErrorNoCap: the key
// is of another account, and the caller lives below the root.
int delete_local(const Task* task, std::uint32_t key) noexcept;
// Called before the account is closed, when none of its tasks is left: deletes the keys that its tasks made, so that
// others can have them. `worker` nullptr: from outside.
void end_local_keys(Runtime& runtime, Worker* worker, const Account& account) noexcept;
bool is_local(std::uint32_t key) noexcept;

// The running task's value. nullptr: none was set, or the key was deleted.
void* get_local(const Task& task, std::uint32_t key) noexcept;
// 0, or why there is no memory for the table. The task may have waited for that memory.
int set_local(Task& task, std::uint32_t key, void* value) noexcept;
// Calls the destructors, which are user code and may do whatever a task may. One may set values again; these are
// destroyed too, for a few rounds.
void destroy_locals(Task& task) noexcept;
void free_locals(Task& task) noexcept;

}  // namespace janus
