// SPDX-License-Identifier: Apache-2.0
// rt/task/output.h — writing to a descriptor, one writer at a time, without holding up anybody else.
#pragma once

#include <cstddef>

#include "rt/task/task.h"

namespace janus {

// 0 when all of it is written. What others write to the same descriptor comes before it or after it; if they stand in
// another outermost cage, or they or the writer in none, that holds for each 64 KiB. A task that has to
// wait, for its turn or for room, leaves its worker to others. -1: it was told to end, and would have had to wait; some
// may have been written. Otherwise -errno, where EACCES stands for EPERM, which is -1, too. `task` nullptr: a thread
// outside tasks, which waits itself.
int write_all(Task* task, int fd, const char* bytes, std::size_t count) noexcept;

}  // namespace janus
