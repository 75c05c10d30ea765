// SPDX-License-Identifier: Apache-2.0
// size_class_test.cpp — checks every size up to the largest small one.
#include "rt/mem/size_class.h"

#include "rt/mem/span.h"
#include "tests/harness/test.h"

using namespace janus;

TEST(size_class, is_the_smallest_that_fits) {
  for (std::size_t bytes = 1; bytes <= kMaxSmall; bytes++) {
    const unsigned c = size_class_of(bytes);
    if (c < kSizeClasses && size_class_bytes(c) >= bytes && (c == 0 || size_class_bytes(c - 1) < bytes)) continue;
    CHECK_EQ(bytes, 0u);
  }
  CHECK_EQ(size_class_of(0), 0u);
}

TEST(size_class, wastes_an_eighth_at_most) {
  for (std::size_t bytes = 129; bytes <= kMaxSmall; bytes++)
    if (size_class_bytes(size_class_of(bytes)) * 8 > bytes * 9 + 8) CHECK_EQ(bytes, 0u);
  for (unsigned c = 0; c + 1 < kSizeClasses; c++) {
    CHECK_LT(size_class_bytes(c), size_class_bytes(c + 1));
    CHECK_EQ(size_class_bytes(c) % 16, 0u);
  }
}

TEST(size_class, finds_a_class_for_every_alignment_up_to_a_page) {
  for (std::size_t align = 16; align <= kPageBytes; align *= 2)
    for (std::size_t bytes = 1; bytes <= kMaxSmall; bytes += 13) {
      const unsigned c = aligned_size_class_of(bytes, align);
      if (c < kSizeClasses && size_class_bytes(c) >= bytes && size_class_bytes(c) % align == 0) continue;
      CHECK_EQ(bytes, 0u);
    }
  CHECK_EQ(aligned_size_class_of(kMaxSmall, 16), kSizeClasses - 1);
  CHECK_EQ(aligned_size_class_of(kMaxSmall + 1, 16), kSizeClasses);
}

TEST(size_class, a_span_holds_its_blocks_and_their_tags) {
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const SpanShape& shape = span_shape(c);
    const std::size_t each = shape.block_bytes + (shape.block_bytes < kTagsApartFrom ? sizeof(std::uint32_t) : 0);
    const std::size_t bytes = shape.pages * kPageBytes, used = shape.blocks * each;
    CHECK_GE(shape.blocks, shape.batch);
    CHECK_LE(used, bytes);
    CHECK_LE((bytes - used) * 12, bytes);  // at most a twelfth is lost
  }
}

TEST(size_class, block_numbers_come_out_exact) {
  for (unsigned c = 0; c < kSizeClasses; c++) {
    const SpanShape& shape = span_shape(c);
    for (std::uint64_t n = 0; n < shape.blocks; n++)
      if (n * shape.block_bytes * shape.reciprocal >> 32 != n) CHECK_EQ(n, ~std::uint64_t{0});
  }
}
