// SPDX-License-Identifier: Apache-2.0
// rt/base/order_hooks.h — tells ThreadSanitizer, if it watches the tasks, what the runtime orders between tasks: a
// spawn before the start, the end before the return of an await or a join, a send before the receive, an unpark before
// the return of the park, a cancel before a task sees it. Nothing else orders tasks, not even running on one worker.
// In the runtime that ships every hook is empty; arch/hosted/order_hooks.cpp has the others.
// docs/decisions/0271
#pragma once

#include <cstddef>

#include "rt/base/watched.h"

namespace janus::order_hooks {

#ifdef JANUS_TASKS_ARE_WATCHED

// Actions of the calling task before release() happen before actions of a task after an acquire() of the same place.
void release(const void* place) noexcept;
void acquire(const void* place) noexcept;
// The runtime is about to read, or has written, the caller's memory on its behalf.
void reads(const void* from, std::size_t bytes) noexcept;
void writes(const void* to, std::size_t bytes) noexcept;

#else

inline void release(const void*) noexcept {}
inline void acquire(const void*) noexcept {}
inline void reads(const void*, std::size_t) noexcept {}
inline void writes(const void*, std::size_t) noexcept {}

#endif

// A second place of a record, for records with two different orders.
inline const void* second(const void* place) noexcept {
  return static_cast<const std::byte*>(place) + 8;
}

// The place for cancels and the tasks that see them; one for all, since cancels are passed down the tree.
inline constexpr char kCancel alignas(8) = 0;
// The place for the ends of tasks that hold locks, and those who get the locks.
inline constexpr char kHolderEnd alignas(8) = 0;

}  // namespace janus::order_hooks
