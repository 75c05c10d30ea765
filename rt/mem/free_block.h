// SPDX-License-Identifier: Apache-2.0
// rt/mem/free_block.h — what a block holds while nobody holds it: the link of a list, and in debug builds a filling, so
// that a write after the free shows when the block goes out again.
#pragma once

#include <cstddef>

#include "rt/mem/misuse.h"
#include "rt/mem/size_class.h"

namespace janus {

struct FreeBlock {
  FreeBlock* next;
};
static_assert(sizeof(FreeBlock) <= kMinBlock);

inline constexpr std::byte kFreeByte{0xdf};
inline constexpr std::size_t kFilledBytes = 256;  // enough to see it, little enough to stand it

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
