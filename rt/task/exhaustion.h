// SPDX-License-Identifier: Apache-2.0
// rt/task/exhaustion.h — tasks that wait for somebody to recharge their budget. They queue at the account that a
// recharge of their nursery reaches, in the order in which they ran dry; those with a budget of their own draw on what
// it was recharged with, and on nothing else of it.
//
// INVARIANT recharge-in-order: who ran dry first is served first, of each component, as far as it goes; who is not
// served goes on waiting. What is handed out is drawn for the waiter under the queue's lock, so that nobody is faster.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

enum class Recharge : std::uint8_t {
  kDrawn,      // the amount was drawn for the task
  kCancelled,  // it was told to end
  kNever,      // nobody can ever recharge it, or it has no stack to wait on
};
Recharge wait_for_recharge(Task& task, Component component, std::uint64_t amount) noexcept;

// `account` may have more than before: those that wait for it are served. `worker` nullptr: from outside.
void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept;
// Nobody who could recharge anybody can run: all who wait end. True: there were some.
bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept;

}  // namespace janus
