// SPDX-License-Identifier: Apache-2.0
// rt/mem/huge_table.h — blocks too large for a chunk, each a mapping of its own, found by address in an open hash table
// (Knuth's algorithms L and R of volume 3, 6.4). To allocate and free them takes a system call anyway, so one lock is
// enough.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"
#include "rt/mem/misuse.h"
#include "rt/mem/span.h"

namespace janus {

class HugeTable {
 public:
  struct Block {
    std::byte* start;   // nullptr: an empty place
    std::byte* pages;   // the mapping; `start` may be further in, for alignment
    std::size_t bytes;  // usable, from start
    std::size_t mapped;
    std::uint32_t tag;
  };

  // `bytes` is a multiple of the page size. nullptr: the machine has no memory.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t align, std::uint32_t tag) noexcept;
  // Frees a block of `holder`. kNone: done, and `freed` is its entry. Otherwise nothing has changed.
  [[nodiscard]] Misuse free(const void* start, Holder holder, Block& freed) noexcept;
  // Makes a user's block the runtime's. kNone: done, and `out` is its entry as it was before.
  [[nodiscard]] Misuse take_over(const void* start, Block& out) noexcept;
  // Makes up to `most` users' blocks with this tag the runtime's, and stores them in `out`. Returns how many.
  [[nodiscard]] unsigned take_over_all(std::uint32_t tag, void** out, unsigned most) noexcept;
  // Gives all blocks of one account to another one, which holds their memory from then on.
  void hand_up(Account* from, Account* to) noexcept;
  [[nodiscard]] bool find(const void* start, Block& out) noexcept;

  [[nodiscard]] std::size_t bytes_in_use() noexcept;
  [[nodiscard]] std::size_t bytes_mapped() noexcept;
  [[nodiscard]] std::size_t mappings() noexcept;
  void destroy() noexcept;

 private:
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] Block* held_by(Holder holder, const void* start, Misuse& misuse) noexcept;
  [[nodiscard]] std::size_t home_of(const void* start) const noexcept;
  [[nodiscard]] std::size_t place_of(const void* start) const noexcept;
  void close_gap(std::size_t gap) noexcept;

  RankedLock<LockRank::kHuge> lock_;
  Block* places_ = nullptr;
  std::size_t size_ = 0;   // a power of two, or 0
  std::size_t count_ = 0;  // at most three quarters of size_, so that every search ends
  std::size_t in_use_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace janus
