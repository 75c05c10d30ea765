// SPDX-License-Identifier: Apache-2.0
// runtime.h: replaces the runtime below libjanus_c in these hosted tests, and lets tests control it. The library's
// names have the prefix jc_ here, so that they can be linked beside glibc's and compared with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runtime {

// The id of the calling task, 0 for none. Each task has its own local values.
extern std::uint64_t current_task;

// How many more blocks can be allocated; below 0: no limit.
extern long blocks_left;

// The ops paid since a test set `paid` to 0, and the largest single payment.
extern std::uint64_t paid, most_paid;

// If it is not 0, janus_syscall returns this instead of calling the kernel.
extern std::int64_t scripted_answer;

// The text of the last panic and the status of the last exit; nullptr and -1 before.
extern const char* panic_text;
extern int exit_status;

// Runs `body`, which may panic or exit. True if it returned.
bool survives(void (*body)());

}  // namespace runtime
