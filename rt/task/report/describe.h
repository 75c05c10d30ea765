// SPDX-License-Identifier: Apache-2.0
// rt/task/report/describe.h — a task as reports name it: panics, deadlocks and the list that SIGQUIT asks for.
#pragma once

#include "rt/base/format.h"
#include "rt/optional.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/backtrace.h"

namespace janus {

// Appends "task 7 'its name'". A program's root is main, unless it has named itself otherwise; no name is stored for
// that, since most never fail.
void append_task(TextWriter& text, const Task& task) noexcept;
// Appends "outer/inner": the names of the nurseries from the root down to the task's.
void append_path(TextWriter& text, const Task& task) noexcept;

// A report of many tasks. It is put together under locks, and written when they are released.
using TaskReport = Text<131072>;
// A report in pages of its own, with kPagesBehindReport bytes of zeroes behind it; nullptr: there is no memory.
inline constexpr std::size_t kPagesBehindReport = 32768;
TaskReport* new_report() noexcept;
void say_and_free(TaskReport* report) noexcept;

// What a task in that state waits for; nullptr: it does not wait for another.
const char* what_for(TaskState state) noexcept;

// Describes the tasks of a runtime that have been off their worker: what each waits for, in which nursery, and where;
// the outermost first, similar ones grouped, as far as the report has room, and at most kMaxTasks, so that no task waits
// for it for long. Holds the locks of their nurseries meanwhile; the caller holds runtime.outside_lock. Returns how
// many tasks were described.
inline constexpr unsigned kMaxTasks = 16384, kFramesOfEach = 8;
inline constexpr std::size_t kShownName = 40;     // of text that users wrote
inline constexpr std::size_t kRoomOfTask = 8192;  // of one task, with what has to follow it
unsigned describe_tasks(Runtime& runtime, TaskReport& report) noexcept;

// Appends which nursery or task a member waits for. False: for neither.
[[JANUS_OPTIONAL]] bool append_awaited(TaskReport& report, const RunDetails& member) noexcept;
// Where a waiting task has stopped, with its stack up to its own frame. False: it cannot be made out.
bool find_place(const Task& task, Place& place) noexcept;

// Whether `member` is only one more of a kind that the report has (docs/decisions/0291). nullptr: after the last
// member; appends how many more there are of each kind.
[[JANUS_OPTIONAL]] bool group_similar(TaskReport& report, const RunDetails* member) noexcept;

}  // namespace janus
