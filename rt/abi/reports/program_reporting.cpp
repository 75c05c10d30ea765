// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/program_reporting.cpp — a program's report function. An archive member that is linked into each program that
// defines janus_config.
#include "rt/abi/reports/reporting.h"

JANUS_ANCHOR(janus_reporting);

namespace janus {

void begin_reporting_in_program(Runtime& runtime, const janus_rt_config& config) noexcept {
  begin_reporting(runtime, config);
}

}  // namespace janus
