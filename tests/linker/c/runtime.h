// SPDX-License-Identifier: Apache-2.0
// runtime.h: what stands in for the runtime below libjanus_c in these hosted tests, and how tests steer it. The
// library's own names carry the prefix jc_ here, so that glibc's stand beside them and can be compared with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace runtime {

// The task that the caller is, 0 for none. Each has its own local values.
extern std::uint64_t current_task;

// Blocks that may still be had before allocation fails; below 0: no limit.
extern long blocks_left;

// What was paid in ops since a test set it to 0, and the most at once.
extern std::uint64_t paid, most_paid;

// What janus_syscall answers in place of the kernel, if it is not 0.
extern std::int64_t scripted_answer;

// What the last panic or exit said; nullptr and -1 before.
extern const char* panic_text;
extern int exit_status;

// Runs `body`, which may panic or exit. True if it came to its end.
bool survives(void (*body)());

}  // namespace runtime
