// SPDX-License-Identifier: Apache-2.0
// rt/sched/handle_cache.h — a worker's memory of where handles led, so that the same few need not be looked up again
// and again. Owner only.
#pragma once

#include <cstdint>

namespace janus {

// Direct-mapped by the record's index, which stands in the handle's lowest bits. All zeroes is a valid empty one.
//
// INVARIANT records-stay: what it keeps are addresses of records that are never unmapped while workers run, and never
// serve another kind of thing. Which thing lives there by now, the record has to be asked: it keeps its whole handle.
class HandleCache {
 public:
  // The record that was last found by a handle like that; nullptr: none.
  [[nodiscard, gnu::always_inline]] void* find(std::uint64_t handle) const noexcept {
    return records_[handle % kEntries];
  }
  void keep(std::uint64_t handle, void* record) noexcept { records_[handle % kEntries] = record; }

 private:
  static constexpr unsigned kEntries = 32;
  void* records_[kEntries];
};

}  // namespace janus
