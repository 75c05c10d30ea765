// SPDX-License-Identifier: Apache-2.0
// rt/abi/thread_table.h — what a thread outside tasks has of its own: the nurseries that it has opened and not awaited,
// the last of them current, and its last error. Each of these speaks of the calling thread.
#pragma once

#include "rt/task/nursery.h"

namespace janus {

// nullptr: there is none.
[[nodiscard]] Nursery* current_of_thread() noexcept;
// False: 64 others have nurseries open.
[[nodiscard]] bool push_current_of_thread(Nursery& nursery) noexcept;
// The current one, which is so no more; nullptr: there is none.
[[nodiscard]] Nursery* pop_current_of_thread() noexcept;

void set_error_of_thread(int error) noexcept;
[[nodiscard]] int last_error_of_thread() noexcept;

}  // namespace janus
