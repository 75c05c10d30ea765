// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_limit.h — moves the guard below the usable part of a stack that can grow. For the holder of the stack
// only; takes no lock, and may be called in a fault handler. docs/decisions/0255
#pragma once

#include <cstddef>

#include "rt/mem/stack.h"

namespace janus {

// Makes the stack usable down to `limit`, a page boundary between StackPool::lowest_of() and the present limit. Its
// contents are kept. False: the machine refuses, and nothing has changed.
[[nodiscard]] bool extend_stack(Stack* stack, std::byte* limit) noexcept;
// Raises the limit again: the contents below are lost. Precondition: no frame is below `limit`. If the machine refuses,
// nothing changes.
void retract_stack(Stack* stack, std::byte* limit) noexcept;

}  // namespace janus
