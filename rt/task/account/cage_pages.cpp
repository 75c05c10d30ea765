// SPDX-License-Identifier: Apache-2.0
// rt/task/account/cage_pages.cpp — see cage_pages.h. Linked with reclaim.cpp (rt/optional.h).
#include "rt/task/account/cage_pages.h"

#include "rt/task/account/charge.h"
#include "rt/task/account/exhaustion.h"

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
    credit_pages(runtime.accounts, payer, bytes);
  }
  return Failed{kErrorNoMemory};
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

void offer_idle_block(Runtime& runtime, std::uint32_t account) noexcept {
  offer_idle_block(runtime.accounts, runtime.accounts.at(account));
}

void credit_pages(Accounts& accounts, Account* account, std::uint64_t bytes) noexcept {
  accounts.credit_below_root(account, bytes);
}

}  // namespace janus
