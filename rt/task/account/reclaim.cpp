// SPDX-License-Identifier: Apache-2.0
// rt/task/account/reclaim.cpp — the end of a cage that was opened with JANUS_NURSERY_RECLAIM, in small parts. The task
// that ends the nursery pays for each. Linked into programs that call janus_nursery_open (rt/optional.h).
#include "rt/task/account/reclaim.h"

#include "rt/task/account/cage_pages.h"
#include "rt/task/account/memory.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

constexpr unsigned kBlocksAtOnce = 32;

// May leave a debt: the nursery must be destroyed even if its owner cannot pay now.
void pay_for_part(const Worker* worker) noexcept {
  if (worker != nullptr) take_fuel_unchecked(current_worker(), price::kReclaimPart);
}
void end_part(const Worker* worker) noexcept {
  pay_for_part(worker);
  if (worker != nullptr) let_others_run(*current_task(current_worker()));
}

void release_all(Runtime& runtime, const Worker* worker, void* const* blocks, unsigned count) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    if (worker == nullptr)
      release_own(runtime, nullptr, blocks[i]);
    else
      release_in_parts(runtime, *current_task(current_worker()), blocks[i]);
  }
}

// Where blocks lie in no pages of the heap, all of them are looked at.
struct Meant {
  const Accounts& accounts;
  const Account* account;

  static bool accepts(const void* self, std::uint32_t tag) noexcept {
    const auto& meant = *static_cast<const Meant*>(self);
    return meant.accounts.flows_into(tag, meant.account);
  }
};

void reclaim_each(Runtime& runtime, const Worker* worker, const Account* account) noexcept {
  const Meant meant{runtime.accounts, account};
  // If no blocks are left, there is nothing to walk or charge.
  for (Heap::Walk walk; !walk.is_over && !runtime.accounts.is_unused(account);) {
    void* blocks[kBlocksAtOnce];
    release_all(runtime, worker, blocks,
                runtime.heap.take_over_next(walk, {Meant::accepts, &meant}, blocks, kBlocksAtOnce));
    end_part(worker);
  }
}

void reclaim_spans(Runtime& runtime, const Worker* worker, Account* account) noexcept {
  for (bool has_more = true; has_more;) {
    std::size_t bytes = 0;
    has_more = runtime.heap.reclaim_next(account->index(), bytes);
    if (bytes == 0) break;
    credit_pages(runtime.accounts, account, bytes);
    has_more ? end_part(worker) : pay_for_part(worker);
  }
  void* blocks[kBlocksAtOnce];
  while (const unsigned count = runtime.heap.take_over_huge(account->index(), blocks, kBlocksAtOnce)) {
    release_all(runtime, worker, blocks, count);
    end_part(worker);
  }
}

}  // namespace

bool wants_reclaim(bool is_asked) noexcept {
  return is_asked;
}

void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept {
  if (Heap::kHasPages)
    reclaim_spans(*nursery.runtime, worker, nursery.account);
  else
    reclaim_each(*nursery.runtime, worker, nursery.account);
}

}  // namespace janus
