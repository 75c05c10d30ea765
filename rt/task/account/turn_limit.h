// SPDX-License-Identifier: Apache-2.0
// rt/task/account/turn_limit.h — a task in a cage has to come back to the runtime, by a yield, a yield check or a call
// that costs ops, before it has held its worker for the time that its cages allow (turn_ns); else it ends as a panic.
// docs/decisions/0345
//
// While a worker has tasks of cages, an alarm interrupts it each kAlarmNs. Its handler compares the running task and the
// ops and yields of the worker, with the fuel as it is now, with what it saw before: if both are the same, the task has
// held the worker meanwhile. All of this happens on the worker's own thread, so there is nothing that a late signal
// could get wrong: it looks once more, at what is there.
//
// Time counts as the thread's CPU time, so that a thread that did not run has held nothing, and as 2 kAlarmNs at most for
// each look, since a machine that was stopped meanwhile may count that time as its own.
//
// INVARIANT ends-between-calls: the handler ends a task only at an instruction of the program, with the stack pointer on
// the task's stack, below the frame that called the task's function, i.e. where a fault would end it. So the runtime holds
// nothing for the task, and none of its frames is among those that are left. Elsewhere it looks again soon.
#pragma once

#include <cstdint>

#include "rt/task/record/runtime.h"

namespace janus {

// Called before the first account below the root's is opened. Any thread.
void watch_turns(Runtime& runtime) noexcept;

}  // namespace janus
