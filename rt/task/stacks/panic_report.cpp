// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/panic_report.cpp — see panic_report.h.
#include "rt/task/stacks/panic_report.h"

#include "rt/base/format.h"
#include "rt/task/record/price.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"
#include "rt/task/report/reporting.h"
#include "rt/task/stacks/stack_growth.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

constexpr std::size_t kShownReason = 500;  // bytes of a reason that users wrote

}  // namespace

void append_panic(TextWriter& line, const Task& task, const char* verb, const char* why,
                  const platform::Fault* fault) noexcept {
  line.append("janus: ");
  append_task(line, task);
  line.append(" %s: ", verb);
  line.append_escaped(why, kShownReason);
  if (fault != nullptr && fault->has_address) line.append(" at %#lx", fault->address);
  line.append("; nursery ");
  append_path(line, task);
}

void tell_panic(Worker& worker, const TextWriter& lines, const platform::Fault* fault) noexcept {
  const Runtime& runtime = runtime_of(worker);
  if (runtime.reporting == nullptr || !runtime.reporting->keep(worker, lines, fault)) say(lines.data(), lines.size());
  if (runtime.options.ends_by_panic) platform::abort();
}

[[gnu::noinline, gnu::cold]] void report_panic(const Task& task, const char* why,
                                               const platform::Fault* fault) noexcept {
  Worker& worker = current_worker();
  take_fuel_unchecked(worker, price::kPanic);  // a debt of the task, or of the parent in whose slice it runs
  TextWriter line(worker.report, sizeof worker.report);
  append_panic(line, task, "panicked", why, fault);
  const Runtime& runtime = runtime_of(worker);
  line.append(", stack %lu bytes", static_cast<unsigned long>(stack_now_of(worker, task)));
  if (runtime.stacks.grows())
    line.append(" of at most %lu (JANUS_STACK_MAX)", static_cast<unsigned long>(most_stack_of(runtime, task)));
  else
    line.append(" (JANUS_STACK)");
  line.end_line();
  if (task.frame != nullptr && worker.stack != nullptr) {
    const std::uint64_t ip =
        fault != nullptr ? fault->ip : reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
    const std::uint64_t fp = fault != nullptr ? fault->fp : reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    Place place = place_on(worker.stack, ip, fp);
    if (fault == nullptr || fault->registers == nullptr) leave_runtime(place);
    append_frames(line, place, kMaxFrames);
  }
  tell_panic(worker, line, fault);
}

Reason reason_of(const platform::Fault& fault, Worker& worker) noexcept {
  constexpr Reason kBadAccess = {Cause::kBadAccess, "invalid memory access"};
  switch (fault.kind) {
    case platform::FaultKind::kAccess:
    case platform::FaultKind::kBus: {
      if (!fault.has_address || worker.stack == nullptr) return kBadAccess;
      auto* const touched = reinterpret_cast<const std::byte*>(fault.address);
      if (!runtime_of(worker).stacks.in_guard(worker.stack, touched)) return kBadAccess;
      return {Cause::kStackOverflow, overflow_cause(Growth::kAtMost)};
    }
    case platform::FaultKind::kIllegalInstruction:
      return {Cause::kIllegalInstruction, "illegal instruction"};
    case platform::FaultKind::kDivision:
      return {Cause::kDivision, "division by zero"};
    case platform::FaultKind::kFloatingPoint:
      return {Cause::kOther, "floating-point exception"};
    case platform::FaultKind::kBreakpoint:
      return {Cause::kOther, "breakpoint"};
  }
  return {Cause::kOther, "fault"};
}

}  // namespace janus
