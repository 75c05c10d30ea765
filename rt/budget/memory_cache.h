// SPDX-License-Identifier: Apache-2.0
// rt/budget/memory_cache.h — a worker's chunk of the root account's memory: drawn ahead, so that charging a block takes
// no locked instruction and touches no line that others write. A thread that finds too little in the root recalls all
// chunks before it gives up. docs/decisions/0061
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/budget/account.h"

namespace janus {

// One worker, the owner, draws and credits through it. All-zero bytes are a valid cache. The chunk is limit_ - used_.
// Only the owner changes used_. limit_ and most_ change only under RootMemory::moves_, and no other thread leaves them
// higher than it found them.
//
// INVARIANT chunk-within-bounds: a draw or credit is complete once the owner, after its write, has seen the chunk
// within its bounds: 0 for a draw, 0 and most_ for a credit.
//   owner:  1 write used_         2 light fence   3 is the chunk within bounds?
//   others: 1 limit_ = kRecalled  2 heavy fence   3 read used_   4 most_ = 0, limit_ = min(used_, old limit_)
// The heavy fence acts as a full fence in the owner's thread, too: at least one side sees the other's write. If the
// chunk is out of bounds, the owner takes a draw back and makes it again under moves_; a credit stands, since others
// may have taken it, and the owner cuts the chunk under moves_. Except for that lock, neither side waits for the other.
// Where the machine has no heavy fence, no cache is registered. tests/models/memory_cache_model_test.cpp
class alignas(kAccountLine) MemoryCache {
 public:
  // Owner only. Unless it is registered, a cache holds nothing, and every amount is drawn from the root itself.
  [[nodiscard]] bool is_registered() const noexcept { return is_registered_; }

  // Owner only. Draws from the chunk. False: it is too small, and nothing has changed.
  [[nodiscard, gnu::always_inline]] bool draw_at_hand(std::uint64_t bytes) noexcept {
    const std::int64_t more = used_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    // First: a recall takes an excess over the limit for a chunk that is used up.
    if (is_less_relaxed(limit_, more)) [[unlikely]]
      return false;
    used_.store(more, std::memory_order_relaxed);
    compiler_barrier();  // partner: platform::heavy_fence() in RootMemory::recall_chunks()
    if (!is_less_relaxed(limit_, more)) [[likely]]
      return true;
    subtract_as_owner(used_, static_cast<std::int64_t>(bytes));
    return false;
  }

  // Owner only. Credits the chunk. False: the chunk must be cut (RootMemory::cut()).
  [[nodiscard, gnu::always_inline]] bool credit_at_hand(std::uint64_t bytes) noexcept {
    subtract_as_owner(used_, static_cast<std::int64_t>(bytes));
    compiler_barrier();  // partner: as in draw_at_hand()
    // Acquire: pairs with the release in RootMemory::recall_chunks(), so that most_ is at least as new as limit_.
    // During a recall the difference is negative; as an unsigned number it is larger than any most_.
    const std::int64_t chunk = difference_relaxed(limit_.load(std::memory_order_acquire), used_);
    return !is_less_relaxed(most_, static_cast<std::uint64_t>(chunk));
  }

 private:
  friend class RootMemory;

  static constexpr std::int64_t kRecalled = -(std::int64_t{1} << 62);  // less than any used_

  // Drawn from the root account, not yet charged to any block. Exact for the owner under moves_; for others it may be
  // negative while the owner draws.
  [[nodiscard]] std::int64_t chunk() const noexcept {
    return limit_.load(std::memory_order_relaxed) - used_.load(std::memory_order_relaxed);
  }

  Atomic<std::int64_t> used_;   // drawn less credited; negative where the owner frees what others have allocated
  Atomic<std::int64_t> limit_;  // how large used_ may become
  Atomic<std::uint64_t> most_;  // a chunk that has grown larger is cut; 0: no chunk is kept until fill() allows one
  std::int64_t recalled_;       // limit_ before the recall that is going on; under moves_
  MemoryCache* next_;           // set once, by the first register_cache()
  bool is_listed_;
  bool is_registered_;
};

}  // namespace janus
