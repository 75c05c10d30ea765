// SPDX-License-Identifier: Apache-2.0
// rt/task/account/cage_pages.h — blocks of tasks whose account pays for pages (rt/mem/cage_heap.h), since it is that of a
// nursery opened with JANUS_NURSERY_RECLAIM or below one: their allocation, and what becomes of them at the end.
// docs/decisions/0205, 0353
//
// Such an account pays for spans and not for blocks, so a free may credit nothing and still serve a task that waits for
// memory, by the block that is idle now.
//
// INVARIANT no-idle-block-missed: a task that waits for memory is offered the idle blocks of its account.
//   free: 1 make the block idle     2 full fence   3 does a task wait? then list the account as unserved
//   wait: 1 enter the queue         2 full fence   3 is a block idle?
// As no-lost-return in rt/budget/account.h, whose queue this is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/or_error.h"
#include "rt/optional.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

// Whether a nursery is to have an account that pays for pages. A program that never asks does not link this part.
[[nodiscard]] bool wants_reclaim(bool is_asked) noexcept;

// As allocate() in memory.h, for a task whose account pays for pages.
[[nodiscard, JANUS_OPTIONAL]] OrError<void*> allocate_in_pages(Runtime& runtime, Task& task, const Heap::Plan& plan,
                                                               std::size_t align) noexcept;
// Called when a block was freed for which nothing is to be credited.
[[JANUS_OPTIONAL]] void offer_idle_block(Runtime& runtime, std::uint32_t account) noexcept;

// Frees every user's block that is charged to the nursery's own account; those of accounts below it came there when they
// were closed. Precondition: the nursery is terminal, and was opened with JANUS_NURSERY_RECLAIM. Its owner only; a task
// lets others run in between, and may change workers.
[[JANUS_OPTIONAL]] void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept;

// Closes an account that nobody spends from any more.
inline void close_account(Runtime& runtime, Account* account) noexcept {
  if (Heap::kHasPages && account->pays_for_pages()) [[unlikely]]
    runtime.heap.hand_up(account);
  runtime.accounts.close(account);
}

}  // namespace janus
