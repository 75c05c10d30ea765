// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/keeper.h — keepers of budgets: who receives from a channel into which the runtime sends when little of a
// budget is left, and when a task waits for more. docs/decisions/0347
//
// A keeper is the handle of his channel, not a reference to it: when the channel is closed or gone, there is no keeper any
// more. A message about a mark is sent by whoever serves the budget, and lost if the channel is full. A message about tasks
// that wait is sent by one of them, which waits for room; so it is never lost.
//
// INVARIANT keeper-knows: while tasks wait for a component, the keeper was told so since the last recharge, or one of these
// tasks is about to tell him.
#pragma once

#include "rt/task/account/keepers.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

// From now on who receives from that channel keeps the nursery's budget; `channel` 0: nobody does. `low`: the marks, 0 for
// none. Precondition: the nursery owns its account; the channel is of its runtime, and its elements are KeepMessages.
// `worker` nullptr: outside.
void keep(Worker* worker, Nursery& nursery, std::uint64_t channel, const Amounts& low) noexcept;

}  // namespace janus
