// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/output.h — writes to a descriptor, one writer at a time, without holding up other tasks.
#pragma once

#include <cstddef>

#include "rt/task/record/task.h"

namespace janus {

// 0 when all of it is written. What other tasks write to the same descriptor comes before it or after it; if they are
// in another outermost cage than the writer, or one of the two is in none, that holds for each 64 KiB. A task that has
// to wait, for the lock or for room, leaves its worker to others. -1: it was told to end, and would have had to wait;
// some may have been written. Otherwise -errno, with EACCES instead of EPERM, since -EPERM is -1, too. `task` nullptr:
// a thread outside tasks, which itself waits.
int write_all(Task* task, int fd, const char* bytes, std::size_t count) noexcept;

}  // namespace janus
