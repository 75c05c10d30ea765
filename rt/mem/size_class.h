// SPDX-License-Identifier: Apache-2.0
// rt/mem/size_class.h — small block sizes: steps of 16 bytes up to 128, then eight to a doubling up to 32 KiB, so that
// rounding up costs at most an eighth. Arithmetic only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rt/mem/pages.h"

namespace janus {

inline constexpr std::size_t kMinBlock = 16;  // the alignment that every block has
inline constexpr std::size_t kMaxSmall = 32768;
inline constexpr unsigned kSizeClasses = 72;
inline constexpr std::size_t kLinearLimit = 128;  // up to here in steps of kMinBlock
inline constexpr unsigned kStepsPerDoubling = 8;

// The smallest class that holds `bytes` (1 ... kMaxSmall; 0 counts as 1).
[[nodiscard]] constexpr unsigned size_class_of(std::size_t bytes) noexcept {
  if (bytes <= kLinearLimit) return bytes <= kMinBlock ? 0 : static_cast<unsigned>((bytes - 1) / kMinBlock);
  const unsigned top = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;  // 2^top <= bytes - 1, top >= 7
  const unsigned step = static_cast<unsigned>((bytes - 1) >> (top - 3)) & (kStepsPerDoubling - 1);
  return (top - 6) * kStepsPerDoubling + step;
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

// --- Spans: the runs of pages that blocks of one class are cut from --------------------------------------------------

// Blocks of this size and more have their tags in the chunk's header, smaller ones at the end of their span (span.h).
inline constexpr std::size_t kTagsApartFrom = 1024;

struct SpanShape {
  std::uint32_t block_bytes;
  std::uint32_t reciprocal;  // ceil(2^32 / block_bytes): block number = offset * reciprocal >> 32
  std::uint16_t pages;
  std::uint16_t blocks;
  std::uint16_t batch;  // blocks that move between a worker's cache and the shared lists at once
};

namespace size_class_detail {

inline constexpr std::size_t kMinSpanPages = 16, kMaxSpanPages = 64;
inline constexpr std::size_t kBatchBytes = 16384;
inline constexpr std::size_t kMinBatch = 2, kMaxBatch = 64;

constexpr std::size_t bytes_per_block(std::size_t block) noexcept {
  return block + (block < kTagsApartFrom ? sizeof(std::uint32_t) : 0);
}

// The shortest span that wastes at most a sixteenth, else the least wasteful one.
constexpr SpanShape shape_of(unsigned size_class) noexcept {
  const std::size_t block = size_class_bytes(size_class), each = bytes_per_block(block);
  std::size_t best = kMinSpanPages, best_waste = ~std::size_t{0};
  for (std::size_t pages = kMinSpanPages; pages <= kMaxSpanPages; pages++) {
    const std::size_t bytes = pages * kPageBytes, waste = bytes % each * 1024 / bytes;
    if (waste < best_waste) best = pages, best_waste = waste;
    if (waste <= 64) break;
  }
  std::size_t batch = kBatchBytes / block;
  if (batch < kMinBatch) batch = kMinBatch;
  if (batch > kMaxBatch) batch = kMaxBatch;
  const std::uint64_t reciprocal = ((std::uint64_t{1} << 32) + block - 1) / block;
  return {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(reciprocal), static_cast<std::uint16_t>(best),
          static_cast<std::uint16_t>(best * kPageBytes / each), static_cast<std::uint16_t>(batch)};
}

struct Shapes {
  SpanShape of[kSizeClasses];
};
constexpr Shapes all_shapes() noexcept {
  Shapes shapes{};
  for (unsigned c = 0; c < kSizeClasses; c++) shapes.of[c] = shape_of(c);
  return shapes;
}

}  // namespace size_class_detail

inline constexpr size_class_detail::Shapes kSpanShapes = size_class_detail::all_shapes();

}  // namespace janus
