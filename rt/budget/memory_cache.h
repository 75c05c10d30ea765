// SPDX-License-Identifier: Apache-2.0
// rt/budget/memory_cache.h — a worker's chunk of the root account's memory: drawn ahead, so that charging a block
// touches no line that others write, with no locked instruction. Whoever finds the root dry calls all chunks back
// first.
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"

namespace janus {

inline constexpr unsigned kAccountLine = 64;

// All-zero bytes are a valid cache. One worker draws and credits through it.
//
// INVARIANT chunk-has-one-writer: the owner writes its chunk between enter() and leave(), or under the table's lock;
// all others under that lock, having called the owner off.
//   owner:  1 busy = true       2 light fence   3 called off? then leave     4 use the chunk       5 busy = false
//   others: 1 called_off = true 2 heavy fence   3 wait until not busy        4 use the chunk       5 called_off = false
// The heavy fence makes the owner's light one a full one at that moment: whoever is second sees the other's step 1.
// Where the machine has no heavy fence, the owner pays for a full one. tests/models/memory_cache_model_test.cpp
class alignas(kAccountLine) MemoryCache {
 public:
  // Owner only. Until it is registered a cache holds nothing, and every amount is the root's own.
  [[nodiscard]] bool is_registered() const noexcept { return is_registered_; }

 private:
  friend class Accounts;

  [[nodiscard]] bool enter() noexcept;
  void leave() noexcept;

  Atomic<std::uint64_t> chunk_;  // drawn from the root account, charged to nothing yet
  Atomic<std::uint64_t> most_;   // beyond this the chunk is cut; 0: nothing is kept here, memory is scarce
  Atomic<std::uint32_t> busy_;
  Atomic<std::uint32_t> recalled_;
  MemoryCache* next_;  // set once, by the first register_cache()
  bool is_listed_;
  bool is_registered_;
  bool is_fenced_by_others_;  // the machine has a heavy fence
};

}  // namespace janus
