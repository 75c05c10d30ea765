// SPDX-License-Identifier: Apache-2.0
// rt/mem/central_list.h — the blocks of one size class that no worker's cache holds: whole batches as they came back,
// then the spans they are cut from. Blocks move in chains, linked through their first word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/lock_rank.h"
#include "rt/mem/free_block.h"
#include "rt/mem/page_heap.h"
#include "rt/mem/span.h"

namespace janus {

class alignas(arch::kPrefetchPair) CentralList {
 public:
  struct Chain {
    FreeBlock* head;
    unsigned count;
  };

  // Up to `wanted` blocks; {nullptr, 0} when the machine refuses. A whole batch if wanted == batch and there is one.
  [[nodiscard]] Chain take(PageHeap& pages, unsigned size_class, unsigned wanted) noexcept;
  // A chain that ends with nullptr. Blocks that callers wrote to after freeing them may have bent it: then what cannot
  // be followed is lost, which is reported.
  void give(PageHeap& pages, unsigned size_class, Chain chain) noexcept;
  // So many blocks that were out are lost: nobody holds them, and nobody ever will.
  void forget(unsigned count) noexcept {
    LockGuard guard(lock_);
    count_out(-std::size_t{count});
  }
  // Kept batches go back to their spans, empty spans to the page heap.
  void trim(PageHeap& pages, unsigned size_class) noexcept;

  // Of the span of `size_class` that begins at that page, from block `next` on: up to `most` blocks that are meant
  // become the runtime's, and stand in `out`. How many; `next` is where to go on, or the number of blocks when this was
  // all. A span that has gone, or another one, has none.
  [[nodiscard]] unsigned take_over(HeapChunk* chunk, unsigned first_page, unsigned size_class,
                                   const TagFilter& is_meant, unsigned& next, void** out, unsigned most) noexcept;

  // Blocks out: held by callers, or in caches. What is lost is not.
  [[nodiscard]] std::size_t blocks_out() const noexcept { return out_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kKeptBatches = 4;

  // Found under the lock, told when it is no longer held.
  struct Lost {
    const FreeBlock* written_to;  // the last such block, or nullptr
    unsigned blocks;              // that one, and those behind it
    void add(const FreeBlock* block, unsigned count) noexcept {
      written_to = block;
      blocks += count;
    }
    void report() const noexcept {
      if (written_to != nullptr) report_written_after_free(written_to, blocks);
    }
  };

  [[nodiscard]] Span* span_with_idle(PageHeap& pages, unsigned size_class, Lost& lost) noexcept;
  static void take_from(Span* span, const SpanShape& shape, Chain& chain, unsigned wanted, Lost& lost) noexcept;
  [[nodiscard]] static FreeBlock* reuse_block(Span* span, const SpanShape& shape, Lost& lost) noexcept;
  void give_to_spans(PageHeap& pages, unsigned size_class, Chain chain, Lost& lost) noexcept;
  void link(Span* span) noexcept;
  void unlink(Span* span) noexcept;
  void count_out(std::size_t delta) noexcept {  // under lock_, so no atomic read-modify-write
    out_.store(out_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }

  RankedLock<LockRank::kCentralList> lock_;
  unsigned kept_ = 0;
  FreeBlock* batches_[kKeptBatches] = {};
  Span* spans_ = nullptr;  // those with idle blocks, the one last touched first
  std::atomic<std::size_t> out_{0};
};

}  // namespace janus
