// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/result.h — the result of a nursery.
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"
#include "rt/task/wait/cancel.h"

namespace janus {

// The result of a nursery or a task.
struct Report {
  Outcome outcome;
  std::uint32_t errors;
  std::int64_t code;
  std::uint64_t task_id;
  bool was_cancelled;
  Cause cause;
};

// As users get it: the ABI's janus_result.
struct ResultWords {
  std::uint32_t kind, errors;
  std::int64_t code;
  std::uint64_t task_id;
  std::uint32_t was_cancelled, cause;
};
constexpr ResultWords words_of(const Report& report) noexcept {
  return {static_cast<std::uint32_t>(report.outcome),
          report.errors,
          report.code,
          report.task_id,
          report.was_cancelled ? 1u : 0u,
          static_cast<std::uint32_t>(report.cause)};
}

// Records in the task's nursery that the task did not succeed; a failure cancels its siblings if the nursery has that
// policy. If the task was cancelled from above the nursery, cancels the nursery, too, which that cancel may not have
// reached yet.
void record_end(const Task& task, const TaskEnd& end, Pace pace) noexcept;
// The result of a task that has ended. Under its lock, or that of its nursery while it is in the records.
Report report_of(const Task& ended) noexcept;
// The result of a terminal nursery; it counts as read from now on.
Report report_of(Nursery& nursery) noexcept;

}  // namespace janus
