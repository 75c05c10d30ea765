// SPDX-License-Identifier: Apache-2.0
// rt/mem/central_list.h — the free blocks of one size class that are in no worker's cache: whole batches as they came
// back, and spans, with blocks that were never cut or came back one by one. Blocks move in chains, linked through their
// first word. docs/decisions/0326
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

  // Takes up to `wanted` blocks; {nullptr, 0}: the machine has no memory. If `wanted` is the class's batch size and a
  // whole batch is kept, takes that.
  [[nodiscard]] Chain take(PageHeap& pages, unsigned size_class, unsigned wanted) noexcept;
  // Gives back a chain that ends with nullptr. If a link was overwritten after the block was freed, the blocks behind
  // it are lost, which is reported.
  void give(PageHeap& pages, unsigned size_class, Chain chain) noexcept;
  // `count` blocks that were out are lost, and no longer counted as out.
  void forget(unsigned count) noexcept {
    LockGuard guard(lock_);
    count_out(-std::size_t{count});
  }
  // Returns one kept batch to its spans, and empty spans to the page heap. False: none is kept.
  [[nodiscard]] bool give_back_batch(PageHeap& pages, unsigned size_class) noexcept;

  // How many blocks are out: held by callers, or in caches. Lost ones do not count.
  [[nodiscard]] std::size_t blocks_out() const noexcept { return out_.load(std::memory_order_relaxed); }

 private:
  // Blocks found to be lost under the lock; reported once it has been released.
  struct Lost {
    const FreeBlock* written_to;  // the last block whose link was overwritten, or nullptr
    unsigned blocks;              // all such blocks, and those behind them
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
  // The batch that was kept last. Precondition: there is one.
  [[nodiscard]] Chain take_kept(unsigned size_class) noexcept {
    return {batches_[--kept_], span_shape(size_class).batch};
  }
  void give_to_spans(PageHeap& pages, unsigned size_class, Chain chain, Lost& lost) noexcept;
  void link(Span* span) noexcept;
  void unlink(Span* span) noexcept;
  void count_out(std::size_t delta) noexcept {  // under lock_, so no atomic read-modify-write
    out_.store(out_.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }

  RankedLock<LockRank::kCentralList> lock_;
  unsigned kept_ = 0;
  Span* spans_ = nullptr;  // spans with idle blocks; the one that got its first idle block last comes first
  std::atomic<std::size_t> out_{0};
  FreeBlock* batches_[kMaxKept] = {};  // the first kept_ are batches
};

}  // namespace janus
