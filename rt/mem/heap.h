// SPDX-License-Identifier: Apache-2.0
// rt/mem/heap.h — the runtime's allocator. Small blocks (to 32 KiB) come from per-worker caches without an atomic
// read-modify-write or a lock; large ones are runs of pages, huge ones (beyond 1 MiB) mappings. Any worker may free any
// block: it goes into that worker's own cache, and surplus moves on in whole batches under a lock. Some of these are
// kept whole, until pages run out. docs/decisions/0130, 0324, 0326
//
// Every block has a tag: the account that it is charged to, and whether the runtime itself holds it. The amount charged
// is what size_of() returns, and plan_for() before the allocation. The heap itself knows no accounts.
//
// INVARIANT one-free-wins: a block leaves its holder by one compare-exchange of its tag to kFreeTag, so of any number
// of concurrent frees of one block exactly one succeeds; the others change nothing and return an error. This does not
// hold once the block has been allocated again: an address alone does not say which task holds it.
// tests/mem/misuse_test.cpp
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <arch/cpu.h>
#include <arch/opaque.h>
#include "rt/base/lock_rank.h"
#include "rt/base/watched.h"
#include "rt/mem/cache_list.h"
#include "rt/mem/cage_heap.h"
#include "rt/mem/central_list.h"
#include "rt/mem/free_block.h"
#include "rt/mem/huge_table.h"
#include "rt/mem/misuse.h"
#include "rt/mem/page_heap.h"
#include "rt/mem/size_class.h"
#include "rt/optional.h"

namespace janus {

class Account;
class Heap;

// One worker's free blocks. Owner only. All-zero bytes are a valid empty cache, whose lists have no room. The cache
// belongs to one heap from its first use to Heap::flush(). A full list becomes the spare as a whole, so that no list is
// ever walked.
class alignas(arch::kCacheLine) HeapCache {
 private:
  friend class Heap;
  friend class CacheList<Heap, HeapCache>;
  struct alignas(arch::kCacheLine) List {
    FreeBlock* hot;                     // last in, first out
    FreeBlock* spare;                   // nullptr, or one whole batch
    std::atomic<std::uint32_t> room;    // how many blocks `hot` lacks of a batch; statistics read it, too
    std::atomic<std::uint32_t> spares;  // blocks in `spare`
    // Of span_shape(), so that the usual case needs no other line; zeroes until the cache is first used.
    std::uint64_t reciprocal;
    std::uint64_t end;  // `blocks`, times 2^32
    std::uint32_t tag_offset;
    std::uint32_t block_bytes;
    std::uint8_t tag_shift;
  };
  static constexpr unsigned kKnownChunks = 32;

  [[nodiscard]] List& list_of(unsigned size_class) noexcept { return lists_[kind_of_class(size_class)]; }
  // `scaled_kind`: times kClassScale. Compilers would divide and multiply.
  [[nodiscard]] List& list_at(std::size_t scaled_kind) noexcept {
    static_assert(sizeof(List) % kClassScale == 0);
    std::byte* const lists = reinterpret_cast<std::byte*>(lists_);
    return *reinterpret_cast<List*>(lists + scaled_kind * (sizeof(List) / kClassScale));
  }
  List lists_[kKinds] = {};  // by kind; those of kNoKind, kLargeKind and kCageKind stay zeroes
  CacheList<Heap, HeapCache>::Link link_;
  // Chunks of the heap that this cache has met in a free, at index (address / kChunkBytes) % kKnownChunks: the address
  // of the chunk's last byte, or 0. A heap keeps its chunks until destroy(), so an entry replaces PageHeap::owns().
  std::uintptr_t known_chunks_[kKnownChunks] = {};
};

class Heap {
 public:
  // Whether blocks are cut from pages that the heap maps; otherwise they are allocated by the C library.
  static constexpr bool kHasPages = !kTasksAreWatched;

  [[nodiscard]] bool init() noexcept;
  // Limits the bytes of pages in use at once, not counting blocks that are mappings of their own. Needed because blocks
  // may be spread so that only little of each page is used.
  void limit_pages(std::uint64_t bytes) noexcept { pages_.limit(bytes); }
  void destroy() noexcept;  // unmaps everything; caches need not have been flushed

  // The largest block that is not a mapping of its own.
  static constexpr std::size_t kMaxLarge = std::size_t{kMaxRunPages} * kPageBytes;

