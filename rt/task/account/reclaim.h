// SPDX-License-Identifier: Apache-2.0
// rt/task/account/reclaim.h — frees what the tasks of a nursery left allocated when the nursery goes, if it was opened so.
// docs/decisions/0205
#pragma once

#include "rt/task/record/nursery.h"

namespace janus {

// Frees every user's block that is charged to the nursery's own account, or to one that was closed below it. The
// nursery is terminal. Its owner only; on a worker it gives way in between, and may go on on another one.
void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
