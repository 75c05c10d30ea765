// SPDX-License-Identifier: Apache-2.0
// rt/task/forced_end.h — a task's faults, and the look at its stack. How a task is ended by force otherwise is declared
// in rt/task/panic.h.
#pragma once

#include <arch/worker_slot.h>
#include "rt/platform.h"
#include "rt/task/task.h"

namespace janus {

bool contain_fault(platform::Fault& fault) noexcept;

// Makes the stack larger where too little of it is left for code of ours. Panics when it cannot be, or when something
// ran over the end of a stack that no guard page ends, before that code has taken anything.
void look_at_stack(Worker& worker) noexcept;
inline void require_stack(Worker& worker) noexcept {
  if (arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker.stack_limit)) [[unlikely]]
    look_at_stack(worker);
}

}  // namespace janus
