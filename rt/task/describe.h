// SPDX-License-Identifier: Apache-2.0
// rt/task/describe.h — a task as reports name it: panics, deadlocks and the list that SIGQUIT asks for.
#pragma once

#include "rt/base/format.h"
#include "rt/task/runtime.h"

namespace janus {

// "task 7 'its name'". A program's root is main, unless it has called itself something else; nothing is kept for that,
// since most never fail.
void append_task(TextWriter& text, const Task& task) noexcept;
// "outer/inner": the names of the nurseries from the root down to the task's.
void append_path(TextWriter& text, const Task& task) noexcept;

// A report of many tasks. It is put together under locks and said when they are released.
using TaskReport = Text<32768>;
// In pages of its own; nullptr: there is no memory.
TaskReport* new_report() noexcept;
void say_and_free(TaskReport* report) noexcept;

// Does it wait for somebody else? For what, then; nullptr: it does not.
const char* what_for(TaskState state) noexcept;

// The tasks of a runtime that have been off their worker: what each waits for, in which nursery, and where; the
// outermost first, at most kMostTasks. Holds the locks of their nurseries meanwhile, and runtime.outside_lock is the
// caller's. How many there are in the report.
inline constexpr unsigned kMostTasks = 64, kFramesOfEach = 8;
unsigned describe_tasks(Runtime& runtime, TaskReport& report) noexcept;

}  // namespace janus
