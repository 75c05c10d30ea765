// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/slice.h — the ops that a running task holds as fuel, and the only code that takes fuel.
// docs/decisions/0170, 0206
//
// INVARIANT fuel-has-one-writer: Worker::fuel is written by this header, by slice.cpp, and by the yield checks that
// compilers emit (rt.h). tests/layers checks that no other code writes it.
//
// INVARIANT every-op-is-accounted: fuel is drawn from the task's account before it is spent, and the rest of it goes
// back when the slice is committed. Fuel below zero is a debt: a check waits until it is paid (yield_slow); a slice
// that is committed elsewhere passes it to the account (Accounts::owe). So an account gives out at most the ops that it
// was given, and a task spends at most these plus the price of one operation.
//
// INVARIANT one-grace: a task that was told to end has a limited number of ops to clean up, its grace, and draws them
// from its account as before. Only ops that the account lacks are lent (Accounts::borrow), and the line of credit is
// one grace for all tasks below one budget together. So a cage that was given N ops spends at most N plus one grace,
// whatever it spawns, opens and cancels. When account and credit are used up, the task's grace is over. If ops are
// unlimited, no account pays for the grace. Tasks below a shield have no grace of their own (rt/task/wait/shield.h).
#pragma once

#include <arch/worker_slot.h>

#include <cstddef>

#include "rt/task/record/task.h"

namespace janus {

// Takes `ops` of the running task's fuel, as the yield check does. True: the slice is used up, and the caller has to
// call yield_slow() before the task goes on.
[[nodiscard, gnu::always_inline]] inline bool take_fuel(std::int64_t ops) noexcept {
  return arch::slot_sub_is_negative<offsetof(WorkerSlot, fuel)>(ops);
}
// Takes `ops` without a check: there is enough, the caller checks afterwards, or the task cannot wait here. The task's
// next check finds fuel below zero; if the slice ends before that, the account takes over the debt.
[[gnu::always_inline]] inline void take_fuel_unchecked(Worker& worker, std::int64_t ops) noexcept {
  worker.fuel -= ops;
}
// Undoes take_fuel(ops), for an operation that does not begin after all.
inline void put_fuel_back(Worker& worker, std::int64_t ops) noexcept {
  worker.fuel += ops;
}

// Called for a task that starts or continues. Fast path: requires a task on the root's account that was not told to
// end, so that no account is charged.
template <Path kPath = Path::kGeneral>
void begin_slice(Worker& worker, Task& task) noexcept;
// Called when a task continues after a child on its stack that had a slice of its own: gives the task what was left
// of its slice when the child's began, less the ops that the child has used. So a task gets no fresh slice by running
// children.
void resume_slice(Worker& worker, Task& task, std::int64_t left_before) noexcept;
// Begins the task's grace, from which all its slices are taken from now on.
void begin_grace(Worker& worker, Task& task) noexcept;
// The unspent part of the running task's slice that its account has paid for.
[[nodiscard]] std::uint64_t rest_of_slice(const Worker& worker) noexcept;
// Called before the task of the slice leaves the worker, waits or ends. Fast path: as for begin_slice().
template <Path kPath = Path::kGeneral>
void commit_slice(Worker& worker, Task& task) noexcept;
// As commit_slice(), at a check, for a task that can wait. Returns the part of its debt that the account cannot pay
// now, which has to be paid before the task continues.
[[nodiscard]] std::uint64_t commit_slice_at_check(Worker& worker, Task& task) noexcept;

// For code that runs on the worker and is no task's: replaces the fuel of the running task, and returns it.
inline std::int64_t swap_fuel(Worker& worker, std::int64_t fuel) noexcept {
  const std::int64_t before = worker.fuel;
  worker.fuel = fuel;
  return before;
}

}  // namespace janus
