// SPDX-License-Identifier: Apache-2.0
// rt/task/exhaustion.h — tasks that wait for a recharge of their budget. They queue at the account that a recharge of
// their nursery reaches, in the order in which they ran dry. A task with a budget of its own draws on what that account
// was recharged with, and on nothing else of it.
//
// INVARIANT recharge-in-order: the task that ran dry first is served first, of each component, as far as it goes; a
// task that is not served goes on waiting. What is handed out is drawn for the waiter under the queue's lock, so that
// no other task draws it first.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

enum class Recharge : std::uint8_t {
  kDrawn,      // the amount was drawn for the task
  kCancelled,  // the task was told to end
  kNever,      // no recharge can ever come, or there is no stack to wait on
};
Recharge wait_for_recharge(Task& task, Component component, std::uint64_t amount) noexcept;

// Serves the tasks that wait for `account`, which may have more than before. `worker` nullptr: from outside.
void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept;
// No task that could recharge another can run: ends the wait of all that wait. True: there were some.
bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept;

}  // namespace janus
