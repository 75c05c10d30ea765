// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/late_tasks.h — names the task that keeps a program from ending when it was told to by a signal.
#pragma once

#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Remembers how far the task of each worker is. In a signal handler, which does not run twice at once.
[[JANUS_OPTIONAL]] void note_progress(Runtime& runtime) noexcept;
// Says on one line which task has not yielded since note_progress(), `grace_ms` ago; if all have, that main has not
// ended. In a signal handler.
[[JANUS_OPTIONAL]] void say_who_is_late(Runtime& runtime, unsigned grace_ms) noexcept;

}  // namespace janus
