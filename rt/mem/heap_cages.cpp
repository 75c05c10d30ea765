// SPDX-License-Identifier: Apache-2.0
// rt/mem/heap_cages.cpp — the heap's functions for blocks of accounts that pay for pages (cage_heap.h). Linked into
// programs that may open a nursery with JANUS_NURSERY_RECLAIM (rt/optional.h). docs/decisions/0353
#include <arch/cpu.h>
#include "rt/budget/accounts.h"
#include "rt/mem/heap.h"

namespace janus {

std::size_t Heap::bytes_in_cage(const Plan& plan) noexcept {
  return plan.kind == Kind::kSmall ? cage_shape(plan.size_class).pages * kPageBytes : plan.bytes;
}

void* Heap::take_idle_in_cage(std::uint32_t account, const Plan& plan) noexcept {
  CageHeap* const heap = plan.kind == Kind::kSmall ? cages_.find(account) : nullptr;
  return heap != nullptr ? heap->take(plan.size_class) : nullptr;
}

void* Heap::take_paid_in_cage(std::uint32_t account, const Plan& plan, std::size_t align) noexcept {
  CageHeap* const heap = cages_.at(account);
  if (heap == nullptr) return nullptr;
  if (plan.kind == Kind::kHuge) {
    heap->has_huge_.store(true, std::memory_order_relaxed);
    return huge_.allocate(plan.bytes, align, account);
  }
  const std::size_t bytes = bytes_in_cage(plan);
  const std::size_t align_pages = plan.kind == Kind::kLarge && align > kPageBytes ? align / kPageBytes : 1;
  Span* run;
  while ((run = pages_.take_run(static_cast<unsigned>(bytes / kPageBytes), static_cast<unsigned>(align_pages))) ==
         nullptr)
    if (!give_back_kept()) return nullptr;
  owner_of(run).store(account, std::memory_order_relaxed);
  add_large(bytes);
  return plan.kind == Kind::kLarge ? heap->take_large(run) : heap->take_of_new(run, plan.size_class);
}

bool Heap::reclaim_next(std::uint32_t account, std::size_t& bytes) noexcept {
  CageHeap* const heap = cages_.find(account);
  if (heap == nullptr) return false;
  CageHeap::Runs runs;
  const bool has_more = heap->reclaim(runs);
  for (Span* run = runs.first; run != nullptr;) {
    // Neighbours go back as one run.
    Span* next = run->next;
    for (; next != nullptr && chunk_of(next) == chunk_of(run); next = next->next) {
      const unsigned pages = run->pages + next->pages;
      if (next == run + run->pages)
        run->pages = static_cast<std::uint16_t>(pages);
      else if (run == next + next->pages)
        (run = next)->pages = static_cast<std::uint16_t>(pages);
      else
        break;
    }
    pages_.give_run(run);
    run = next;
  }
  add_large(-(runs.pages * kPageBytes));
  bytes += runs.pages * kPageBytes;
  return has_more;
}

unsigned Heap::take_over_huge(std::uint32_t account, void** out, unsigned most) noexcept {
  CageHeap* const heap = cages_.find(account);
  if (heap == nullptr || !heap->has_huge_.load(std::memory_order_relaxed)) return 0;
  const unsigned taken = huge_.take_over_all(account, out, most);
  if (taken < most) heap->has_huge_.store(false, std::memory_order_relaxed);
  return taken;
}

void Heap::hand_up(Account* account) noexcept {
  Account* to = account->parent();
  while (to->is_closed()) to = to->parent();
  CageHeap* const from = cages_.find(account->index());
  if (from == nullptr || !to->pays_for_pages()) return;
  CageHeap* const above = cages_.at(to->index());
  if (above == nullptr) return;  // they stay where they are, and are credited above when they are freed
  if (from->has_huge_.exchange(false, std::memory_order_relaxed)) {
    above->has_huge_.store(true, std::memory_order_relaxed);
    huge_.hand_up(account, to);
  }
  for (;;) {
    CageHeap::Runs runs;
    from->begin_move(runs);
    if (runs.first == nullptr) return;
    Accounts::move_held(account, to, runs.pages * kPageBytes);  // before a free can find the new owner
    above->end_move(runs, to->index());
  }
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

Heap::Found Heap::claim_in_cage(void* block, Holder holder, InCage what) noexcept {
  HeapChunk* const chunk = chunk_of(block);
  for (;;) {
    const auto& its_entry = chunk->entries[page_of(block)];
    const PageEntry entry = its_entry.load(std::memory_order_acquire);  // pairs with set_entries()
    if (entry.kind() != kCageKind) return {0, kFreeTag, Misuse::kNoBlock};
    Span* const span = &chunk->spans[entry.first_page()];
    const std::uint32_t account = owner_of(span).load(std::memory_order_relaxed);
    CageHeap* const heap = account != CageHeap::kMoving ? cages_.find(account) : nullptr;
    if (heap == nullptr) {
      arch::pause();  // until end_move()
      continue;
    }
    Span* emptied = nullptr;
    Found found{0, account, Misuse::kNone};
    {
      LockGuard guard(heap->lock_);
      if (its_entry.load(std::memory_order_acquire) != entry ||
          owner_of(span).load(std::memory_order_relaxed) != account)
        continue;
      const CageShape shape = cage_shape_of(span);
      const std::uintptr_t offset = address_of(block) - address_of(start_of(span)), number = offset / shape.bytes;
      if (offset % shape.bytes != 0 || number >= shape.blocks) return {0, kFreeTag, Misuse::kNoBlock};
      Tag& tag = cage_tags_of(span, shape)[number];
      const std::uint32_t now = tag.load(std::memory_order_relaxed);
      const Holder has = holder_of(now);
      const Misuse misuse = has == holder ? Misuse::kNone : has == Holder::kNobody ? Misuse::kFreed : Misuse::kRuntimes;
      if (what == InCage::kLook)
        return {has != Holder::kNobody ? shape.bytes : 0, has != Holder::kNobody ? account | now : kFreeTag, misuse};
      if (misuse != Misuse::kNone) return {0, kFreeTag, misuse};
      if (what == InCage::kTakeOver) {
        tag.store(kRuntimeTag, std::memory_order_relaxed);
        return {shape.bytes, account, Misuse::kNone};
      }
      if (heap->free(span, shape, number)) {
        emptied = span;
        found.bytes = span->pages * kPageBytes;
      }
    }
    if (emptied != nullptr) {
      add_large(-found.bytes);
      pages_.give_run(emptied);
    }
    return found;
  }
}

}  // namespace janus
