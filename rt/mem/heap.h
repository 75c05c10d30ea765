// SPDX-License-Identifier: Apache-2.0
// rt/mem/heap.h — the runtime's allocator. Small blocks (to 32 KiB) come from per-worker caches without an atomic
// read-modify-write or a lock; large ones are runs of pages, huge ones (beyond 1 MiB) mappings. Any worker may free any
// block: it goes into that worker's own cache, and surplus moves on in whole batches under a lock.
//
// Every block carries a tag, the account that it was charged to, and whether the runtime itself holds it. What is
// charged is what size_of() says, and plan_for() says it before the allocation. The heap itself knows no accounts.
//
// INVARIANT one-free-wins: a block leaves its holder by one compare-exchange of its tag, from what it was to kFreeTag,
// so that of any number who free it at once one succeeds; the others change nothing and are told. Not of a block that
// has become another's meanwhile: an address alone does not tell whose it is. tests/mem/misuse_test.cpp
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <arch/cpu.h>
#include "rt/base/lock_rank.h"
#include "rt/base/watched.h"
#include "rt/mem/cache_list.h"
#include "rt/mem/central_list.h"
#include "rt/mem/huge_table.h"
#include "rt/mem/misuse.h"
#include "rt/mem/page_heap.h"
#include "rt/mem/size_class.h"

namespace janus {

class Heap;

// One worker's free blocks. Owner only; zeroes are a valid empty cache. It belongs to one heap, from the first use to
// Heap::flush(). A full list moves aside as the spare, so that no list is ever walked.
class alignas(arch::kCacheLine) HeapCache {
 private:
  friend class Heap;
  friend class CacheList<Heap, HeapCache>;
  struct List {
    FreeBlock* hot;                     // last in, first out
    FreeBlock* spare;                   // nullptr, or one whole batch
    std::atomic<std::uint32_t> count;   // in `hot`; others read it for the statistics
    std::atomic<std::uint32_t> spares;  // in `spare`
  };
  List lists_[kSizeClasses];
  CacheList<Heap, HeapCache>::Link link_;
};

class Heap {
 public:
  // Whether blocks are made of pages that the heap has from the machine; else they are the C library's.
  static constexpr bool kHasPages = !kTasksAreWatched;

  [[nodiscard]] bool init() noexcept;
  // Blocks may lie so that little of their pages is in use. Those of all together are no more than this; but for blocks
  // that are mappings of their own.
  void limit_pages(std::uint64_t bytes) noexcept { pages_.limit(bytes); }
  void destroy() noexcept;  // everything is unmapped, caches need not have been flushed

  // The largest block that is no mapping of its own.
  static constexpr std::size_t kMaxLarge = std::size_t{kMaxRunPages} * kPageBytes;

  // What a request becomes.
  enum class Kind : std::uint8_t { kNone, kSmall, kLarge, kHuge };
  struct BarePlan {
    Kind kind;
    unsigned size_class;
    std::size_t bytes;  // what size_of() will say of such a block; 0: no such block is possible
  };
  // And how much of it is the caller's, for the heap of a build whose tasks are watched (arch/hosted/heap.cpp). Where
  // nobody watches, whoever has a block may use all of it.
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

