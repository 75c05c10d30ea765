// SPDX-License-Identifier: Apache-2.0
// rt/mem/stack_lookup.cpp — finds the stack that an address belongs to, and whether one was overrun. Async-signal-safe.
// docs/decisions/0022
#include "rt/mem/stack_pool.h"

namespace janus {

StackSlab* StackPool::slab_at(const void* address) const noexcept {
  // From the latest on: those are the largest.
  for (std::uint32_t n = slab_count_.load(std::memory_order_acquire); n-- > 0;) {  // pairs with grow()
    StackSlab* slab = slabs_[n].load(std::memory_order_relaxed);
    if (slab->index_at(address) != StackSlab::kNone) return slab;
  }
  return nullptr;
}

Stack* StackPool::containing(const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return nullptr;
  const std::uint32_t index = slab->index_at(address);
  if (index >= slab->prepared.load(std::memory_order_relaxed)) return nullptr;
  Stack* stack = slab->record_of(index);
  return std::atomic_ref<std::byte*>(stack->limit).load(std::memory_order_acquire) == nullptr ? nullptr : stack;
}

bool StackPool::in_guard(const Stack* stack, const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return false;
  return slab->record_of(slab->index_at(address)) == stack && static_cast<const std::byte*>(address) < stack->limit;
}

bool StackPool::canary_words_intact(const Stack* stack) noexcept {
  const std::uint64_t* words = canary_of(stack->limit);
  std::uint64_t changed = 0;
  for (std::size_t n = 0; n < kCanaryWords; n++) changed |= words[n] ^ stack->canary;
  return changed == 0;
}

void StackPool::renew_canary(Stack* stack) noexcept {
  for (std::size_t n = 0; n < kCanaryWords; n++) canary_of(stack->limit)[n] = stack->canary;
}

}  // namespace janus
