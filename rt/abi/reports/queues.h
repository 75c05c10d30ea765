// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/queues.h — what each worker does, and what is queued where.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Any thread, while the workers run: each figure is from another moment.
janus_worker_stats statistics_of(const Worker& worker) noexcept;
// Adds the present states of all tasks. `sum` has the other figures.
void add_states(Runtime& runtime, janus_stats& sum) noexcept;

// Writes a line for each worker to stderr.
[[JANUS_OPTIONAL]] void print_workers(Runtime& runtime) noexcept;

}  // namespace janus
