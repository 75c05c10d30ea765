// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/panic_report.h — the report of a task that panics.
#pragma once

#include "rt/base/format.h"
#include "rt/platform.h"
#include "rt/task/record/task.h"

namespace janus {

// `fault` nullptr: the task called panic(), or the runtime did on its behalf. Who calls it also calls tell_end()
// (rt/task/report/reporting.h) on the same worker, before anything else runs there.
void report_panic(const Task& task, const char* why, const platform::Fault* fault) noexcept;

// The parts of it. How its first line begins; `verb`: "panicked".
void append_panic(TextWriter& line, const Task& task, const char* verb, const char* why,
                  const platform::Fault* fault) noexcept;
// Gives the lines, which are in worker.report, to the report function or to stderr. Ends the process where a panic does.
void tell_panic(Worker& worker, const TextWriter& lines, const platform::Fault* fault) noexcept;

// Why a fault ends a task, with the text for its report.
struct Reason {
  Cause cause;
  const char* text;
};
[[nodiscard]] Reason reason_of(const platform::Fault& fault, Worker& worker) noexcept;

}  // namespace janus
