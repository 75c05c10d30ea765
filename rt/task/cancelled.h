// SPDX-License-Identifier: Apache-2.0
// rt/task/cancelled.h — whether somebody was told to end. How they are told: rt/task/cancel.h.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/task.h"

namespace janus {

// Whether `task` was told to end: itself, its nursery, or an ancestor of either.
bool is_cancelled(Task& task) noexcept;
// The same for a child of `nursery` that nobody else knows.
bool is_cancelled(Nursery& nursery) noexcept;
// The same for a task that may already be gone, and its nursery with it, so that their memory serves others: the answer
// is a hint then, and nothing is written.
bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept;

}  // namespace janus
