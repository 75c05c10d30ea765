// SPDX-License-Identifier: Apache-2.0
// rt/mem/cage_heap.cpp — see cage_heap.h. Linked into programs that may open a nursery with JANUS_NURSERY_RECLAIM
// (rt/optional.h). docs/decisions/0353
#include "rt/mem/cage_heap.h"

#include <arch/cpu.h>
#include "rt/budget/accounts.h"
#include "rt/mem/free_block.h"
#include "rt/mem/heap.h"
#include "rt/mem/misuse.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr unsigned longest_span() noexcept {
  unsigned pages = 0;
  for (unsigned c = 0; c < kSizeClasses; c++) pages = cage_shape(c).pages > pages ? cage_shape(c).pages : pages;
  return pages;
}
static_assert(longest_span() <= 13);

// The tags of a span's blocks; a large block has one.
Tag* tags_of(Span* span, const CageShape& shape) noexcept {
  if (shape.bytes < kTagsApartFrom) return reinterpret_cast<Tag*>(start_of(span) + shape.blocks * shape.bytes);
  return &chunk_of(span)->tags[first_page(span) * kTagsPerPage];
}

constexpr unsigned kClassBits = 0xff;  // of Span::size_class
CageShape shape_of(const Span* span) noexcept {
  const unsigned size_class = span->size_class & kClassBits;
  if (size_class < kSizeClasses) return cage_shape(size_class);
  return {static_cast<unsigned>(span->pages * kPageBytes), 1, span->pages};
}

std::uint64_t tag_index_of(const Span* span, const Tag& tag) noexcept {
  return static_cast<std::uint64_t>(&tag - reinterpret_cast<const Tag*>(chunk_of(span)));
}

// Every page of a span has an entry, but of a large block only the first one.
void set_entries(Span* span, unsigned pages, PageEntry entry) noexcept {
  HeapChunk* const chunk = chunk_of(span);
  const unsigned first = first_page(span);
  for (unsigned page = first; page < first + pages; page++)
    chunk->entries[page].store(entry, std::memory_order_release);  // after the owner; pairs with claim_in_cage()
}
void clear_entries(Span* span) noexcept {
  set_entries(span, (span->size_class & kClassBits) < kSizeClasses ? span->pages : 1, PageEntry());
}
std::atomic<std::uint32_t>& owner_of(Span* span) noexcept {
  return chunk_of(span)->owners[first_page(span)];
}

}  // namespace

// --- Lists -----------------------------------------------------------------------------------------------------------

void CageHeap::link(Span* span) noexcept {
  Span*& first = list_of(span);
  if (first == nullptr) {
    span->next = span->previous = first = span;
    return;
  }
  span->next = first;
  span->previous = first->previous;
  first->previous->next = span;
  first->previous = span;
  if (span->idle != 0) first = span;  // otherwise it is the last one
}

void CageHeap::unlink(Span* span) noexcept {
  Span*& first = list_of(span);
  if (first == span) first = span->next != span ? span->next : nullptr;
  span->next->previous = span->previous;
  span->previous->next = span->next;
}

// --- Taking ----------------------------------------------------------------------------------------------------------

namespace {

// Whether the address that a free list has led to is that of a free block, which nobody has written to.
bool is_sound(Span* span, const CageShape& shape, const void* block) noexcept {
  const std::uintptr_t offset = address_of(block) - address_of(start_of(span));
  if (offset >= std::size_t{shape.blocks} * shape.bytes || offset % shape.bytes != 0) return false;
  const Tag& tag = tags_of(span, shape)[offset / shape.bytes];
  return static_cast<const FreeBlock*>(block)->tag_index() == tag_index_of(span, tag) &&
         tag.load(std::memory_order_relaxed) == kFreeTag;
}

}  // namespace

// nullptr: all blocks of the free list were lost, since a link was overwritten. Precondition: the span has idle blocks.
void* CageHeap::take_from(Span* span, const CageShape& shape, const void*& written_to, unsigned& lost) noexcept {
  std::byte* block;
  if (FreeBlock* const free = span->free_list) {
    block = reinterpret_cast<std::byte*>(free);
    if (!is_sound(span, shape, free)) {
      const unsigned never_cut = shape.blocks - span->cut;
      written_to = free;
      lost = span->idle - never_cut;
      span->free_list = nullptr;
      span->idle = static_cast<std::uint16_t>(never_cut);
      return nullptr;
    }
    if (!is_still_filled(free, shape.bytes)) written_to = free;
    span->free_list = free->next();
  } else {
    block = start_of(span) + std::size_t{span->cut++} * shape.bytes;
  }
  span->idle--;
  const auto number = static_cast<std::size_t>(block - start_of(span)) / shape.bytes;
  tags_of(span, shape)[number].store(0, std::memory_order_relaxed);
  return block;
}

void* CageHeap::take(unsigned size_class) noexcept {
  const CageShape shape = cage_shape(size_class);
  for (;;) {
    const void* written_to = nullptr;
    unsigned lost = 0;
    void* block = nullptr;
    {
      LockGuard guard(lock_);
      Span*& first = lists_[size_class];
      if (first == nullptr || first->idle == 0) return nullptr;
      block = take_from(first, shape, written_to, lost);
      if (first->idle == 0) first = first->next;  // idle-spans-first: it is the last one now
    }
    if (written_to != nullptr) [[unlikely]]
      report_written_after_free(written_to, lost);
    if (block != nullptr) return block;
  }
}

