// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancelled.h — tests whether a task was told to end. rt/task/wait/cancel.h tells tasks.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/put_aside.h"

namespace janus {

// Whether `task` was told to end: itself, its nursery, or an ancestor of either. For each nursery, the first call after
// a cancel that may concern it walks up to the root, for which the calling task, if any, pays.
bool is_told(Task& task) noexcept;
// As !is_told(Task&), by comparisons alone. False also if only a walk can tell. kIsCaged: of the task.
template <bool kIsCaged>
bool is_clean_at_once(const Runtime& runtime, const Task& task) noexcept;
// Whether the children of `nursery` were told to end: for a child without a handle, which cannot be cancelled alone.
bool is_told(Nursery& nursery) noexcept;
// As is_told(Nursery&), for a nursery on the root's account.
bool is_told_on_root(const Runtime& runtime, Nursery& nursery) noexcept;
// As is_told(Task&), but writes and charges nothing. The result is only a hint if the task has ended and its record, or
// its nursery's, was recycled.
bool may_be_told(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept;

// Whether calls of `task` answer that it was cancelled: it was told to end, and no shield puts that aside. The task
// runs, or waits under a lock that is held.
inline bool is_cancelled(Task& task) noexcept {
  return is_told(task) && !(is_put_aside != nullptr && (is_shielded(task) || is_put_aside(task)));
}
// The same for the children of `nursery`.
inline bool is_cancelled(Nursery& nursery) noexcept {
  return is_told(nursery) && !(is_put_aside_in != nullptr && is_put_aside_in(nursery));
}

}  // namespace janus
