// SPDX-License-Identifier: Apache-2.0
// rt/mem/central_list.h — the blocks of one size class that no worker's cache holds: whole batches as they came back,
// then the spans they are cut from. Blocks move in chains, linked through their first word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/spinlock.h"
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
  // be followed is lost, and heap_misuse() hears of it.
  void give(PageHeap& pages, unsigned size_class, Chain chain) noexcept;
  // Kept batches go back to their spans, empty spans to the page heap.
  void trim(PageHeap& pages, unsigned size_class) noexcept;

  // Blocks out: held by callers, or in caches.
  [[nodiscard]] std::size_t blocks_out() const noexcept { return out_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kKeptBatches = 4;

  [[nodiscard]] Span* span_with_idle(PageHeap& pages, unsigned size_class) noexcept;
  void take_from(Span* span, const SpanShape& shape, Chain& chain, unsigned wanted) noexcept;
  [[nodiscard]] FreeBlock* give_to_spans(PageHeap& pages, unsigned size_class, FreeBlock* head) noexcept;
  void link(Span* span) noexcept;
  void unlink(Span* span) noexcept;
  void count_out(std::size_t delta) noexcept {  // under lock_, so no atomic read-modify-write
    out_.store(out_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }

  SpinLock lock_;
  unsigned kept_ = 0;
  FreeBlock* batches_[kKeptBatches] = {};
  Span* spans_ = nullptr;  // those with idle blocks, the one last touched first
  std::atomic<std::size_t> out_{0};
};

}  // namespace janus
