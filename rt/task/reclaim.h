// SPDX-License-Identifier: Apache-2.0
// rt/task/reclaim.h — what the tasks of a nursery left allocated goes when the nursery goes, if it was opened so.
#pragma once

#include "rt/task/nursery.h"

namespace janus {

// Frees every user's block that is charged to the nursery's own account, or to one that was closed below it. Terminal,
// by its owner. On a worker it gives way in between, so that it may go on on another one.
void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
