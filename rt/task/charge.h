// SPDX-License-Identifier: Apache-2.0
// rt/task/charge.h — what operations cost, and who pays. This is the one place where the five components are charged.
//
// The root account pays for records and stacks in bulk, when the pools grow (rt/budget/pool_charge.h), so that ordinary
// tasks cost no budget work; below an explicit budget each is charged by itself while it lives, and the root account
// pays that much less.
#pragma once

#include "rt/task/runtime.h"
#include "rt/task/spawn.h"

namespace janus {

// The price list, in ops. docs/budgets.md quotes it; a call that is not free costs kCall, and what is named beside it.
//     spawn           and 1 spawn_count, and the memory of its record and stack below an explicit budget
//     send, receive   and 1 channel_op
//     system call     and kSystemCall, and 1 of `syscalls`; so does output, but on descriptors 1 and 2 without the
//     latter bulk work       and 1 op for each whole 4 KiB that is copied or written
// An op stands for up to 100 ns of the runtime's work and the kernel's, as it was measured on the machine of
// docs/hostile.md; what takes less costs one all the same. So a slice of 1,024 ops takes some 0.1 ms, whatever it is
// spent on. How turns are shared does not rest on it (docs/decisions/0187-parties-share-time.md).
namespace price {
inline constexpr std::int64_t kCall = 1;
inline constexpr std::int64_t kSystemCall = 8;
// A cancel may fence all threads of the process; it wakes or marks each one of those that it reaches, for 1 op each.
inline constexpr std::int64_t kCancel = 8;
inline constexpr std::int64_t kMapping = 16;    // a block beyond Heap::kMaxLarge, and its return to the kernel
inline constexpr std::int64_t kStatistics = 4;  // and as much again for each worker
inline constexpr std::int64_t kPanic = 64;      // its report
inline constexpr std::size_t kBytesPerOp = 4096;
inline constexpr std::size_t kRandomBytesPerOp = 32;
// Bulk work gives way after so much of it.
inline constexpr std::size_t kBytesAtOnce = 65536, kRandomBytesAtOnce = 4096, kFreedAtOnce = std::size_t{2} << 20;
// So many records are looked at, and freed, before others have their turn.
inline constexpr unsigned kRecordsAtOnce = 256;
// So many are woken by a close, for 1 op each, before others have their turn.
inline constexpr unsigned kWakesAtOnce = 256;
// To look at the tags of so many pages as are looked at at once (Heap::kWalkPages).
inline constexpr std::int64_t kHeapWalk = 16;
// A format and its strings are looked at byte by byte.
inline constexpr std::size_t kFormattedBytesPerOp = 64;
}  // namespace price

// --- Ops -------------------------------------------------------------------------------------------------------------

// Charges `ops` to the running task, and looks at what is left as a yield check does: gives way at the end of a slice,
// pays grace after a cancel, waits or ends without ops. The task may go on on another worker. 0, or -1: told to end.
int charge_ops(Task& task, std::int64_t ops) noexcept;
// For `bytes` of bulk work that is to be done now, at most price::kBytesAtOnce of them.
int charge_bytes(Task& task, std::size_t bytes) noexcept;

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

// --- Records ---------------------------------------------------------------------------------------------------------

// A record (of a nursery, a channel) that lives on `payer` until refund_record(). Nothing happens for the root account,
// which pays in bulk. False: the budget does not reach.
[[nodiscard]] bool pay_for_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;
void refund_record(Runtime& runtime, Account* payer, std::uint64_t bytes) noexcept;

// A new account below `parent`; what idle stacks hold of the root account is not in its way. nullptr: short.
Account* open_account(Runtime& runtime, Account* parent, const Amounts& wanted) noexcept;
// After Slab::take() gave nothing. nullptr: *error says whether it was the root's budget or the machine.
void* alloc_under_pressure(Runtime& runtime, Slab& slab, SlabCache* cache, bool has_paid, int* error) noexcept;
// The account of the new child: the nursery's, or its own below it. nullptr: *error is why, and nothing is drawn.
Account* pay_for_spawn(Nursery& nursery, const SpawnOptions& options, int* error) noexcept;
void refund_spawn(Nursery& nursery, Account* account, const SpawnOptions& options) noexcept;
// Of a task that has ended.
void credit_task(Task& task) noexcept;

// Whether the task lives on less than its runtime has: an explicit budget stands somewhere between the two. What a
// whole runtime was given (root_budget) is none.
[[nodiscard]] bool is_below_explicit_budget(const Task& task) noexcept;

}  // namespace janus
