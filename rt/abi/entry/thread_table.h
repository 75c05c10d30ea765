// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/thread_table.h — what a thread outside tasks has of its own: the nurseries that it has opened and not awaited,
// the last of them current, and its last error. Each of these functions is about the calling thread.
#pragma once

#include "rt/task/record/nursery.h"

namespace janus {

// What janus_last_error and janus_last_error_text tell: an error with its Why, and what is left of the component that
// the Why names.
struct LastError {
  int error = 0;
  std::uint64_t left = 0;
};

// nullptr: there is none.
[[nodiscard]] Nursery* current_of_thread() noexcept;
// False: 64 other threads have nurseries open.
[[nodiscard]] bool push_current_of_thread(Nursery& nursery) noexcept;
// Takes off the current nursery; nullptr: there is none.
[[nodiscard]] Nursery* pop_current_of_thread() noexcept;

void set_error_of_thread(LastError error) noexcept;
[[nodiscard]] LastError last_error_of_thread() noexcept;

}  // namespace janus
