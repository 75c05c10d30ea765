// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/stack_marks.h — the stack depth of the tasks of each name, for the table of JANUS_STATS. Derived from
// the steps in which stacks grow, so exact to a factor of two, and known only for tasks whose stacks have grown.
#pragma once

#include <cstddef>

#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Called while the task has `bytes` of stack. Not in a fault handler; any lock may be held.
[[JANUS_OPTIONAL]] void note_depth(Runtime& runtime, const Task& task, std::size_t bytes) noexcept;
// Called at the end of the runtime: prints a line for each name to stderr, the deepest first, and clears the marks.
[[JANUS_OPTIONAL]] void print_depths(Runtime& runtime) noexcept;

}  // namespace janus
