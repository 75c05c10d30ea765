// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_limit.h"

#include <atomic>

namespace janus {

namespace {

// Atomic: other threads read the limit to see whether the stack has a record, and how far down they may read.
void move_limit(Stack* stack, std::byte* limit) noexcept {
  std::atomic_ref<std::byte*>(stack->limit).store(limit, std::memory_order_release);  // pairs with containing()
}

}  // namespace

// Everything below the limit is guarded already, so only the part that becomes usable has to change.
bool extend_stack(Stack* stack, std::byte* limit) noexcept {
  if (!platform::clear_guard(limit, static_cast<std::size_t>(stack->limit - limit))) return false;
  move_limit(stack, limit);
  return true;
}

void retract_stack(Stack* stack, std::byte* limit) noexcept {
  std::byte* const left = stack->limit;
  move_limit(stack, limit);
  if (!platform::set_guards(left, 0, 1, static_cast<std::size_t>(limit - left))) move_limit(stack, left);
}

}  // namespace janus
