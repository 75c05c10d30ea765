// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_slab.h"

#include <bit>

#include "rt/base/assert.h"
#include "rt/mem/stack_canary.h"

namespace janus {

// The mapping is zeroed, so no group is prepared or listed yet.
void StackSlab::init(std::size_t mapped, std::uint32_t stack_count, unsigned stack_class,
                     const StackExtent& of_class) noexcept {
  stacks = reinterpret_cast<std::byte*>(this) + header_bytes(stack_count);
  bytes = mapped;
  stride = stack_stride(stack_class, of_class);
  extent = of_class;
  count = stack_count;
  size_class = static_cast<std::uint8_t>(stack_class);
}

[[gnu::cold]] void StackSlab::guard_bank(StackGroup& group) noexcept {
  std::byte* const first = base_of(group.number * kBankStacks);
  std::size_t guarded = group.stacks;
  group.grows = guard_what_is_to_come(group);
  group.guard = group.grows ? platform::Guard::kInstalled
                            : platform::guard(first, stride, group.stacks, stack_guard_bytes(size_class), guarded);
  group.guarded = static_cast<std::uint8_t>(guarded);
}

// Guards, together with the guards of a group, the parts above them that the stacks may grow into, so that no task uses
// memory there that is not paid for. False: that failed, or no growth would work (docs/decisions/0297), and there is no
// guard.
[[gnu::cold]] bool StackSlab::guard_what_is_to_come(const StackGroup& group) noexcept {
  if (extent.initial == extent.most || (platform::is_emulated != nullptr && platform::is_emulated())) return false;
  std::byte* const first = base_of(group.number * kBankStacks);
  const std::size_t bytes = stack_guard_bytes(size_class) + extent.most - extent.initial;
  if (platform::set_guards(first, stride, group.stacks, bytes)) return true;
  (void)!platform::clear_guard(first, group.stacks * stride);
  return false;
}

[[gnu::cold]] Stack* StackSlab::build(std::uint32_t index) noexcept {
  const StackGroup& group = groups()[index / kBankStacks];
  Stack* stack = record_of(index);
  stack->start = reinterpret_cast<std::byte*>(stack);
  stack->next = nullptr;
  stack->fiber = nullptr;
  stack->owner = nullptr;
  if constexpr (kAssertions) stack->is_out = false;
  stack->canary = canary_key ^ address_of(stack);
  stack->slab = number;
  stack->index = index;
  stack->size_class = size_class;
  stack->guard = index % kBankStacks < group.guarded ? group.guard : platform::Guard::kNone;
  std::byte* limit = limit_of(index);
  if (stack->guard == platform::Guard::kNone) write_canary(limit, stack->canary);
  if (platform::announce_stack != nullptr) platform::announce_stack(base_of(index), stack->start);
  // Stored last: StackTable::containing() ignores a record without a limit. Pairs with its load.
  std::atomic_ref<std::byte*>(stack->limit).store(limit, std::memory_order_release);
  return stack;
}

void StackSlab::discard(const StackGroup& group, std::uint64_t which) noexcept {
  while (which != 0) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(which));
    const unsigned run = static_cast<unsigned>(std::countr_one(which >> first));
    platform::discard(base_of(group.number * kBankStacks + first), run * stride);  // guards inside survive
    if (run == kBankStacks) return;
    which &= ~(((std::uint64_t{1} << run) - 1) << first);
  }
}

}  // namespace janus
