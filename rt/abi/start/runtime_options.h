// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/runtime_options.h — converts a checked config to the options of a runtime. docs/decisions/0155
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Precondition: check_config() accepted the config.
RuntimeOptions options_of(const janus_rt_config& config) noexcept;

}  // namespace janus
