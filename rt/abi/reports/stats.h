// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/stats.h — adding up what the workers counted.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/record/runtime.h"

namespace janus {

janus_stats statistics_of(Runtime& runtime) noexcept;
// The table of JANUS_STATS, on stderr.
void print_statistics(Runtime& runtime) noexcept;

}  // namespace janus
