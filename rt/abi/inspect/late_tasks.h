// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/late_tasks.h — names the task that keeps a program from ending after a signal.
#pragma once

#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Records the running task of each worker, and its progress. Called in a signal handler, one at a time.
[[JANUS_OPTIONAL]] void note_progress(Runtime& runtime) noexcept;
// Writes one line that names the task that has not yielded since note_progress(), `grace_ms` ago; if all have, it says
// that main has not ended. Called in a signal handler.
[[JANUS_OPTIONAL]] void say_who_is_late(Runtime& runtime, unsigned grace_ms) noexcept;

}  // namespace janus
