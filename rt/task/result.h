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

// Of a task that runs, in its nursery; where the nursery says so, its siblings are told to end.
void record_failure(const Task& task, Outcome outcome, std::int64_t code, Pace pace) noexcept;
// Of a terminal nursery; from now on its result counts as read.
Report report_of(Nursery& nursery) noexcept;

}  // namespace janus
