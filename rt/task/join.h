// SPDX-License-Identifier: Apache-2.0
// rt/task/join.h — waiting for a task to end.
#pragma once

#include "rt/task/task.h"

namespace janus {

// One that waits for a task to end; on the joiner's stack, linked and read under the task's lock.
struct Join {
  Join* next;
  Join* previous;  // a million may wait for one task, and be cancelled one by one
  Task* joiner;    // nullptr: the thread that runs a root, which waits for its nursery and looks then
  std::int64_t result;
  bool is_over;
};

// 0 and what it returned, once the task of the handle has ended; negative: the wait failed.
int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept;
// Of a task that has ended, with its lock held.
void wake_joiners(Worker& worker, Task& task) noexcept;

}  // namespace janus
