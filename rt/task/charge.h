// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.h — what the running task does is charged to its account, by the prices of rt/task/price.h: ops at its
// checks, the other components as they are asked for. Where the account has too little, the task waits, gets an error
// or ends. So each of these may leave the worker. Memory goes through rt/task/memory.h to here; what is charged to an
// account without a task that could wait, records among that, is rt/task/records.h.
#pragma once

#include "rt/task/price.h"
#include "rt/task/runtime.h"

namespace janus {

// --- Ops -------------------------------------------------------------------------------------------------------------

// Charges `ops` to the running task, and looks at what is left as a yield check does: gives way at the end of a slice,
// pays grace after a cancel, waits or ends without ops. The task may go on on another worker. 0, or -1: told to end.
int charge_ops(Task& task, std::int64_t ops) noexcept;
// For `bytes` of bulk work that is to be done now: at most price::kBytesAtOnce of them, or an element of a channel.
int charge_bytes(Task& task, std::size_t bytes) noexcept;

// Goes behind every ready task. 0, or -1: the task was told to end. Free, but for a yield after a yield with nothing
// charged in between, which costs one op.
int yield(Task& task) noexcept;
// At the end of a slice: pays what was spent, looks at cancellation and at who else wants to run. 0, or -1.
int yield_slow(Task& task) noexcept;

// --- The other components --------------------------------------------------------------------------------------------

// Draws `amount` of `component` for the running task. Where there is not so much, the policy that rules its account
// decides: this waits until somebody recharges it, or gives an error, or ends the task. 0: drawn. -1: told to end.
// kErrorNoCap: never granted; kErrorBudget.
int charge(Task& task, Component component, std::uint64_t amount) noexcept;
// After an attempt to draw that failed.
int charge_waiting(Task& task, Component component, std::uint64_t amount) noexcept;

// After an operation that `payer` could not pay, and that waits for nothing (a spawn, a record): where that is the
// running task's own account, and JANUS_ON_EXHAUSTION_FAIL rules it, this is the task's end.
void end_if_fail_rules(Task& task, const Account* payer) noexcept;

}  // namespace janus
