// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/global_runtime_life.h — how a host's process gets its runtime: by janus_rt_init, or by the first call that
// needs one.
#pragma once

namespace janus {

struct Runtime;

// The process's runtime, or a new one with the default settings.
Runtime* process_runtime_or_new() noexcept;

}  // namespace janus
