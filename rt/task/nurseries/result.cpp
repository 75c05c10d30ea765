// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/result.cpp — a nursery's result: the first of the most severe failures of its children.
#include "rt/task/nurseries/result.h"

#include "rt/task/record/runtime.h"
#include "rt/task/report/reporting.h"

namespace janus {

namespace {

// A panic is the most severe, then a failure, then a used-up budget. The other outcomes are not recorded.
int severity(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kPanic:
      return 4;
    case Outcome::kFailed:
      return 3;
    case Outcome::kBudget:
      return 2;
    default:
      return 0;
  }
}

std::int64_t value_of(Outcome outcome, std::int64_t code) noexcept {
  switch (outcome) {
    case Outcome::kFailed:
      return code;
    case Outcome::kCancelled:
      return -1;
    case Outcome::kPanic:
      return -2;
    case Outcome::kBudget:
      return -3;
    case Outcome::kSuccess:
    case Outcome::kPending:  // no terminal nursery has it
      break;
  }
  return 0;
}

}  // namespace

[[gnu::noinline]] void record_end(const Task& task, const TaskEnd& end, Pace pace) noexcept {
  Nursery& nursery = *task.nursery;
  if (end.outcome == Outcome::kCancelled) return pass_cancel_on(&current_worker(), nursery, pace);
  if (end.outcome == Outcome::kFailed) tell_end(task, &end);
  {
    LockGuard guard(nursery.lock);
    nursery.traits.has_leftovers = true;
    ++nursery.errors;
    if (severity(end.outcome) > severity(nursery.outcome)) {
      nursery.outcome = end.outcome;
      nursery.code = end.code;
      nursery.cause = end.cause;
      nursery.failed_id = task.id;
    }
  }
  if (nursery.traits.on_error == ErrorPolicy::kCancel)
    cancel_nursery(&current_worker(), nursery, Cause::kSiblingFailed, pace);
}

Report report_of(const Task& ended) noexcept {
  const bool is_failure = severity(ended.outcome) != 0;
  const bool was_told = ended.cancel.load(std::memory_order_relaxed) != 0;
  return {ended.outcome, is_failure ? 1u : 0u, ended.result, ended.id, was_told, ended.cause};
}

// Precondition: the nursery is terminal, so all children have ended, and what they recorded happened before this.
Report report_of(Nursery& nursery) noexcept {
  nursery.was_read.store(true, std::memory_order_relaxed);
  const bool cancelled = (nursery.word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0;
  Outcome outcome = nursery.outcome;
  if (outcome == Outcome::kSuccess && cancelled) outcome = Outcome::kCancelled;
  const bool is_deadlock =
      outcome == Outcome::kCancelled && (nursery.word.load(std::memory_order_relaxed) & NurseryWord::kDeadlocked) != 0;
  const std::int64_t code = is_deadlock ? kErrorDeadlock : value_of(outcome, nursery.code);
  const Cause cause =
      outcome == Outcome::kCancelled ? nursery.cancel_cause.load(std::memory_order_relaxed) : nursery.cause;
  return {outcome, nursery.errors, code, nursery.failed_id, cancelled, cause};
}

}  // namespace janus
