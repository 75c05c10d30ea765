// SPDX-License-Identifier: Apache-2.0
// rt/task/account/reclaim.h — frees the blocks that a nursery's tasks left allocated. Called at the end of nurseries
// that were opened with JANUS_NURSERY_RECLAIM. docs/decisions/0205, 0353
#pragma once

#include "rt/optional.h"
#include "rt/task/record/nursery.h"

namespace janus {

// Whether a nursery is to have an account that pays for pages. A program that never asks does not link this part.
[[nodiscard]] bool wants_reclaim(bool is_asked) noexcept;

// Frees every user's block that is charged to the nursery's own account; those of accounts below it came there when they
// were closed. Precondition: the nursery is terminal, and was opened with JANUS_NURSERY_RECLAIM. Its owner only; a task
// lets others run in between, and may change workers.
[[JANUS_OPTIONAL]] void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept;

}  // namespace janus
