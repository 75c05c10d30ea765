// SPDX-License-Identifier: Apache-2.0
// rt/task/deadlock.h — when nothing can run any more, and nobody will change that.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

// By the last worker that goes to sleep. A program ends with status 3. Where a thread has called janus_rt_run, or waits
// for a nursery of its own, what it waits for is cancelled and comes to JANUS_E_DEADLOCK. One line, and one for each of
// the first few tasks. Nothing happens if a worker has run since all slept, as `entered` says.
void handle_deadlock(Runtime& runtime, Worker& worker, IdleSet::Snapshot entered) noexcept;

}  // namespace janus
