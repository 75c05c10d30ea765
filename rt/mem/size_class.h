// SPDX-License-Identifier: Apache-2.0
// rt/mem/size_class.h — small block sizes: steps of 16 bytes up to 128, then eight to a doubling up to 32 KiB, so that
// rounding up costs at most an eighth. Arithmetic only; span.h has the spans that blocks are cut from.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rt/mem/pages.h"

namespace janus {

inline constexpr std::size_t kMinBlock = 16;  // also the alignment that every block has at least
inline constexpr std::size_t kMaxSmall = 32768;
inline constexpr unsigned kSizeClasses = 72;
inline constexpr std::size_t kLinearLimit = 128;  // up to here in steps of kMinBlock
inline constexpr unsigned kStepsPerDoubling = 8;
inline constexpr std::size_t kMaxTabled = 1024;  // up to here the class of a size is looked up
// What is looked up is a class times this, so that the address of a worker's list takes one instruction less.
inline constexpr unsigned kClassScale = 8;

namespace size_class_detail {

constexpr unsigned by_arithmetic(std::size_t bytes) noexcept {
  if (bytes <= kLinearLimit) return bytes <= kMinBlock ? 0 : static_cast<unsigned>((bytes - 1) / kMinBlock);
  const unsigned top = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;  // 2^top <= bytes - 1, top >= 7
  const unsigned step = static_cast<unsigned>((bytes - 1) >> (top - 3)) & (kStepsPerDoubling - 1);
  return (top - 6) * kStepsPerDoubling + step;
}

struct Table {
  std::uint8_t by_sixteenth[kMaxTabled / kMinBlock + 1];
};
constexpr Table make_table() noexcept {
  Table table{};
  for (std::size_t n = 0; n <= kMaxTabled / kMinBlock; n++)
    table.by_sixteenth[n] = static_cast<std::uint8_t>(by_arithmetic(n * kMinBlock) * kClassScale);
  return table;
}
inline constexpr Table kTable = make_table();

}  // namespace size_class_detail

// Times kClassScale. Precondition: `bytes` is at most kMaxTabled.
[[nodiscard]] constexpr unsigned tabled_class_of(std::size_t bytes) noexcept {
  return size_class_detail::kTable.by_sixteenth[(bytes + kMinBlock - 1) / kMinBlock];
}

// The smallest class that holds `bytes` (1 ... kMaxSmall; 0 counts as 1).
[[nodiscard]] constexpr unsigned size_class_of(std::size_t bytes) noexcept {
  if (bytes <= kMaxTabled) [[likely]]
    return tabled_class_of(bytes) / kClassScale;
  return size_class_detail::by_arithmetic(bytes);
}

[[nodiscard]] constexpr std::size_t size_class_bytes(unsigned size_class) noexcept {
  if (size_class < kStepsPerDoubling) return (size_class + 1) * kMinBlock;
  const unsigned doubling = size_class / kStepsPerDoubling, step = size_class % kStepsPerDoubling;
  return (std::size_t{kStepsPerDoubling} + step + 1) << (doubling + 3);
}

static_assert(size_class_of(kMaxSmall) == kSizeClasses - 1 && size_class_bytes(kSizeClasses - 1) == kMaxSmall);
static_assert(size_class_bytes(size_class_of(129)) == 144 && size_class_bytes(size_class_of(257)) == 288);

// The smallest class whose blocks, laid end to end from a page boundary, are all aligned to `align` (a power of two,
// at most a page); kSizeClasses if there is none.
[[nodiscard]] constexpr unsigned aligned_size_class_of(std::size_t bytes, std::size_t align) noexcept {
  if (bytes > kMaxSmall) return kSizeClasses;
  unsigned size_class = size_class_of(bytes);
  while (size_class < kSizeClasses && size_class_bytes(size_class) % align != 0) size_class++;
  return size_class;
}

}  // namespace janus
