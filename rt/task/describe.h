// SPDX-License-Identifier: Apache-2.0
// rt/task/describe.h — a task as reports name it: panics, deadlocks and the list that SIGQUIT asks for.
#pragma once

#include "rt/base/format.h"
#include "rt/task/backtrace.h"
#include "rt/task/runtime.h"

namespace janus {

// "task 7 'its name'". A program's root is main, unless it has called itself something else; nothing is kept for that,
// since most never fail.
void append_task(TextWriter& text, const Task& task) noexcept;
// "outer/inner": the names of the nurseries from the root down to the task's.
void append_path(TextWriter& text, const Task& task) noexcept;

// A report of many tasks. It is put together under locks and said when they are released.
using TaskReport = Text<131072>;
// In pages of its own, with others, all zero, behind it; nullptr: there is no memory.
inline constexpr std::size_t kPagesBehindReport = 32768;
TaskReport* new_report() noexcept;
void say_and_free(TaskReport* report) noexcept;

// Does it wait for somebody else? For what, then; nullptr: it does not.
const char* what_for(TaskState state) noexcept;

// The tasks of a runtime that have been off their worker: what each waits for, in which nursery, and where; the
// outermost first, alike ones folded, as far as the report has room, and so many that nobody waits for it for long.
// Holds the locks of their nurseries meanwhile, and runtime.outside_lock is the caller's. How many there are in the
// report.
inline constexpr unsigned kMostTasks = 16384, kFramesOfEach = 8;
inline constexpr std::size_t kRoomOfTask = 8192;  // with what has to follow it
unsigned describe_tasks(Runtime& runtime, TaskReport& report) noexcept;

// What a member of a nursery waits for; nullptr: it does not.
const char* why_it_waits(const RunDetails& member) noexcept;
// From where it left off up to its own frame. False: it cannot be made out.
bool find_place(const Task& task, Place& place) noexcept;

// Whether it is only one more of those that the report has (docs/decisions/0291). nullptr: that was the last; how many
// there are of each comes into the report. There is no such function in a program that janus-cc has stripped.
[[gnu::weak]] bool fold(TaskReport& report, const RunDetails* member) noexcept;

}  // namespace janus
