// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancelled.h — tests whether a task was told to end. rt/task/wait/cancel.h tells tasks.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// Whether `task` was told to end: itself, its nursery, or an ancestor of either. For each nursery, the first call after
// a cancel that may concern it walks up to the root, for which the calling task, if any, pays.
bool is_cancelled(Task& task) noexcept;
// As !is_cancelled(Task&), by comparisons alone. False also if only a walk can tell. kIsCaged: of the task.
template <bool kIsCaged>
bool is_clean_at_once(const Runtime& runtime, const Task& task) noexcept;
// Whether the children of `nursery` were told to end: for a child without a handle, which cannot be cancelled alone.
bool is_cancelled(Nursery& nursery) noexcept;
// As is_cancelled(Nursery&), for a nursery on the root's account.
bool is_cancelled_on_root(const Runtime& runtime, Nursery& nursery) noexcept;
// As is_cancelled(Task&), but writes and charges nothing. The result is only a hint if the task has ended and its
// record, or its nursery's, was recycled.
bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept;

}  // namespace janus
