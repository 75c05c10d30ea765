// SPDX-License-Identifier: Apache-2.0
// memory_map.h — the unused RAM of the machine. Pure arithmetic: unit tests call it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/cpu/page.h"

namespace janus::bare {

// Ranges in ascending order that do not overlap, each of whole pages.
class MemoryMap {
 public:
  static constexpr std::size_t kMax = 64;

  // Adds RAM, rounded inwards to pages; memory that is added twice counts once. Ranges beyond kMax are left out.
  void add(Range ram) noexcept;
  // Removes memory that is in use or must stay unchanged, rounded outwards to pages.
  void remove(Range used) noexcept;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const Range& operator[](std::size_t n) const { return ranges_[n]; }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  // Empty if there is none.
  [[nodiscard]] Range longest() const noexcept;

 private:
  void insert(std::size_t at, Range range) noexcept;
  void erase(std::size_t at) noexcept;

  Range ranges_[kMax] = {};
  std::size_t count_ = 0;
};

}  // namespace janus::bare
