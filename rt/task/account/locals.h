// SPDX-License-Identifier: Apache-2.0
// rt/task/account/locals.h — task-local values: keys for the whole process, and a table in each task that uses one,
// which the task's account pays for. docs/decisions/0207
#pragma once

#include <cstdint>

#include "rt/base/or_error.h"
#include "rt/task/account/local_key.h"
#include "rt/task/record/runtime.h"

namespace janus {

inline constexpr unsigned kLocalKeys = 1024;
// This many places are only for tasks on the root's account, so that no cage can take all places or wear them out: a
// place that has had 2^22 - 1 keys gets no more.
inline constexpr unsigned kReservedLocalKeys = kLocalKeys / 2;

// A key has the number of its place in the low bits, and above it how many keys the place has had; never 0. `destroy`
// (may be nullptr) is called with each value that a task still has when it ends. `task` is the calling task, nullptr
// outside tasks; in a cage it pays for the key.
// `is_inherited`: its values are those of rt/task/account/inherited.h.
OrError<std::uint32_t> new_local(Task* task, void (*destroy)(void*), bool is_inherited = false) noexcept;
// Drops the values that tasks still have, without calling the destructor. 0; kErrorInvalid: there is no such key;
// kErrorNoCap: the caller is in a cage, and another account made the key.
int delete_local(const Task* task, std::uint32_t key) noexcept;
// Called before the account is closed, after all of its tasks have ended: deletes the keys that they made. `worker`
// nullptr: from outside.
void end_local_keys(Runtime& runtime, Worker* worker, const Account& account) noexcept;
bool is_local(std::uint32_t key) noexcept;
// Whether the values of a key are those of rt/task/account/inherited.h.
bool is_inherited(std::uint32_t key) noexcept;
// nullptr: there is none, or no such key.
LocalKey::Destroy destructor_of(std::uint32_t key) noexcept;

// The running task's value. nullptr: none was set, or the key was deleted.
void* get_local(const Task& task, std::uint32_t key) noexcept;
// 0, or why there is no memory for the table. The task may have waited for that memory.
int set_local(Task& task, std::uint32_t key, void* value) noexcept;
// Calls the destructors of the values that the task has, which are user code and may call anything that a task may. False:
// there were none.
bool destroy_locals(Task& task) noexcept;
void free_locals(Task& task) noexcept;

}  // namespace janus
