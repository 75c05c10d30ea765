// SPDX-License-Identifier: Apache-2.0
// rt/task/account/pause.h — pausing the tasks of a nursery with a budget of its own: they find no ops, and wait for them as for
// a recharge, whatever the policy (rt/budget/pauses.h). docs/decisions/0348
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Begins the nursery's pause, or ends it; a pause of a nursery above goes on. Precondition: the nursery owns its account.
// `task`: the running task, which pays, and lets others run in between; nullptr: outside tasks.
void set_paused(Runtime& runtime, Task* task, Nursery& nursery, bool is_paused) noexcept;

}  // namespace janus