  // A block of at least `bytes` (0 counts as 1) aligned to `align` (a power of two; at least 16 in any case), or
  // nullptr when the machine refuses. `cache`: the calling worker's, or nullptr in a foreign thread, which takes a
  // lock. `tag` is below kRuntimeTag, or has that bit set: then the runtime holds it, and only free_own() frees it. The
  // contents are undefined. `plan` is of the same `align`.
  [[nodiscard]] void* allocate(HeapCache* cache, Plan plan, std::size_t align, std::uint32_t tag) noexcept;
  [[nodiscard]] void* allocate(HeapCache* cache, std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept {
    Plan plan = plan_for(bytes, align);
    note_asked(plan, bytes);
    return allocate(cache, plan, align, tag);
  }

  // What was charged for a block, and to whom; or that it is none of the caller's.
  struct Found {
    std::size_t bytes;
    std::uint32_t tag;
    Misuse misuse;  // not kNone: nothing has changed, and the tag is kFreeTag
  };
  // A user's block, or nullptr, which is {0, kFreeTag, kNone}.
  Found free(HeapCache* cache, void* block) noexcept;
  // One that the runtime holds; its tag comes without the bit. Ends the process where it is none.
  Found free_own(HeapCache* cache, void* block) noexcept;
  // From here on the runtime holds the user's block, contents and all, so that nobody else can free it.
  [[nodiscard]] Found take_over(void* block) noexcept;

  // Where a walk over all blocks stands; as made: at the beginning.
  struct Walk {
    std::size_t chunk = 0;
    unsigned page = 0;
    unsigned block = 0;
    bool is_over = false;
  };
  // The next part of a walk, of kWalkPages pages at most: up to `most` blocks of users that are meant are taken over,
  // and stand in `out`. How many. What is allocated during the walk may be missed. Any thread.
  static constexpr unsigned kWalkPages = 64;
  [[nodiscard]] unsigned take_over_next(Walk& walk, const TagFilter& is_meant, void** out, unsigned most) noexcept;

  // What free() would say now, with size and tag of whatever is held, by a user or not. Any thread.
  [[nodiscard]] Found look_at(const void* block) noexcept;
  // Whether it can be no mapping of its own.
  [[nodiscard]] bool is_in_chunks(const void* block) const noexcept { return !kHasPages || pages_.owns(block); }
  // How much of a block that is held may be read: `bytes`, all that was charged, where the heap has pages.
  [[nodiscard]] std::size_t readable(const void* block, std::size_t bytes) noexcept {
    if constexpr (kHasPages) return bytes;
    return asked_for(block);
  }
  // Usable bytes; 0: not a held block of this heap.
  [[nodiscard]] std::size_t size_of(const void* block) noexcept { return look_at(block).bytes; }
  // The tag that the block was allocated with; ~0: not a held block of this heap.
  [[nodiscard]] std::uint32_t tag_of(const void* block) noexcept { return look_at(block).tag; }
  // Makes the block serve `bytes` where it stands. size_of() may change: growing, to plan_for(bytes, 16).bytes;
  // shrinking, to no less than that. False: it cannot, or most of it would be wasted; nothing has changed. The holder
  // only.
  [[nodiscard]] bool resize_in_place(void* block, std::size_t bytes) noexcept;
  [[nodiscard]] static std::size_t charge_for(std::size_t bytes, std::size_t align) noexcept {
    return plan_for(bytes, align).bytes;
  }

  // The cache's owner ends: everything it holds goes back. The cache is as new afterwards.
  void flush(HeapCache& cache) noexcept;
  // Gives back to the machine what lies in the shared lists. Any thread, any time.
  void trim() noexcept;

  // Held by callers, as charged. Exact while no one allocates, else near.
  [[nodiscard]] std::size_t bytes_in_use() noexcept;
  [[nodiscard]] std::size_t bytes_mapped() noexcept;  // address space, touched or not
  [[nodiscard]] std::size_t mappings() noexcept;
  [[nodiscard]] std::size_t idle_bytes() noexcept { return pages_.idle_dirty_bytes(); }  // the page heap's reserve

 private:
  [[nodiscard]] std::size_t asked_for(const void* block) noexcept;  // arch/hosted/heap.cpp
  [[nodiscard]] static Plan plan_unusual(std::size_t bytes, std::size_t align) noexcept;

  // noinline: what is rare must not cost the fast paths registers.
  [[nodiscard, gnu::noinline]] void* allocate_slow(HeapCache* cache, Plan plan, std::size_t align,
                                                   std::uint32_t tag) noexcept;
  [[nodiscard, gnu::noinline]] void* take_small(HeapCache* cache, unsigned size_class, std::uint32_t tag) noexcept;
  [[nodiscard]] void* take_foreign(unsigned size_class, std::uint32_t tag) noexcept;
  [[nodiscard]] bool refill(HeapCache& cache, unsigned size_class) noexcept;
  [[nodiscard]] void* pop(HeapCache::List& list, unsigned size_class, std::uint32_t tag) noexcept;
  void give_up(HeapCache::List& list, unsigned size_class) noexcept;
  [[nodiscard]] void* take_large(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept;

  [[nodiscard]] static Found claim(void* block, BlockRef& ref, Holder holder, std::uint32_t added) noexcept;
  [[nodiscard, gnu::noinline]] Found free_from(Holder holder, HeapCache* cache, void* block) noexcept;
  [[nodiscard, gnu::noinline]] Found free_unusual(void* block, Holder holder) noexcept;
  [[nodiscard, gnu::noinline]] Found free_large(void* block, Found found) noexcept;
  [[nodiscard]] Found push(HeapCache& cache, void* block, const BlockRef& ref, Found found) noexcept;
  [[nodiscard, gnu::noinline]] Found set_aside(HeapCache::List& list, unsigned size_class, FreeBlock* one_more,
                                               Found found) noexcept;
  [[nodiscard]] unsigned take_over_at(Walk& walk, HeapChunk* chunk, const TagFilter& is_meant, void** out,
                                      unsigned most) noexcept;
  [[nodiscard]] bool resize_large(Span* span, std::size_t bytes) noexcept;
  void add_large(std::size_t delta) noexcept;

  void link(HeapCache& cache) noexcept;
  void unlink(HeapCache& cache) noexcept;

  PageHeap pages_;
  HugeTable huge_;
  std::atomic<std::size_t> large_bytes_{0};
  RankedLock<LockRank::kCaches> caches_lock_;
  CacheList<Heap, HeapCache> caches_;
  CentralList central_[kSizeClasses];
};

}  // namespace janus