  // How a request is served.
  enum class Kind : std::uint8_t { kNone, kSmall, kLarge, kHuge };
  struct BarePlan {
    Kind kind;
    unsigned size_class;
    std::size_t bytes;  // what size_of() will return for such a block; 0: no such block is possible
  };
  // Adds the requested size, in a build whose tasks are watched by a sanitizer (arch/hosted/heap.cpp). In all others
  // the holder of a block may use all of it.
  struct WatchedPlan : BarePlan {
    constexpr WatchedPlan(Kind k, unsigned c, std::size_t b) noexcept : BarePlan{k, c, b} {}
    std::size_t asked = 0;
  };
  using Plan = std::conditional_t<kTasksAreWatched, WatchedPlan, BarePlan>;
  template <class AnyPlan>
  static void note_asked([[maybe_unused]] AnyPlan& plan, [[maybe_unused]] std::size_t bytes) noexcept {
    if constexpr (kTasksAreWatched) plan.asked = bytes;
  }
  [[nodiscard]] static Plan plan_for(std::size_t bytes, std::size_t align) noexcept {
    if (bytes > kMaxTabled || align > kMinBlock) [[unlikely]]
      return plan_unusual(bytes, align);
    const unsigned size_class = size_class_of(bytes);
    return {Kind::kSmall, size_class, span_shape(size_class).block_bytes};
  }

  // Allocates a block of at least `bytes` (0 counts as 1), aligned to `align` (a power of two) and at least to 16;
  // nullptr: the machine has no memory. `cache`: the calling worker's, or nullptr in a foreign thread, which takes a
  // lock. `tag` is below kRuntimeTag for a user's block; with that bit the runtime holds it, and only free_own() frees
  // it. The contents are undefined. `plan` is what plan_for() returned for the same `align`.
  [[nodiscard]] void* allocate(HeapCache* cache, Plan plan, std::size_t align, std::uint32_t tag) noexcept;
  [[nodiscard]] void* allocate(HeapCache* cache, std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
    Plan plan = plan_for(bytes, align);
    note_asked(plan, bytes);
    return allocate(cache, plan, align, tag);
  }

  // The usual case of allocate(), inlined and in two steps: look_at_hand() finds the list for `bytes`, at most
  // kMaxTabled, the first block of it and that block's tag, and changes nothing (nullptr: use allocate()); take_at_hand()
  // takes that block.
  using List = HeapCache::List;
  [[nodiscard]] static FreeBlock* look_at_hand(HeapCache& cache, std::size_t bytes, List*& list,
                                               Tag*& its_tag) noexcept;
  [[nodiscard]] static std::size_t bytes_of(const List& list) noexcept { return list.block_bytes; }
  static void* take_at_hand(List& list, FreeBlock* block, Tag* its_tag, std::uint32_t tag) noexcept {
    return take_first(list, block, its_tag, tag);
  }
  // The usual case of free(), inlined and in two steps, between which the caller looks at the tag: find_at_hand() finds a
  // small block and a list with room, and changes nothing; free_found() frees the block if its tag is `tag`, a user's.
  // False: use free(); nothing has changed. They call nothing, so that the caller need not save registers.
  struct AtHand {
    List* list;
    Tag* its_tag;
    const std::atomic<PageEntry>* its_entry;
    PageEntry entry;  // its_entry's value when the block was found
    std::uint64_t tag_index;
  };
  [[nodiscard]] static bool find_at_hand(HeapCache& cache, void* block, AtHand& found) noexcept;
  [[nodiscard]] static bool free_found(const AtHand& found, void* block, std::uint32_t tag) noexcept;

  // The size and tag (account) of a block, or why it was refused. After the free of a block in a cage's span the size is
  // what is to be credited: 0, or if no other block was left in the span, its pages.
  struct Found {
    std::size_t bytes;
    std::uint32_t tag;
    Misuse misuse;  // not kNone: nothing has changed, and the tag is kFreeTag
  };
  // Frees a user's block. For nullptr the result is {0, kFreeTag, kNone}.
  Found free(HeapCache* cache, void* block) noexcept;
  // Frees a block that the runtime holds; the tag is returned without kRuntimeTag. Ends the process if the runtime does
  // not hold the block.
  Found free_own(HeapCache* cache, void* block) noexcept;
  // Makes a user's block the runtime's, with its contents, so that no task can free it.
  [[nodiscard]] Found take_over(void* block) noexcept;

