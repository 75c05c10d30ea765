// SPDX-License-Identifier: Apache-2.0
// rt/task/report/reporting.h — reports of panics, used-up budgets, failures and deadlocks in a runtime whose settings ask for
// more than lines on stderr: to a function of the program's (janus_rt_config.report), and of failures, too. It is called
// through the runtime, so that other programs do not link it (rt/abi/reports/reporting.cpp). docs/decisions/0349
#pragma once

#include "rt/base/format.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

struct UnreadFailure;

struct Reporting {
  // Keeps the lines of a panic, which are in worker.report, until tell_end(), since the function cannot be called in a
  // fault handler. False: they go to stderr at once.
  bool (*keep)(Worker& worker, const TextWriter& lines, const platform::Fault* fault) noexcept;
  // The rest is called by a worker outside the fault handler.
  // `end` nullptr: the task is marked as forced.
  void (*tell_end)(const Task& task, const TaskEnd* end) noexcept;
  // False: the line goes to stderr.
  bool (*tell_unread)(const UnreadFailure& unread, const TextWriter& line) noexcept;
  // Reports a deadlock, and ends it as handle_deadlock() does. Under outside_lock, which it releases in between.
  void (*end_deadlock)(Runtime& runtime, Worker& worker) noexcept;
};

// Tells how a task has failed; `end` nullptr: how it is about to end by force. Nothing else has run on this worker since
// its panic was reported.
[[gnu::noinline, gnu::cold]] inline void tell_end(const Task& task, const TaskEnd* end) noexcept {
  const Reporting* const reporting = task.nursery->runtime->reporting;
  if (reporting != nullptr) reporting->tell_end(task, end);
}

}  // namespace janus
