// SPDX-License-Identifier: Apache-2.0
// rt/task/account/cage_pages.h — blocks of tasks whose account pays for pages (rt/mem/cage_heap.h), since it is that of a
// nursery opened with JANUS_NURSERY_RECLAIM or below one: their allocation, and what becomes of them at the end.
// docs/decisions/0353
//
// Such an account pays for spans and not for blocks, so a free may credit nothing and still serve a task that waits for
// memory, by the block that is idle now: INVARIANT no-idle-block-missed in exhaustion.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/or_error.h"
#include "rt/optional.h"
#include "rt/task/record/runtime.h"

namespace janus {

// As allocate() in memory.h, for a task whose account pays for pages.
[[nodiscard, JANUS_OPTIONAL]] OrError<void*> allocate_in_pages(Runtime& runtime, Task& task, const Heap::Plan& plan,
                                                               std::size_t align) noexcept;
// Called when a block was freed for which nothing is to be credited.
[[JANUS_OPTIONAL]] void offer_idle_block(Runtime& runtime, std::uint32_t account) noexcept;

// Credits an account that pays for pages with some of them.
void credit_pages(Accounts& accounts, Account* account, std::uint64_t bytes) noexcept;

// Closes an account that nobody spends from any more.
inline void close_account(Runtime& runtime, Account* account) noexcept {
  if (Heap::kHasPages && account->pays_for_pages()) [[unlikely]]
    runtime.heap.hand_up(account);
  runtime.accounts.close(account);
}

}  // namespace janus
