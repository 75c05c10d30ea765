// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/join.h — waiting for a task to end.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// A wait for a task to end, or for something that it has to do before; on the joiner's stack, linked and read under the
// task's lock.
struct Join {
  Join* next;
  Join* previous;  // doubly linked, as a million joiners of a task may be cancelled one by one
  Task* joiner;    // nullptr: the thread that runs a root, which waits for its nursery and then looks here
  std::int64_t result;
  bool is_over;
  WaitReason reason;      // of the joiner's wait, which this wakes
  bool is_watch = false;  // of no joiner: a message is sent (rt/task/run/watch.h)
};

// A joiner may look without the lock, to see that it has to look with it.
inline void set_over(Join& join) noexcept {
  std::atomic_ref(join.is_over).store(true, std::memory_order_relaxed);
}
inline bool is_over(Join& join) noexcept {
  return std::atomic_ref(join.is_over).load(std::memory_order_relaxed);
}

// Waits for the end of the handle's task. 0: *result is its return value; negative: the wait failed.
int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept;
// The same for a task that lock_handle() has found, whoever asks. Releases its lock.
int join_locked(Task& self, Task& task, std::int64_t* result) noexcept;
// Under the task's lock, before it has ended; and after, when the join is over, there is nothing to unlink.
void link_join(Task& task, Join& join) noexcept;
void unlink_join(Task& task, const Join& join) noexcept;
// Called when `task` has ended, with its lock held.
void wake_joiners(Worker& worker, Task& task) noexcept;

}  // namespace janus
