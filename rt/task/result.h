// SPDX-License-Identifier: Apache-2.0
// rt/task/result.h — what a nursery comes to.
#pragma once

#include "rt/task/cancel.h"
#include "rt/task/nursery.h"
#include "rt/task/task.h"

namespace janus {

// What a nursery or a task came to.
struct Report {
  Outcome outcome;
  std::uint32_t errors;
  std::int64_t code;
  std::uint64_t task_id;
  bool was_cancelled;
};

// Of a task that has come to something else than success, in its nursery; a failure ends its siblings where the nursery
// says so. Who was cancelled from above the nursery passes that on, so that the nursery ends cancelled, too, although
// nobody may have told it yet.
void record_end(const Task& task, Outcome outcome, std::int64_t code, Pace pace) noexcept;
// Of a terminal nursery; from now on its result counts as read.
Report report_of(Nursery& nursery) noexcept;

}  // namespace janus
