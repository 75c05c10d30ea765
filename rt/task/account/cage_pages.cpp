// SPDX-License-Identifier: Apache-2.0
// rt/task/account/cage_pages.cpp — see cage_pages.h. Linked into programs that call janus_nursery_open (rt/optional.h).
#include "rt/task/account/cage_pages.h"

#include "rt/task/account/charge.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/account/memory.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

// --- Allocation ------------------------------------------------------------------------------------------------------

struct BlockRequest {
  Heap& heap;
  std::uint32_t account;
  const Heap::Plan& plan;
  void* block;  // nullptr: none was idle; the task got the memory for a span instead
};

bool take_idle_block(BlockRequest& request) noexcept {
  if (Heap::kHasPages) request.block = request.heap.take_idle_in_cage(request.account, request.plan);
  return request.block != nullptr;
}

bool wants_reclaim(bool is_asked) noexcept {
  return is_asked;
}

OrError<void*> allocate_in_pages(Runtime& runtime, Task& task, const Heap::Plan& plan, std::size_t align) noexcept {
  if (Heap::kHasPages) {
    Account* const payer = task.account;
    BlockRequest request{runtime.heap, payer->index(), plan, nullptr};
    if (take_idle_block(request)) return request.block;
    const std::size_t bytes = Heap::bytes_in_cage(plan);
    if (!Accounts::draw_below_root(payer, bytes)) {
      if (const int error = charge_waiting(task, Component::kMemory, bytes, &request)) return Failed{error};
      if (request.block != nullptr) return request.block;
    }
    void* const block = runtime.heap.take_paid_in_cage(payer->index(), plan, align);
    if (block != nullptr) return block;
    runtime.accounts.credit_below_root(payer, bytes);
  }
  return Failed{kErrorNoMemory};
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

void offer_idle_block(Runtime& runtime, std::uint32_t account) noexcept {
  full_fence();
  runtime.accounts.list_if_waiting(runtime.accounts.at(account), Component::kMemory);
}

namespace {

constexpr unsigned kBlocksAtOnce = 32;

void end_part(const Worker* worker) noexcept {
  if (worker == nullptr) return;
  // May leave a debt: the nursery must be destroyed even if its owner cannot pay now.
  take_fuel_unchecked(current_worker(), price::kReclaimPart);
  let_others_run(*current_task(current_worker()));
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
    runtime.accounts.credit_below_root(account, bytes);
    end_part(worker);
  }
  void* blocks[kBlocksAtOnce];
  while (const unsigned count = runtime.heap.take_over_huge(account->index(), blocks, kBlocksAtOnce)) {
    release_all(runtime, worker, blocks, count);
    end_part(worker);
  }
}

}  // namespace

void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept {
  if (Heap::kHasPages)
    reclaim_spans(*nursery.runtime, worker, nursery.account);
  else
    reclaim_each(*nursery.runtime, worker, nursery.account);
}

}  // namespace janus
