// SPDX-License-Identifier: Apache-2.0
// rt/task/account/charge.h — charges the running task's operations to its account, by the prices of
// rt/task/record/price.h: ops at its checks, the other components when they are requested. If the account has too
// little, the task waits, gets an error or ends; so each of these functions may leave the worker. Memory:
// rt/task/account/memory.h. Records, which no task waits for: rt/task/wait/records.h.
// docs/decisions/0160, 0328
#pragma once

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"

namespace janus {

struct BlockRequest;

// --- Ops -------------------------------------------------------------------------------------------------------------

// Charges `ops` to the running task, and then acts as a yield check: gives way at the end of a slice, pays from its
// grace after a cancel, and waits or ends when the ops are used up. The task may change workers. 0, or -1: told to end.
int charge_ops(Task& task, std::int64_t ops) noexcept;
// Charges for `bytes` of bulk work that is about to be done: at most price::kBytesAtOnce, or one element of a channel.
int charge_bytes(Task& task, std::size_t bytes) noexcept;

// Puts the task behind every ready task. 0, or -1: the task was told to end. Free, except for a yield after a yield
// with nothing charged in between, which costs one op.
template <Path kPath>
int yield(Worker& worker, Task& task) noexcept;
// At the end of a slice: pays for it, checks for a cancel, and lets other ready tasks run. 0, or -1: told to end.
int yield_slow(Task& task) noexcept;

// --- The other components --------------------------------------------------------------------------------------------

// Draws `amount` of `component`, which is not memory, for the running task. If the account does not have that much, its
// exhaustion policy decides: this waits for a recharge, or gives an error, or ends the task. 0: drawn. -1: told to end.
// kErrorNoCap: the component was never granted. kErrorBudget: the account has too little.
int charge(Task& task, Component component, std::uint64_t amount) noexcept;
// The two halves of charge(). The first draws, or changes nothing if the account has too little (false).
[[nodiscard]] bool charge_at_once(const Task& task, Component component, std::uint64_t amount) noexcept;
// `request`: the block for which memory is charged, if the account pays for pages (cage_pages.h).
int charge_waiting(Task& task, Component component, std::uint64_t amount, BlockRequest* request = nullptr) noexcept;

// Called after an operation that `payer` could not pay, and that does not wait (a spawn, a record): ends the running
// task if `payer` is the task's account and JANUS_ON_EXHAUSTION_FAIL applies to it.
void end_if_fail_rules(Task& task, const Account* payer, Component component) noexcept;

}  // namespace janus
