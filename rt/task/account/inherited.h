// SPDX-License-Identifier: Apache-2.0
// rt/task/account/inherited.h — values of inherited keys (rt/task/account/locals.h): a child begins with those that the
// owner of its nursery has when it is spawned. docs/decisions/0351
//
// The values of a task are a block that no one changes while several tasks use it: a child shares that of the owner of its
// nursery, and a task that sets a value goes on with a block of its own.
//
// INVARIANT the-maker-outlives: who uses a block is its maker or a task below it, so what the maker paid for and what it
// destroys at its end is there as long as others use it.
//
// INVARIANT kept-by-the-owner: the owner of a nursery changes RunDetails::inherited under its lock, and so does who takes a
// further reference. Only the owner gives up its own.
#pragma once

#include <cstdint>

#include "rt/optional.h"
#include "rt/task/account/locals.h"
#include "rt/task/record/nursery.h"

namespace janus {

// More inherited values of different keys a task does not have.
inline constexpr unsigned kMaxInherited = 32;

// As new_local().
OrError<std::uint32_t> new_inherited(Task* task, void (*destroy)(void*)) noexcept;

// The value that the running task has. `key` is a key.
[[JANUS_OPTIONAL]] void* get_inherited(const Task& self, std::uint32_t key) noexcept;
// For a key that new_inherited() made. 0; kErrorNoMemory: it has kMaxInherited already; or why there is no memory.
[[JANUS_OPTIONAL]] int set_inherited(Task& self, std::uint32_t key, void* value) noexcept;
// Whether the running task has set values, which are destroyed at its end.
[[JANUS_OPTIONAL]] bool has_set_inherited(const Task& self) noexcept;
// Calls the destructors of values that the running task has set. False: there were none.
[[JANUS_OPTIONAL]] bool destroy_inherited(Task& self) noexcept;
// At the task's end, after its nurseries have ended.
[[JANUS_OPTIONAL]] void end_inherited(Task& self) noexcept;

inline bool has_inherited(const Task& self) noexcept {
  return self.is_marked(TaskMarks::kHasContext) && (self.frame->details.context & RunDetails::kInherits) != 0;
}

// For a spawn into a nursery with NurseryWord::kPassing: makes the child begin with the values. `account` pays. False: there is
// no memory.
[[JANUS_OPTIONAL]] bool pass_inherited(Worker* worker, Nursery& nursery, Account* account, TaskFn& fn,
                                       void*& arg) noexcept;
// For a task that was spawned like that, and will not start.
[[JANUS_OPTIONAL]] void drop_inherited(Task& task) noexcept;

}  // namespace janus
