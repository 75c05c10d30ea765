// SPDX-License-Identifier: Apache-2.0
// rt/task/report/describe.h — describes tasks for reports: panics, deadlocks and the list for SIGQUIT.
#pragma once

#include "rt/base/format.h"
#include "rt/optional.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/backtrace.h"

namespace janus {

// Appends "task 7 'its name'". A program's root is shown as main unless it has another name; this name is not stored,
// since most roots never fail.
void append_task(TextWriter& text, const Task& task) noexcept;
// Appends "outer/inner": the names of the nurseries from the root down to the task's.
void append_path(TextWriter& text, const Task& task) noexcept;

// A report of many tasks. It is composed under locks, and written after they are released.
using TaskReport = Text<131072>;
// A report in pages of its own, with kPagesBehindReport bytes of zeroes behind it; nullptr: there is no memory.
inline constexpr std::size_t kPagesBehindReport = 32768;
TaskReport* new_report() noexcept;
void free_report(TaskReport* report) noexcept;
void say_and_free(TaskReport* report) noexcept;

// What a task in that state waits for, in words; nullptr: it does not wait for another.
const char* what_for(TaskState state) noexcept;

// Describes those tasks of a runtime that have left their worker at least once: what each waits for, in which nursery,
// and where in the code. The outermost tasks come first; similar tasks are grouped. Describes as many tasks as the
// report has room for, and at most kMaxTasks, to bound the time. Takes the locks of their nurseries; the caller holds
// runtime.outside_lock. Returns how many tasks were described.
inline constexpr unsigned kMaxTasks = 16384, kFramesOfEach = 8;
inline constexpr std::size_t kShownName = 40;     // bytes of a name that users gave
inline constexpr std::size_t kRoomOfTask = 8192;  // for one task and the lines that must follow it
unsigned describe_tasks(Runtime& runtime, TaskReport& report) noexcept;

// Appends a member's priority, unless that is the normal one, and which nursery or task it waits for. False: for neither.
[[JANUS_OPTIONAL]] bool append_awaited(TaskReport& report, const RunDetails& member) noexcept;
// Finds where a waiting task has stopped, with its stack up to its own frame. False: not found.
bool find_place(const Task& task, Place& place) noexcept;

// Whether `member` is only counted, since the report shows enough of its kind (docs/decisions/0291). nullptr, after the
// last member: appends how many more there are of each kind.
[[JANUS_OPTIONAL]] bool group_similar(TaskReport& report, const RunDetails* member) noexcept;

}  // namespace janus
