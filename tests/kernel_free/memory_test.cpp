// SPDX-License-Identifier: Apache-2.0
// memory_test.cpp — a walk of the running machine's page tables; and pages that are mapped, discarded and mapped again.
#include <cstddef>
#include <cstdint>

#include "kernel-free/boot/image.h"
#include "kernel-free/memory/addresses.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/per_cpu.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using namespace janus::bare;

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

bool is_absent(const void* at) {
  return (look_up(address_of(at)).entry & kPresent) == 0;
}

// Calls f(address, entry, level) for every present leaf entry.
template <class F>
void each_leaf(const Entry* table, unsigned level, std::uint64_t begin, F& f) {
  for (unsigned n = 0; n < 512; ++n) {
    std::uint64_t address = begin + n * span_of(level);
    if (level == 4 && n >= 256) address |= 0xffff'0000'0000'0000;
    const Entry entry = table[n];
    if (is_table(entry, level))
      each_leaf(at_physical<const Entry>(entry & kAddressBits), level - 1, address, f);
    else if ((entry & kPresent) != 0)
      f(address, entry, level);
  }
}
template <class F>
void each_leaf(F f) {
  each_leaf(at_physical<const Entry>(top_table()), 4, 0, f);
}

TEST(page_tables, no_page_is_both_writable_and_executable) {
  std::size_t pages = 0, executable = 0;
  each_leaf([&](std::uint64_t address, Entry entry, unsigned) {
    ++pages;
    const bool is_executable = (entry & kNoExecute) == 0;
    executable += is_executable;
    if (is_executable && (entry & kWritable) != 0) test::note("writable and executable", address);
    CHECK(!is_executable || (entry & kWritable) == 0);
  });
  CHECK_GT(pages, 20u);
  CHECK_GT(executable, 0u);
}

// Frames of code and constants must not be writable through another mapping either.
TEST(page_tables, the_image_is_nowhere_mapped_a_second_time) {
  const Range image = image_range();
  each_leaf([&](std::uint64_t address, Entry entry, unsigned level) {
    const std::uint64_t frame = entry & kAddressBits & ~(span_of(level) - 1), end = frame + span_of(level);
    if (frame < image.end && end > image.begin) CHECK_EQ(address, frame);
  });
}

TEST(page_tables, text_and_constants_are_read_only_and_page_zero_is_absent) {
  static const char constant[] = "a constant";
  static int variable = 1;
  CHECK(is_absent(nullptr));
  CHECK(is_absent(reinterpret_cast<void*>(0xfff)));
  const Entry text = look_up(address_of(reinterpret_cast<void*>(&look_up))).entry;
  CHECK((text & kPresent) != 0 && (text & kWritable) == 0 && (text & kNoExecute) == 0);
  const Entry constants = look_up(address_of(constant)).entry;
  CHECK((constants & kPresent) != 0 && (constants & kWritable) == 0 && (constants & kNoExecute) != 0);
  const Entry data = look_up(address_of(&variable)).entry;
  CHECK((data & kPresent) != 0 && (data & kWritable) != 0 && (data & kNoExecute) != 0);
}

TEST(page_tables, large_pages_map_what_is_whole) {
  bool any = false;
  each_leaf([&](std::uint64_t address, Entry, unsigned level) { any = any || (address >= kDirectMap && level > 1); });
  CHECK(any);
}

TEST(page_tables, each_interrupt_stack_stands_above_an_absent_page) {
  for (unsigned n = 0; n < g_cpu_count; ++n) {
    for (auto& stack : g_cpus[n]->interrupt_stacks) {
      CHECK(is_absent(stack.guard));
      CHECK(!is_absent(stack.bytes));
      CHECK(!is_absent(stack.bytes + sizeof stack.bytes - 1));
    }
  }
}

TEST(page_tables, the_stack_of_this_thread_is_followed_by_absent_pages) {
  auto* const thread = &this_thread();
  CHECK(is(look_up(address_of(thread->mapping)).entry, Absence::kGuard));
  CHECK(!is_absent(&thread));
}

TEST(pages, are_there_at_the_first_touch_and_zero) {
  constexpr std::size_t kBytes = 64 * kPage;
  const std::uint64_t before = frames_taken();
  std::byte* const pages = platform::map(kBytes);
  REQUIRE(pages != nullptr);
  CHECK_LE(frames_taken(), before + 4);  // the page tables only
  CHECK(is_absent(pages));
  pages[5 * kPage + 7] = std::byte{1};
  CHECK(!is_absent(pages + 5 * kPage));
  CHECK(is_absent(pages + 6 * kPage));
  for (std::size_t n = 0; n < kPage; ++n) CHECK(pages[5 * kPage + n] == std::byte{n == 7});
  CHECK(*const_cast<volatile std::byte*>(pages + 9 * kPage) == std::byte{0});
  platform::unmap(pages, kBytes);
  CHECK(is_absent(pages + 5 * kPage));
}

