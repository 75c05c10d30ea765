// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/pinned.h — where a pinned task waits to run: in the queue of its worker (WorkerPinned, rt/sched/worker.h).
// docs/decisions/0342
#pragma once

#include "rt/optional.h"
#include "rt/task/record/task.h"

namespace janus {

// The running task is pinned to `home` from now on. Linked with the functions below.
void set_home(Task& self, const Worker& home) noexcept;
// Queues a task that has become ready at its worker, if it is pinned; false: it is not. Any thread.
[[nodiscard, JANUS_OPTIONAL]] bool push_if_pinned(Task& task) noexcept;
// As Scheduler::yield() and the rest of a yield, for the running task, if it is pinned; false: it is not.
[[nodiscard, JANUS_OPTIONAL]] bool yield_if_pinned(Worker& worker, Task& self, Suspension& suspension) noexcept;

}  // namespace janus
