// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/output.h — writes to a descriptor, one writer at a time, without holding up other tasks.
#pragma once

#include <cstddef>

#include "rt/task/record/task.h"

namespace janus {

// 0: all is written. Output of other tasks of the group to the same descriptor comes before it or after it; output of
// other groups may come between pieces of 64 KiB. A task that has to wait, for the lock or for room, leaves its worker
// to others. -1: the task was told to end and would have had to wait; part may be written. Otherwise -errno, with
// EACCES instead of EPERM, since -EPERM is -1, too. `task` nullptr: the caller is a thread outside tasks, and blocks.
int write_all(Task* task, int fd, const char* bytes, std::size_t count) noexcept;

}  // namespace janus
