// SPDX-License-Identifier: Apache-2.0
// rt/mem/heap_plan.cpp — plans requests that the table of size classes does not cover. The plan also decides the
// charge, so watched builds use the same plans (arch/hosted/heap.cpp).
#include "rt/mem/heap.h"
#include "rt/mem/pages.h"

namespace janus {

namespace {

constexpr std::size_t kNaturalAlign = 16;
// A chunk has few places for blocks of a large alignment. So such a block has at least this part of its alignment as
// its size: then the blocks that fit into one chunk pay for its header several times.
constexpr std::size_t kAlignPart = 16;
static_assert((kChunkBytes / Heap::kMaxLarge - 1) * (Heap::kMaxLarge / kAlignPart) >= 3 * kHeaderPages * kPageBytes);
constexpr std::size_t kMaxHuge = std::size_t{1} << 46;  // beyond any address space; keeps the sums below from wrapping

bool is_sane_align(std::size_t align) noexcept {
  return align <= kNaturalAlign || (is_power_of_two(align) && align <= kMaxHuge);
}

}  // namespace

[[gnu::cold]] Heap::Plan Heap::plan_unusual(std::size_t bytes, std::size_t align) noexcept {
  if (bytes > kMaxHuge || !is_sane_align(align)) return {Kind::kNone, 0, 0};
  if (bytes <= kMaxSmall && align <= kPageBytes) {
    const unsigned size_class = align <= kNaturalAlign ? size_class_of(bytes) : aligned_size_class_of(bytes, align);
    if (size_class < kSizeClasses) return {Kind::kSmall, size_class, size_class_bytes(size_class)};
  }
  const std::size_t least = align <= kMaxLarge && align / kAlignPart > bytes ? align / kAlignPart : bytes;
  const std::size_t whole = round_up(least == 0 ? 1 : least, kPageBytes);
  return {whole <= kMaxLarge && align <= kMaxLarge ? Kind::kLarge : Kind::kHuge, 0, whole};
}

}  // namespace janus