TEST(pages, discarded_ones_come_back_zero_and_guards_among_them_stay) {
  constexpr std::size_t kBytes = 16 * kPage;
  std::byte* const pages = platform::map(kBytes);
  REQUIRE(pages != nullptr);
  std::size_t guarded = 0;
  CHECK(platform::guard(pages, 4 * kPage, 4, kPage, guarded) == platform::Guard::kInstalled);
  CHECK_EQ(guarded, 4u);
  for (std::size_t page = 0; page < 16; ++page)
    if (page % 4 != 0) pages[page * kPage] = std::byte{0xaa};
  const std::uint64_t before = frames_taken();
  platform::discard(pages, kBytes);
  CHECK_EQ(frames_taken(), before - 12);
  for (std::size_t page = 0; page < 16; ++page) {
    if (page % 4 == 0)
      CHECK(is(look_up(address_of(pages + page * kPage)).entry, Absence::kGuard));
    else
      CHECK(pages[page * kPage] == std::byte{0});
  }
  platform::unmap(pages, kBytes);
}

TEST(pages, a_guard_over_a_touched_page_takes_its_frame_back) {
  std::byte* const pages = platform::map(4 * kPage);
  REQUIRE(pages != nullptr);
  pages[kPage] = std::byte{1};
  const std::uint64_t before = frames_taken();
  std::size_t guarded = 0;
  CHECK(platform::guard(pages + kPage, kPage, 1, kPage, guarded) == platform::Guard::kInstalled);
  CHECK(is_absent(pages + kPage));
  CHECK_EQ(frames_taken(), before - 1);
  platform::unmap(pages, 4 * kPage);
}

// Rows of pieces that each cross the end of a page table. A guarded piece has no frames, and is zero when its guards
// are removed.
TEST(pages, guards_come_and_go_and_what_they_held_is_forgotten) {
  constexpr std::size_t kStride = 512 * kPage, kBytes = 5 * kPage, kOffset = 509 * kPage;
  std::byte* const pages = platform::map(4 * kStride);
  REQUIRE(pages != nullptr);
  std::byte* const first = pages + kOffset;
  const auto fill_all = [&] {
    for (std::size_t n = 0; n < 3; ++n)
      for (std::size_t at = 0; at < kBytes + 2 * kPage; at += kPage) first[n * kStride + at - kPage] = std::byte{0xaa};
  };
  fill_all();
  const std::uint64_t before = frames_taken();
  for (int round = 0; round < 3; ++round) {
    CHECK(platform::set_guards(first, kStride, 3, kBytes));
    CHECK_EQ(frames_taken(), before - 15);
    for (std::size_t n = 0; n < 3; ++n) {
      std::byte* const piece = first + n * kStride;
      CHECK(!is_absent(piece - kPage) && !is_absent(piece + kBytes));  // the pages beside it are unchanged
      for (std::size_t at = 0; at < kBytes; at += kPage)
        CHECK(is(look_up(address_of(piece + at)).entry, Absence::kGuard));
      CHECK(platform::clear_guard(piece + kPage, kBytes - kPage));  // a part of the piece
      CHECK(is(look_up(address_of(piece)).entry, Absence::kGuard));
      for (std::size_t at = kPage; at < kBytes; at += kPage) CHECK(piece[at] == std::byte{0});
      CHECK(platform::clear_guard(piece, kBytes));  // all of it, most of which is open already
      CHECK(piece[0] == std::byte{0} && piece[kPage] == std::byte{0});
    }
    fill_all();
    CHECK_EQ(frames_taken(), before);
  }
  platform::unmap(pages, 4 * kStride);
}

// Sizes around each limit of the tables, repeatedly: no frame and no range of addresses may be lost.
TEST(pages, mapping_and_unmapping_leaves_nothing_behind) {
  constexpr std::size_t kSizes[] = {kPage,
                                    3 * kPage,
                                    511 * kPage,
                                    512 * kPage,
                                    513 * kPage,
                                    std::size_t{5} << 20,
                                    std::size_t{1} << 30,
                                    (std::size_t{1} << 30) + kPage,
                                    std::size_t{3} << 39};
  std::byte* first[sizeof kSizes / sizeof *kSizes] = {};
  std::uint64_t before = 0;
  for (int round = 0; round < 4; ++round) {
    if (round == 1) before = frames_taken();
    for (std::size_t n = 0; n < sizeof kSizes / sizeof *kSizes; ++n) {
      const std::size_t bytes = kSizes[n];
      std::byte* const pages = platform::map(bytes);
      REQUIRE(pages != nullptr);
      if (round == 0) first[n] = pages;
      pages[0] = pages[bytes / 2] = pages[bytes - 1] = std::byte{1};
      platform::unmap(pages, bytes);
      CHECK(is_absent(pages) && is_absent(pages + bytes - 1));
      if (round != 0) CHECK_EQ(address_of(pages), address_of(first[n]));
    }
  }
  CHECK_EQ(frames_taken(), before);
}

TEST(pages, too_much_is_refused) {
  CHECK(platform::map(std::size_t{1} << 47) == nullptr);
  CHECK(platform::map(~std::size_t{0} - kPage) == nullptr);
}

TEST(pages, populated_ones_are_there) {
  std::byte* const pages = platform::map(8 * kPage);
  REQUIRE(pages != nullptr);
  platform::populate(pages, 2 * kPage, 0b1011);
  for (std::size_t page = 0; page < 8; ++page)
    CHECK_EQ(is_absent(pages + page * kPage), page != 0 && page != 2 && page != 6);
  platform::unmap(pages, 8 * kPage);
}

}  // namespace
