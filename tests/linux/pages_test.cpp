// SPDX-License-Identifier: Apache-2.0
// pages_test.cpp — memory from the kernel: its contents, the effect of giving it back, and what guard pages survive.
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
constexpr std::size_t kPage = 4096;

TEST(pages, fresh_pages_are_zero_and_writable) {
  std::byte* pages = platform::map(3 * kPage);
  REQUIRE(pages != nullptr);
  for (std::size_t i = 0; i < 3 * kPage; ++i) REQUIRE(pages[i] == std::byte{0});
  pages[3 * kPage - 1] = std::byte{7};
  CHECK(pages[3 * kPage - 1] == std::byte{7});
  platform::unmap(pages, 3 * kPage);
}

TEST(pages, a_mapping_of_nothing_or_of_everything_is_refused) {
  CHECK(platform::map(0) == nullptr);
  CHECK(platform::map(std::size_t{1} << 48) == nullptr);
}

TEST(pages, reserving_far_more_than_the_machine_has_costs_nothing) {
  const std::size_t bytes = std::size_t{1} << 40;
  std::byte* pages = platform::map(bytes);
  REQUIRE(pages != nullptr);
  pages[bytes - 1] = std::byte{1};
  platform::unmap(pages, bytes);
}

TEST(pages, discarded_pages_read_as_zero) {
  std::byte* pages = platform::map(2 * kPage);
  REQUIRE(pages != nullptr);
  pages[0] = pages[kPage] = std::byte{9};
  platform::discard(pages, kPage);
  CHECK(pages[0] == std::byte{0});
  CHECK(pages[kPage] == std::byte{9});
  platform::unmap(pages, 2 * kPage);
}

TEST(pages, unmapped_pages_are_gone) {
  std::byte* pages = platform::map(kPage);
  REQUIRE(pages != nullptr);
  CHECK(test::is_readable(pages));
  platform::unmap(pages, kPage);
  CHECK(!test::is_readable(pages));
}

// populate() is only a hint: if the kernel refuses it, none of the pages is there.
TEST(pages, populating_gives_the_pages_named_and_no_other) {
  constexpr std::size_t kRow = 64, kStride = 3 * kPage;
  constexpr std::uint64_t kWhich = 0x8000'0f0f'5555'0001;
  std::byte* pages = platform::map(kRow * kStride);
  REQUIRE(pages != nullptr);
  std::size_t guarded = 0;
  CHECK(platform::guard(pages, kStride, kRow, kPage, guarded) != platform::Guard::kNone);
  pages[2 * kPage] = std::byte{7};  // was there before
  platform::populate(pages + 2 * kPage, kStride, kWhich);
  unsigned char resident[kRow * 3];
  REQUIRE(!test::failed(test::call(test::kMincore, pages, kRow * kStride, resident)));
  const bool took_it = (resident[2 + 3 * 16] & 1) != 0;  // bit 16 of kWhich
  for (std::size_t n = 0; n < kRow; ++n) {
    CHECK_EQ(resident[3 * n] & 1, 0);
    CHECK_EQ(resident[3 * n + 1] & 1, 0);
    CHECK_EQ((resident[3 * n + 2] & 1) != 0, n == 0 || (took_it && (kWhich >> n & 1) != 0));
  }
  CHECK(pages[2 * kPage] == std::byte{7});
  platform::unmap(pages, kRow * kStride);
}

TEST(pages, each_guard_of_a_row_faults_and_what_lies_between_does_not) {
  constexpr std::size_t kStacks = 100, kStride = 3 * kPage;
  std::byte* slab = platform::map(kStacks * kStride);
  REQUIRE(slab != nullptr);
  std::size_t guarded = 0;
  CHECK(platform::guard(slab, kStride, kStacks, kPage, guarded) != platform::Guard::kNone);
  CHECK_EQ(guarded, kStacks);
  for (std::size_t i = 0; i < kStacks; ++i) {
    REQUIRE(!test::is_readable(slab + i * kStride));
    REQUIRE(test::is_readable(slab + i * kStride + kPage));
  }
  platform::unmap(slab, kStacks * kStride);
}

TEST(pages, guards_survive_a_discard_of_all_that_is_around_them) {
  std::byte* slab = platform::map(8 * kPage);
  REQUIRE(slab != nullptr);
  std::size_t guarded = 0;
  REQUIRE(platform::guard(slab, 4 * kPage, 2, kPage, guarded) != platform::Guard::kNone);
  slab[kPage] = std::byte{1};
  platform::discard(slab, 8 * kPage);
  CHECK(!test::is_readable(slab));
  CHECK(!test::is_readable(slab + 4 * kPage));
  CHECK(slab[kPage] == std::byte{0});
  platform::unmap(slab, 8 * kPage);
}

TEST(pages, a_row_of_no_guards_is_none) {
  std::size_t guarded = 7;
  CHECK(platform::guard(nullptr, kPage, 0, kPage, guarded) == platform::Guard::kNone);
  CHECK_EQ(guarded, 0u);
}

TEST(pages, guards_where_nothing_is_mapped_are_none) {
  std::byte* pages = platform::map(4 * kPage);
  REQUIRE(pages != nullptr);
  platform::unmap(pages, 4 * kPage);
  std::size_t guarded = 7;
  CHECK(platform::guard(pages, 2 * kPage, 2, kPage, guarded) == platform::Guard::kNone);
  CHECK_EQ(guarded, 0u);
}

}  // namespace
