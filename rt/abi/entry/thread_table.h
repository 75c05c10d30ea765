// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/thread_table.h — data of threads outside tasks: for each thread the nurseries that it has opened and not
// awaited, of which the last is current, and its last error. Each of these functions concerns the calling thread.
#pragma once

#include "rt/task/record/nursery.h"

namespace janus {

// For janus_last_error and janus_last_error_text.
struct LastError {
  int error = 0;           // with the reason, as with_why() in rt/base/errors.h packs them
  std::uint64_t left = 0;  // what the budget has left of the component that the reason names
};

// nullptr: there is none.
[[nodiscard]] Nursery* current_of_thread() noexcept;
// False: 64 other threads have nurseries open.
[[nodiscard]] bool push_current_of_thread(Nursery& nursery) noexcept;
// Removes and returns the current nursery; nullptr: there is none.
[[nodiscard]] Nursery* pop_current_of_thread() noexcept;

void set_error_of_thread(LastError error) noexcept;
[[nodiscard]] LastError last_error_of_thread() noexcept;

}  // namespace janus
