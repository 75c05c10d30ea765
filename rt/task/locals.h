// SPDX-License-Identifier: Apache-2.0
// rt/task/locals.h — task-local values: keys for the whole process, and a table in a task that uses one, which its
// account pays for.
#pragma once

#include <cstdint>

#include "rt/task/runtime.h"

namespace janus {

inline constexpr unsigned kLocalKeys = 1024;
// Of these, so many are only for tasks on the root's account, so that no cage takes them all, or uses them all up: a
// place that has had 2^22 - 1 keys has no more.
inline constexpr unsigned kReservedLocalKeys = kLocalKeys / 2;

// A key is the number of its place below a count of those that had it before; never 0. `destroy` (may be nullptr) gets
// what is left when a task ends. 0: *error is why. `task` is the one that calls, nullptr outside tasks; below the root
// it pays for the key.
std::uint32_t new_local(Task* task, void (*destroy)(void*), int* error) noexcept;
// Values that tasks still have are forgotten; nobody destroys them. 0; kErrorInvalid; kErrorNoCap: it is of another
// account, and the caller lives below the root.
int delete_local(const Task* task, std::uint32_t key) noexcept;
// Before the account is closed, of which no task is left: deletes the keys that its tasks made, so that they come back
// to all others. `worker` nullptr: from outside.
void end_local_keys(Runtime& runtime, Worker* worker, const Account& account) noexcept;
bool is_local(std::uint32_t key) noexcept;

// Of the running task. nullptr: none was set, or the key is no key any more.
void* get_local(const Task& task, std::uint32_t key) noexcept;
// 0, or why there is no memory for the table. The task may have waited for it.
int set_local(Task& task, std::uint32_t key, void* value) noexcept;
// Calls the destructors, which are user code and may do whatever a task may. One may set values again; they are
// destroyed too, a few rounds long.
void destroy_locals(Task& task) noexcept;
void free_locals(Task& task) noexcept;

}  // namespace janus
