// SPDX-License-Identifier: Apache-2.0
// rt/budget/memory_cache.h — a worker's chunk of the root account's memory: drawn ahead, so that charging a block takes
// no locked instruction and touches no line that others write. A thread that finds too little in the root recalls all
// chunks before it gives up. docs/decisions/0061
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/budget/account.h"

namespace janus {

// All-zero bytes are a valid cache. One worker draws and credits through it.
//
// INVARIANT chunk-has-one-writer: the owner writes its chunk between enter() and leave(), or under RootMemory::moves_;
// all other threads write it under that lock, after they have recalled it.
//   owner:  1 busy = true       2 light fence   3 recalled? then leave       4 use the chunk       5 busy = false
//   others: 1 recalled = true   2 heavy fence   3 wait until not busy        4 use the chunk       5 recalled = false
// The heavy fence makes the owner's light one a full one at that moment: at least one side sees the other's step 1.
// Where the machine has no heavy fence, the owner executes a full one. tests/models/memory_cache_model_test.cpp
class alignas(kAccountLine) MemoryCache {
 public:
  // Owner only. Unless it is registered, a cache holds nothing, and every amount is drawn from the root itself.
  [[nodiscard]] bool is_registered() const noexcept { return is_registered_; }

 private:
  friend class RootMemory;

  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;

  Atomic<std::uint64_t> chunk_;  // drawn from the root account, not yet charged to any block
  Atomic<std::uint64_t> most_;   // a chunk that has grown larger is cut; 0: no chunk is kept, because memory is scarce
  Atomic<std::uint32_t> busy_;
  Atomic<std::uint32_t> recalled_;
  MemoryCache* next_;  // set once, by the first register_cache()
  bool is_listed_;
  bool is_registered_;
  bool is_fenced_by_others_;  // the machine has a heavy fence
};

}  // namespace janus
