// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancelled.h — whether a task was told to end. How tasks are told: rt/task/wait/cancel.h.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// Whether `task` was told to end: itself, its nursery, or an ancestor of either. The first look after a cancel anywhere in
// the runtime walks up to the root, which the running task pays for, if a task calls.
bool is_cancelled(Task& task) noexcept;
// Whether the children of `nursery` were told to end: for a child that no other task knows, so that nothing can have
// cancelled it alone.
bool is_cancelled(Nursery& nursery) noexcept;
// As is_cancelled(Task&), for a task that may already be gone, and its nursery with it, so that their records serve
// others: the answer is a hint then, and nothing is written or paid.
bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept;

}  // namespace janus
