// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/global_runtime_life.h — creates the runtime of a host's process: for janus_rt_init, or for the first
// call that needs one.
#pragma once

namespace janus {

struct Runtime;

// The process's runtime, or a new one with the settings of the environment. nullptr: there is none, and none was made.
Runtime* process_runtime_or_new() noexcept;

}  // namespace janus
