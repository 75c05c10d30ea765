// SPDX-License-Identifier: Apache-2.0
// rt/task/locals.h — task-local values: a few keys for the whole process, a small table in a task that uses one.
#pragma once

#include <cstdint>

#include "rt/task/task.h"

namespace janus {

inline constexpr unsigned kLocalKeys = 32;

// A new key, or kLocalKeys: there are no more. `destroy` (may be nullptr) gets what is left when a task ends.
unsigned new_local(void (*destroy)(void*)) noexcept;
bool is_local(unsigned key) noexcept;
void* get_local(const Task& task, unsigned key) noexcept;
// False: no memory for the table.
bool set_local(Task& task, unsigned key, void* value) noexcept;
// Calls the destructors, which are user code and may do whatever a task may. One may set values again; they are
// destroyed too, a few rounds long.
void destroy_locals(Task& task) noexcept;
void free_locals(Task& task) noexcept;

}  // namespace janus