  // Users' blocks of accounts that pay for pages (cage_heap.h), where kHasPages. What such an account pays for a block, if
  // none is idle in its spans:
  [[nodiscard]] static std::size_t bytes_in_cage(const Plan& plan) noexcept;
  // Takes an idle block, for which nothing is to be paid; nullptr: there is none.
  [[nodiscard]] void* take_idle_in_cage(std::uint32_t account, const Plan& plan) noexcept;
  // Takes a block for which bytes_in_cage() have been paid; nullptr: the machine has no memory.
  [[nodiscard]] void* take_paid_in_cage(std::uint32_t account, const Plan& plan, std::size_t align) noexcept;
  // The end of a cage, in parts. Gives back the next spans of the account with all blocks in them, and adds to `bytes`
  // what is to be credited to it. True: there are more. Then take_over_huge() takes over up to `most` blocks that are
  // mappings of their own, for the caller to free, and returns how many.
  [[nodiscard]] bool reclaim_next(std::uint32_t account, std::size_t& bytes) noexcept;
  [[nodiscard]] unsigned take_over_huge(std::uint32_t account, void** out, unsigned most) noexcept;
  // Called before an account that pays for pages is closed: gives its blocks, with their charge, to the nearest open
  // account above, if that pays for pages, too. So the blocks of closed accounts are found with it.
  [[JANUS_OPTIONAL]] void hand_up(Account* account) noexcept;

  // The position of a walk over all blocks, where not kHasPages. A new one is at the beginning.
  struct Walk {
    std::size_t chunk = 0;
    bool is_over = false;
  };
  // Any thread. Does the next part of a walk, kWalkPages buckets: takes over up to `most` users' blocks that the filter
  // selects, and stores them in `out`. Returns how many. Blocks allocated during the walk may be missed.
  static constexpr unsigned kWalkPages = 64;
  [[nodiscard]] unsigned take_over_next(Walk& walk, const TagFilter& is_meant, void** out, unsigned most) noexcept;

  // Any thread. Returns what free() would return now, but with size and tag of any held block, also of the runtime's.
  [[nodiscard]] Found look_at(const void* block) noexcept;
  // True: the block is not a mapping of its own.
  [[nodiscard]] bool is_in_chunks(const void* block) const noexcept { return !kHasPages || pages_.owns(block); }
  // How much of a held block may be read: `bytes`, all that was charged, or the requested size if a sanitizer watches
  // tasks.
  [[nodiscard]] std::size_t readable(const void* block, std::size_t bytes) noexcept {
    if constexpr (kHasPages) return bytes;
    return asked_for(block);
  }
  // Usable bytes; 0: not a held block of this heap.
  [[nodiscard]] std::size_t size_of(const void* block) noexcept { return look_at(block).bytes; }
  // The tag that the block was allocated with; ~0: not a held block of this heap.
  [[nodiscard]] std::uint32_t tag_of(const void* block) noexcept { return look_at(block).tag; }
  // For the holder only. Makes the block serve `bytes` without moving it. size_of() may change: growing, to
  // plan_for(bytes, 16).bytes; shrinking, to no less than that. False: that is not possible, or most of the block would
  // be wasted; nothing has changed.
  [[nodiscard]] bool resize_in_place(void* block, std::size_t bytes) noexcept;
  [[nodiscard]] static std::size_t charge_for(std::size_t bytes, std::size_t align) noexcept {
    return plan_for(bytes, align).bytes;
  }

  // Owner only. Gives back everything that the cache holds; it is as new afterwards.
  void flush(HeapCache& cache) noexcept;
  // Any thread, any time. Gives the memory of idle blocks in the central lists, and of idle pages, back to the machine.
  void trim() noexcept;

  // Bytes of blocks held by callers, as charged. Exact while no thread allocates or frees, otherwise approximate.
  [[nodiscard]] std::size_t bytes_in_use() noexcept;
  [[nodiscard]] std::size_t bytes_mapped() noexcept;  // address space, touched or not
  [[nodiscard]] std::size_t mappings() noexcept;
  [[nodiscard]] std::size_t idle_bytes() noexcept { return pages_.idle_dirty_bytes(); }  // the page heap's reserve

