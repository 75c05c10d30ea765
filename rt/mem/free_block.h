// SPDX-License-Identifier: Apache-2.0
// rt/mem/free_block.h — the contents of a free small block: the link of a list, with a seal by which a write after the
// free is found before the link is followed; and the index of the block's tag, so that an allocation need not search
// for it. In debug builds the rest of its first kFilledBytes is filled with a pattern, which is checked, too.
// docs/decisions/0020
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rt/mem/misuse.h"
#include "rt/mem/span.h"

namespace janus {

class FreeBlock {
 public:
  void set(FreeBlock* next, std::uint64_t tag_index) noexcept {
    next_ = next;
    seal_ = mixed() ^ tag_index;
  }
  void relink(FreeBlock* next) noexcept { set(next, tag_index()); }

  // A write that did not depend on the block's address goes unnoticed once in 2^44 times.
  [[nodiscard]] bool is_intact() const noexcept { return tag_index() < std::uint64_t{1} << kTagIndexBits; }
  // Precondition of next() and tag_index(): is_intact().
  [[nodiscard]] FreeBlock* next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t tag_index() const noexcept { return seal_ ^ mixed(); }

 private:
  [[nodiscard]] std::uint64_t mixed() const noexcept {
    return std::rotl(address_of(next_), 24) ^ address_of(this) ^ 0x9ddfea08eb382d69u;
  }

  FreeBlock* next_;
  std::uint64_t seal_;
};
static_assert(sizeof(FreeBlock) <= kMinBlock);

inline constexpr std::byte kFreeByte{0xdf};
inline constexpr std::size_t kFilledBytes = 256;  // how much is filled: enough to find writes, and still cheap

[[nodiscard]] constexpr std::size_t filled_end(std::size_t block_bytes) noexcept {
  return block_bytes < kFilledBytes ? block_bytes : kFilledBytes;
}

inline void fill_free(void* block, std::size_t block_bytes) noexcept {
  if constexpr (kHeapChecks) {
    std::byte* bytes = static_cast<std::byte*>(block);
    for (std::size_t n = sizeof(FreeBlock); n < filled_end(block_bytes); n++) bytes[n] = kFreeByte;
  }
}

[[nodiscard]] inline bool is_still_filled(const void* block, std::size_t block_bytes) noexcept {
  if constexpr (kHeapChecks) {
    const std::byte* bytes = static_cast<const std::byte*>(block);
    for (std::size_t n = sizeof(FreeBlock); n < filled_end(block_bytes); n++)
      if (bytes[n] != kFreeByte) return false;
  }
  return true;
}

}  // namespace janus
