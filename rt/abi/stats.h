// SPDX-License-Identifier: Apache-2.0
// rt/abi/stats.h — adding up what the workers counted.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/runtime.h"

namespace janus {

janus_stats statistics_of(Runtime& runtime) noexcept;
// The table of JANUS_STATS, on stderr.
void print_statistics(Runtime& runtime) noexcept;

}  // namespace janus