 private:
  [[nodiscard]] std::size_t asked_for(const void* block) noexcept;  // arch/hosted/heap.cpp
  [[nodiscard]] static Plan plan_unusual(std::size_t bytes, std::size_t align) noexcept;

  [[nodiscard, gnu::noinline]] void* take_small(HeapCache* cache, unsigned size_class, std::uint32_t tag) noexcept;
  [[nodiscard]] void* take_foreign(unsigned size_class, std::uint32_t tag) noexcept;
  [[nodiscard]] bool refill(HeapCache& cache, unsigned size_class) noexcept;
  [[nodiscard]] static FreeBlock* look_at_first(const List& list, Tag*& its_tag) noexcept;
  static void* take_first(List& list, FreeBlock* block, Tag* its_tag, std::uint32_t tag) noexcept;
  void give_up(List& list, unsigned size_class) noexcept;
  [[nodiscard]] void* take_large(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept;

  static bool restore_tag(Tag& its_tag, std::uint32_t from, std::uint32_t to) noexcept;
  [[nodiscard]] static bool exchange_tag(void* block, const BlockRef& ref, std::uint32_t from,
                                         std::uint32_t to) noexcept;
  [[nodiscard]] static Found claim(void* block, BlockRef& ref, Holder holder, std::uint32_t added) noexcept;
  [[nodiscard, gnu::noinline]] Found free_from(Holder holder, HeapCache* cache, void* block) noexcept;
  [[nodiscard, gnu::noinline]] Found free_unusual(void* block, Holder holder) noexcept;
  [[nodiscard, gnu::noinline]] Found free_large(void* block, Found found) noexcept;
  static FreeBlock* make_free(void* block, std::size_t bytes, std::uint64_t tag_index, FreeBlock* next) noexcept;
  static void push(List& list, void* block, std::uint64_t tag_index) noexcept;
  [[nodiscard]] static std::uint32_t hot_blocks(const List& list, unsigned size_class) noexcept {
    return span_shape(size_class).batch - list.room.load(std::memory_order_relaxed);
  }
  [[gnu::noinline]] void set_aside(List& list, unsigned size_class) noexcept;
  // As claim() and free_from(), if the block lies in a cage's span.
  enum class InCage : std::uint8_t { kLook, kTakeOver, kFree };
  [[nodiscard, JANUS_OPTIONAL]] Found claim_in_cage(void* block, Holder holder, InCage what) noexcept;
  [[nodiscard]] static bool is_in_cage(const void* block) noexcept {
    return chunk_of(block)->entries[page_of(block)].load(std::memory_order_relaxed).kind() == kCageKind;
  }
  [[nodiscard]] bool give_back_kept() noexcept;
  [[nodiscard]] bool resize_large(Span* span, std::size_t bytes) noexcept;
  void add_large(std::size_t delta) noexcept;

  static void set_hot(List& list, unsigned size_class, CentralList::Chain chain) noexcept {
    list.hot = chain.head;
    list.room.store(span_shape(size_class).batch - chain.count, std::memory_order_relaxed);
  }
  static void make_list(List& list, unsigned size_class) noexcept;

  void link(HeapCache& cache) noexcept;
  void unlink(HeapCache& cache) noexcept;

  PageHeap pages_;
  HugeTable huge_;
  std::atomic<std::size_t> large_bytes_{0};
  RankedLock<LockRank::kCaches> caches_lock_;
  CacheList<Heap, HeapCache> caches_;
  CentralList central_[kSizeClasses];
  CageHeaps cages_;
};

// --- What is at hand -------------------------------------------------------------------------------------------------

// Looks at the first block of a list that is not empty, for writes to it since it was freed. nullptr: its link was
// overwritten, or somebody holds it.
[[gnu::always_inline]] inline FreeBlock* Heap::look_at_first(const List& list, Tag*& its_tag) noexcept {
  FreeBlock* const block = list.hot;
  if (!block->is_intact()) [[unlikely]]
    return nullptr;
  its_tag = &tag_at(chunk_of(block), block->tag_index());
  return arch::cmp_relaxed(*its_tag, kFreeTag) ? block : nullptr;
}

[[gnu::always_inline]] inline void* Heap::take_first(List& list, FreeBlock* block, Tag* its_tag,
                                                     std::uint32_t tag) noexcept {
  // A write beyond the link does not damage the list, so it is only reported, and the block is used.
  if (kHeapChecks && !is_still_filled(block, list.block_bytes)) report_written_after_free(block, 0);
  list.hot = block->next();
  arch::add_as_owner(list.room, 1u);
  its_tag->store(tag, std::memory_order_release);  // the heap's last access; pairs with take_over_tagged()
  return block;
}

[[gnu::always_inline]] inline FreeBlock* Heap::look_at_hand(HeapCache& cache, std::size_t bytes, List*& list,
                                                            Tag*& its_tag) noexcept {
  list = arch::opaque(&cache.list_at(tabled_class_of(bytes) + kind_of_class(0) * kClassScale));
  return list->hot != nullptr ? look_at_first(*list, its_tag) : nullptr;
}

// Changes the tag of a block that was found by its address. False: somebody else has changed it before.
[[gnu::always_inline]] inline bool Heap::exchange_tag(void* block, const BlockRef& ref, std::uint32_t from,
                                                      std::uint32_t to) noexcept {
  Tag& its_tag = ref.tag();
  std::uint32_t expected = from;
  if (!its_tag.compare_exchange_strong(expected, to, std::memory_order_relaxed)) [[unlikely]]
    return false;
  if (ref.is_current(block)) [[likely]]
    return true;
  return restore_tag(its_tag, from, to);
}

// Writes what a free block holds into a block that nobody holds.
[[gnu::always_inline]] inline FreeBlock* Heap::make_free(void* block, std::size_t bytes, std::uint64_t tag_index,
                                                         FreeBlock* next) noexcept {
  fill_free(block, bytes);
  auto* const free_block = static_cast<FreeBlock*>(block);
  free_block->set(next, tag_index);
  return free_block;
}

// Puts a block that nobody holds into a list that has room.
[[gnu::always_inline]] inline void Heap::push(List& list, void* block, std::uint64_t tag_index) noexcept {
  list.hot = make_free(block, list.block_bytes, tag_index, list.hot);
  arch::add_as_owner(list.room, ~0u);
}

[[gnu::always_inline]] inline bool Heap::find_at_hand(HeapCache& cache, void* block, AtHand& found) noexcept {
  const std::uintptr_t last_byte = address_of(block) | (kChunkBytes - 1);
  if (cache.known_chunks_[last_byte / kChunkBytes % HeapCache::kKnownChunks] != last_byte) [[unlikely]] {
    if (cache.link_.pool == nullptr || !cache.link_.pool->pages_.owns(block)) return false;
    cache.known_chunks_[arch::opaque(last_byte) / kChunkBytes % HeapCache::kKnownChunks] = last_byte;
  }
  // As find_block() does it.
  HeapChunk* const chunk = chunk_before(last_byte);
  const std::atomic<PageEntry>& its_entry = chunk->entries[page_of(block)];
  const PageEntry entry = its_entry.load(std::memory_order_relaxed);
  List& list = *arch::opaque(&cache.list_at(entry.scaled_kind()));
  const std::uint64_t product = offset_in_span(block, entry) * list.reciprocal;
  if (!arch::is_less(static_cast<std::uint32_t>(product), list.reciprocal) || product >= list.end ||
      arch::cmp_relaxed(list.room, 0u)) [[unlikely]]
    return false;
  const std::uint64_t tag_index = (entry.first_byte() >> list.tag_shift) + list.tag_offset + (product >> 32);
  // The chunk's address from the last byte's again takes no instruction.
  found = {&list, &tag_at(chunk_before(arch::opaque(last_byte)), tag_index), &its_entry, entry, tag_index};
  return true;
}

[[gnu::always_inline]] inline bool Heap::free_found(const AtHand& found, void* block, std::uint32_t tag) noexcept {
  std::uint32_t expected = tag;
  if (!found.its_tag->compare_exchange_strong(expected, kFreeTag, std::memory_order_relaxed)) [[unlikely]]
    return false;
  if (!arch::cmp_relaxed(*found.its_entry, found.entry)) [[unlikely]] {  // as restore_tag()
    std::uint32_t free = kFreeTag;
    (void)found.its_tag->compare_exchange_strong(free, tag ^ arch::opaque(0u), std::memory_order_relaxed);
    return false;
  }
  push(*found.list, block, found.tag_index);
  return true;
}

}  // namespace janus
