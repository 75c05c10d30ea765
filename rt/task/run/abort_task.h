// SPDX-License-Identifier: Apache-2.0
// rt/task/run/abort_task.h — a task's faults, and the check of its stack. The other ways to end a task by force are
// declared in rt/task/record/panic.h.
#pragma once

#include <arch/worker_slot.h>
#include "rt/platform.h"
#include "rt/task/record/task.h"

namespace janus {

bool contain_fault(platform::Fault& fault) noexcept;

// Grows the stack if too little of it is left for code of the runtime. Panics, before that code has taken any lock, if
// the stack cannot grow, or if the canary of a stack without a guard page was overwritten.
void look_at_stack(Worker& worker) noexcept;
inline void require_stack(Worker& worker) noexcept {
  if (arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker.stack_limit)) [[unlikely]]
    look_at_stack(worker);
}

}  // namespace janus
