// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_table.h — the records of all accounts: segments that never move, and a free list. A record is found
// by its index; index 0 means none. Any thread, but for init() and destroy().
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/budget/account.h"

namespace janus {

class AccountTable {
 public:
  void init() noexcept { fresh_.store(1, std::memory_order_relaxed); }
  void destroy() noexcept;  // every record and index becomes invalid

  // The record with this index. Precondition: the index has been given out before. Costs two loads.
  [[nodiscard]] Account* at(std::uint32_t index) const noexcept;
  // A record that was freed; nullptr: there is none.
  [[nodiscard]] Account* pop_free() noexcept;
  // A record that was never given out; nullptr: there is no memory.
  [[nodiscard]] Account* fresh_record() noexcept;
  void free_record(Account* account) noexcept;

  // Called for each record that was taken.
  void count_taken() noexcept { live_.fetch_add(1, std::memory_order_relaxed); }
  // How many records are not free.
  [[nodiscard]] std::uint32_t count() const noexcept { return live_.load(std::memory_order_relaxed); }
  // Indices below this were given out at least once.
  [[nodiscard]] std::uint32_t end() const noexcept { return fresh_.load(std::memory_order_relaxed); }

 private:
  friend struct DebuggerLayout;

  // Segment s holds kFirstSegment << s records, so that a record is found with a bit scan and never moves.
  static constexpr unsigned kFirstSegmentBits = 9;
  static constexpr unsigned kSegments = 32 - kFirstSegmentBits;

  struct Place;
  static std::size_t segment_bytes(unsigned number) noexcept;
  Account* segment(unsigned number) noexcept;
  void unmap_segment(unsigned number) noexcept;

  Atomic<Account*> segments_[kSegments];
  Atomic<std::uint64_t> free_;   // low half: index of the first free record; high half: a count against ABA
  Atomic<std::uint32_t> fresh_;  // the first index that was never given out
  Atomic<std::uint32_t> live_;
};

}  // namespace janus
