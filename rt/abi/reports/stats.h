// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/stats.h — sums of the workers' counters.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/record/runtime.h"

namespace janus {

janus_stats statistics_of(Runtime& runtime) noexcept;
// Writes the table of JANUS_STATS to stderr.
void print_statistics(Runtime& runtime) noexcept;

}  // namespace janus