void* CageHeap::take_of_new(Span* span, unsigned size_class) noexcept {
  const CageShape shape = cage_shape(size_class);
  span->size_class = static_cast<std::uint16_t>(size_class);
  span->idle = static_cast<std::uint16_t>(shape.blocks);
  span->cut = 0;
  span->free_list = nullptr;
  Tag* const tags = tags_of(span, shape);
  for (unsigned n = 0; n < shape.blocks; n++) tags[n].store(kFreeTag, std::memory_order_relaxed);
  const void* written_to = nullptr;
  unsigned lost = 0;
  void* const block = take_from(span, shape, written_to, lost);
  LockGuard guard(lock_);
  set_entries(span, span->pages, PageEntry(first_page(span), kCageKind));
  link(span);
  return block;
}

void* CageHeap::take_large(Span* span) noexcept {
  span->size_class = kLargeList;
  span->idle = 0;
  span->cut = 1;
  span->free_list = nullptr;
  tags_of(span, shape_of(span))[0].store(0, std::memory_order_relaxed);
  LockGuard guard(lock_);
  set_entries(span, 1, PageEntry(first_page(span), kCageKind));
  link(span);
  return start_of(span);
}

// --- The end of a cage -----------------------------------------------------------------------------------------------

namespace {

bool has_held_by_runtime(Span* span) noexcept {
  const Tag* const tags = tags_of(span, shape_of(span));
  for (unsigned n = 0; n < span->cut; n++)
    if (holder_of(tags[n].load(std::memory_order_relaxed)) == Holder::kRuntime) return true;
  return false;
}

void put_free(Span* span, const CageShape& shape, std::size_t number) noexcept {
  Tag& tag = tags_of(span, shape)[number];
  tag.store(kFreeTag, std::memory_order_relaxed);
  auto* const block = reinterpret_cast<FreeBlock*>(start_of(span) + number * shape.bytes);
  fill_free(block, shape.bytes);
  block->set(span->free_list, tag_index_of(span, tag));
  span->free_list = block;
  span->idle++;
}

void free_users_blocks(Span* span) noexcept {
  const CageShape shape = shape_of(span);
  const Tag* const tags = tags_of(span, shape);
  for (unsigned n = 0; n < span->cut; n++)
    if (holder_of(tags[n].load(std::memory_order_relaxed)) == Holder::kUser) put_free(span, shape, n);
}

}  // namespace

bool CageHeap::reclaim(Runs& out) noexcept {
  LockGuard guard(lock_);
  for (unsigned list = 0; list < kHeldList; list++) {
    while (Span* const span = lists_[list]) {
      if (out.is_full()) return true;
      unlink(span);
      if (has_held_by_runtime(span)) {
        free_users_blocks(span);
        span->size_class |= kHeldBit;
        link(span);
      } else {
        clear_entries(span);
        out.add(span);
      }
    }
  }
  return false;
}

void CageHeap::begin_move(Runs& out) noexcept {
  LockGuard guard(lock_);
  for (Span*& first : lists_) {
    while (Span* const span = first) {
      if (out.is_full()) return;
      unlink(span);
      owner_of(span).store(kMoving, std::memory_order_relaxed);
      out.add(span);
    }
  }
}

void CageHeap::end_move(const Runs& spans, std::uint32_t account) noexcept {
  LockGuard guard(lock_);
  for (Span *span = spans.first, *next = nullptr; span != nullptr; span = next) {
    next = span->next;
    span->size_class &= kClassBits;
    link(span);
    owner_of(span).store(account, std::memory_order_relaxed);
  }
}

// --- Freeing ---------------------------------------------------------------------------------------------------------

bool CageHeap::free(Span* span, const CageShape& shape, std::size_t number) noexcept {
  if (span->idle + 1u == shape.blocks) {
    unlink(span);
    clear_entries(span);
    return true;
  }
  const bool was_full = span->idle == 0;
  if (was_full) unlink(span);
  put_free(span, shape, number);
  if (was_full) link(span);  // idle-spans-first
  return false;
}

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
      const CageShape shape = shape_of(span);
      const std::uintptr_t offset = address_of(block) - address_of(start_of(span)), number = offset / shape.bytes;
      if (offset % shape.bytes != 0 || number >= shape.blocks) return {0, kFreeTag, Misuse::kNoBlock};
      Tag& tag = tags_of(span, shape)[number];
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

// --- The heap's part -------------------------------------------------------------------------------------------------

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

// --- The heaps of all accounts ---------------------------------------------------------------------------------------

CageHeap* CageHeaps::at(std::uint32_t account) noexcept {
  if (CageHeap* const heap = find(account)) return heap;
  const Place place = place_of(account);
  std::byte* const zeroes = platform::map(segment_bytes(place.segment));
  if (zeroes == nullptr) return nullptr;
  CageHeap* expected = nullptr;
  if (!segments_[place.segment].compare_exchange_strong(expected, reinterpret_cast<CageHeap*>(zeroes),
                                                        std::memory_order_acq_rel, std::memory_order_acquire))
    platform::unmap(zeroes, segment_bytes(place.segment));
  return find(account);
}

}  // namespace janus
