// SPDX-License-Identifier: Apache-2.0
// rt/task/result.cpp — what a nursery comes to: the gravest failure of its children, the first of its kind.
#include "rt/task/runtime.h"

namespace janus {

namespace {

// panic > failed > budget > cancelled > success
int severity(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kPanic:
      return 4;
    case Outcome::kFailed:
      return 3;
    case Outcome::kBudget:
      return 2;
    case Outcome::kCancelled:
      return 1;
    default:
      return 0;
  }
}

std::int64_t value_of(Outcome outcome, std::int64_t code) noexcept {
  switch (outcome) {
    case Outcome::kSuccess:
      return 0;
    case Outcome::kFailed:
      return code;
    case Outcome::kCancelled:
      return -1;
    case Outcome::kPanic:
      return -2;
    case Outcome::kBudget:
      return -3;
    case Outcome::kPending:
      break;
  }
  return -4;
}

}  // namespace

[[gnu::noinline]] void record_failure(Nursery& nursery, Worker& worker, const Task& task, Outcome outcome,
                                      std::int64_t code) noexcept {
  {
    LockGuard guard(nursery.lock);
    nursery.traits.has_leftovers = true;
    ++nursery.errors;
    if (severity(outcome) > severity(nursery.outcome)) {
      nursery.outcome = outcome;
      nursery.code = code;
      nursery.failed_id = task.id;
    }
  }
  if (nursery.traits.on_error == 0) cancel_nursery(&worker, nursery);
}

// Terminal: all children have ended, and what they recorded happened before.
Report report_of(Nursery& nursery) noexcept {
  nursery.was_read.store(true, std::memory_order_relaxed);
  const bool cancelled = (nursery.word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0;
  Outcome outcome = nursery.outcome;
  if (outcome == Outcome::kSuccess && cancelled) outcome = Outcome::kCancelled;
  return {outcome, nursery.errors, value_of(outcome, nursery.code), nursery.failed_id, cancelled};
}

[[gnu::noinline]] std::int64_t end_left_open(Task& task, std::int64_t code, bool cancel) noexcept {
  RunFrame& frame = *task.frame;
  // The newest first: those it opened since it last stopped, then the others.
  link_current(frame);
  frame.current = nullptr;
  const auto newest = [&]() noexcept {
    return frame.open != nullptr ? frame.open : task.marks != 0 ? frame.details.published : nullptr;
  };
  while (Nursery* const nursery = newest()) {
    if (cancel) cancel_nursery(&current_worker(), *nursery);
    await_nursery(task, *nursery);
    const bool unread = !nursery->was_read.load(std::memory_order_relaxed);
    const Report report = report_of(*nursery);
    destroy_nursery(&current_worker(), *nursery);
    if (unread && code >= 0 && report.outcome != Outcome::kSuccess &&
        (report.outcome != Outcome::kCancelled || is_cancelled(task)))
      code = report.code;
  }
  return code;
}

}  // namespace janus
