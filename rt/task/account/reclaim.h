// SPDX-License-Identifier: Apache-2.0
// rt/task/account/reclaim.h — frees the blocks that a nursery's tasks left allocated. Called at the end of nurseries
// that were opened with JANUS_NURSERY_RECLAIM.
// docs/decisions/0205
#pragma once

#include "rt/task/record/nursery.h"

namespace janus {

// Frees every user's block that is charged to the nursery's own account, or to one that was closed below it.
// Precondition: the nursery is terminal. Its owner only; a task lets others run in between, and may change workers.
void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
