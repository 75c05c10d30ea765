// SPDX-License-Identifier: Apache-2.0
// rt/sched/handle_cache.h — a worker's memory of where handles led, so that the same few need not be looked up again
// and again. Owner only.
#pragma once

#include <cstdint>

namespace janus {

// Direct-mapped by the record's index, which stands in the handle's lowest bits. All zeroes is a valid empty one.
//
// INVARIANT records-stay: what it keeps are addresses of records that are never unmapped while workers run, and never
// serve another kind of thing. Another thing of the same kind may live there by now: the record has to be asked.
class HandleCache {
 public:
  // nullptr: not known.
  [[nodiscard, gnu::always_inline]] void* find(std::uint64_t handle) const noexcept {
    const Entry& entry = entries_[handle % kEntries];
    return entry.handle == handle ? entry.record : nullptr;
  }
  void keep(std::uint64_t handle, void* record) noexcept { entries_[handle % kEntries] = {handle, record}; }

 private:
  static constexpr unsigned kEntries = 16;
  struct Entry {
    std::uint64_t handle;
    void* record;
  };
  Entry entries_[kEntries];
};

}  // namespace janus
