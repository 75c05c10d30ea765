// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/reporting.h — the report function (janus_rt_config.report). docs/decisions/0349
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Called before the runtime has a task.
void begin_reporting(Runtime& runtime, const janus_rt_config& config) noexcept;
// The same for a program, which is linked with it if it has settings of its own (linker/settings.ld).
[[JANUS_OPTIONAL]] void begin_reporting_in_program(Runtime& runtime, const janus_rt_config& config) noexcept;

}  // namespace janus
