// SPDX-License-Identifier: Apache-2.0
// rt/task/account/reclaim.cpp — walks over the whole heap in small parts. The task that ends the nursery pays for each.
#include "rt/task/account/reclaim.h"

#include "rt/task/account/memory.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

struct Meant {
  const Accounts& accounts;
  const Account* account;

  static bool accepts(const void* self, std::uint32_t tag) noexcept {
    const auto& meant = *static_cast<const Meant*>(self);
    return meant.accounts.flows_into(tag, meant.account);
  }
};

}  // namespace

void reclaim_blocks(Worker* worker, Nursery& nursery) noexcept {
  constexpr unsigned kBlocksAtOnce = 32;
  Runtime& runtime = *nursery.runtime;
  const Meant meant{runtime.accounts, nursery.account};
  // If no blocks are left, there is nothing to walk or charge.
  for (Heap::Walk walk; !walk.is_over && !runtime.accounts.is_unused(nursery.account);) {
    void* blocks[kBlocksAtOnce];
    const unsigned count = runtime.heap.take_over_next(walk, {Meant::accepts, &meant}, blocks, kBlocksAtOnce);
    for (unsigned i = 0; i < count; ++i) {
      if (worker == nullptr)
        release_own(runtime, nullptr, blocks[i]);
      else
        release_in_parts(runtime, *current_task(current_worker()), blocks[i]);
    }
    if (worker == nullptr) continue;
    worker = &current_worker();
    // May leave a debt: the nursery must be destroyed even if its owner cannot pay now.
    take_fuel_unchecked(*worker, price::kHeapWalk);
    let_others_run(*current_task(*worker));
    worker = &current_worker();
  }
}

}  // namespace janus
