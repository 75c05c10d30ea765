// SPDX-License-Identifier: Apache-2.0
// rt/sched/handle_cache.h — a worker's cache from handles to records, which saves looking up the same few handles again
// and again. Owner only.
#pragma once

#include <cstdint>

namespace janus {

// Direct-mapped by the record's index, which is in the handle's lowest bits. All zero bytes are a valid empty cache.
//
// INVARIANT records-stay: a record whose address is kept is never unmapped while workers run, and never reused for
// another kind of object. Which object it holds by now the caller checks: the record keeps its whole handle.
class HandleCache {
 public:
  // The record kept last for a handle with the same index modulo kEntries; nullptr: none.
  [[nodiscard, gnu::always_inline]] void* find(std::uint64_t handle) const noexcept {
    return records_[handle % kEntries];
  }
  void keep(std::uint64_t handle, void* record) noexcept { records_[handle % kEntries] = record; }

 private:
  static constexpr unsigned kEntries = 32;
  void* records_[kEntries];
};

}  // namespace janus
