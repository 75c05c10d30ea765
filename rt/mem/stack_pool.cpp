// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0077
#include "rt/mem/stack_pool.h"

namespace janus {

void StackPool::charge_to(PoolCharge& pool_charge, std::uint64_t memory, unsigned workers) noexcept {
  constexpr std::uint64_t kLargeFirstShare = 8;  // large-first stacks take an eighth of the memory
  reserve().charge_to(pool_charge);
  caches_.limit_to(memory, workers);
  const std::uint64_t affordable = memory / (kLargeFirstShare * stack_class_bytes(kLargeFirstClass));
  const std::uint64_t wanted = kMaxLargeFirst + std::uint64_t{workers} * caches_.depth(kLargeFirstClass);
  max_large_first_ = wanted < affordable ? wanted : affordable;
}

[[gnu::noinline, gnu::cold]] Stack* StackPool::alloc_under_pressure(StackCache* cache, unsigned size_class,
                                                                    Due due) noexcept {
  if (trim())
    if (Stack* const stack = take(cache, size_class)) return stack;
  return due == Due::kPaid ? caches_.take_overdrawn(size_class) : nullptr;
}

}  // namespace janus
