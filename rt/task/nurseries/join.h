// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/join.h — waiting for a task to end.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// A wait for a task to end; on the joiner's stack, linked and read under the task's lock.
struct Join {
  Join* next;
  Join* previous;  // doubly linked, as a million joiners of a task may be cancelled one by one
  Task* joiner;    // nullptr: the thread that runs a root, which waits for its nursery and then looks here
  std::int64_t result;
  bool is_over;
};

// Waits for the end of the handle's task. 0: *result is its return value; negative: the wait failed.
int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept;
// Called when `task` has ended, with its lock held.
void wake_joiners(Worker& worker, Task& task) noexcept;

}  // namespace janus
