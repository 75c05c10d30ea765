// SPDX-License-Identifier: Apache-2.0
// mem_test.cpp — memcpy, memmove, memset and memcmp: every variant that this processor can run, compared with simple
// loops, for every small size, many alignments and overlaps, and directly beside unmapped pages.
#include <arch/mem.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <arch/cpu.h>
#include "rt/platform.h"
#include "tests/harness/test.h"

extern "C" std::uint32_t janus_cpu_features;

namespace {

using janus::arch::Features;
using Byte = unsigned char;

constexpr std::size_t kPage = 4096;

// Runs `body` once for each set of features by which the routines choose their code, as far as this processor has the
// features.
template <class Body>
void for_each_variant(Body body) {
  const std::uint32_t real = janus::arch::features().bits();
  const std::uint32_t wanted[] = {0, Features::kErms, Features::kAvx2, Features::kErms | Features::kAvx2};
  for (std::uint32_t bits : wanted) {
    if ((bits & ~real) != 0) continue;
    janus_cpu_features = Features::kKnown | bits;
    body();
  }
  janus_cpu_features = real;
}

Byte pattern(std::size_t i) {
  return static_cast<Byte>(i * 167 + (i >> 8) * 13 + 1);
}

void fill(Byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = pattern(i);
}

// True if `area`, which fill() has filled, has the contents that copying `bytes` from offset `from` to offset `to` must
// leave.
bool moved_right(const Byte* area, std::size_t area_bytes, std::size_t to, std::size_t from, std::size_t bytes) {
  for (std::size_t i = 0; i < area_bytes; ++i) {
    const bool inside = i >= to && i < to + bytes;
    if (area[i] != pattern(inside ? i - to + from : i)) return false;
  }
  return true;
}

constexpr std::size_t kAreaBytes = 300 * 1024;
alignas(64) Byte area[kAreaBytes];

// Moves bytes inside `area` and checks all of it.
bool move_is_right(std::size_t area_bytes, std::size_t to, std::size_t from, std::size_t bytes) {
  fill(area, area_bytes);
  const void* result = janus_memmove(area + to, area + from, bytes);
  return result == area + to && moved_right(area, area_bytes, to, from, bytes);
}

std::size_t wrong_moves(std::size_t bytes, std::size_t largest_distance, std::size_t step) {
  std::size_t wrong = 0;
  for (std::size_t distance = 0; distance <= largest_distance; distance += step) {
    const std::size_t low = 32 + distance % 33, all = low + distance + bytes + 64;
    wrong += !move_is_right(all, low, low + distance, bytes);
    wrong += !move_is_right(all, low + distance, low, bytes);
  }
  return wrong;
}

TEST(memory_routines, memmove_is_right_for_every_small_size_and_overlap) {
  for_each_variant([] {
    for (std::size_t bytes = 0; bytes <= 300; ++bytes) REQUIRE(wrong_moves(bytes, bytes + 40, 7) == 0);
  });
}

TEST(memory_routines, memmove_is_right_for_every_near_distance) {
  for_each_variant([] {
    for (std::size_t bytes : {1, 15, 16, 17, 33, 65, 127, 128, 129, 130, 255, 256, 257, 511})
      REQUIRE(wrong_moves(bytes, 140, 1) == 0);
  });
}

TEST(memory_routines, memmove_is_right_for_long_runs) {
  for_each_variant([] {
    for (std::size_t bytes : {2047, 2048, 4095, 4096, 4097, 4160, 8191, 65537})
      for (std::size_t distance : {1, 31, 32, 63, 64, 65, 127, 128, 129, 4095, 4096, 65536, 65537, 65538}) {
        REQUIRE(move_is_right(distance + bytes + 128, 61, 61 + distance, bytes));
        REQUIRE(move_is_right(distance + bytes + 128, 61 + distance, 61, bytes));
      }
  });
}

TEST(memory_routines, memcpy_is_right_for_every_alignment_of_both_sides) {
  for_each_variant([] {
    for (std::size_t bytes : {7, 16, 31, 64, 100, 129, 191, 320, 4100})
      for (std::size_t to = 0; to < 64; to += 3)
        for (std::size_t from = 0; from < 64; from += 5) {
          fill(area, 2 * bytes + 256);
          CHECK(janus_memcpy(area + to, area + bytes + 128 + from, bytes) == area + to);
          REQUIRE(moved_right(area, 2 * bytes + 256, to, bytes + 128 + from, bytes));
        }
  });
}

bool set_is_right(std::size_t at, int byte, std::size_t bytes) {
  fill(area, at + bytes + 128);
  if (janus_memset(area + at, byte, bytes) != area + at) return false;
  for (std::size_t i = 0; i < at + bytes + 128; ++i)
    if (area[i] != (i >= at && i < at + bytes ? static_cast<Byte>(byte) : pattern(i))) return false;
  return true;
}

TEST(memory_routines, memset_is_right_for_every_small_size_and_alignment) {
  for_each_variant([] {
    for (std::size_t bytes = 0; bytes <= 400; ++bytes)
      for (std::size_t at = 0; at < 64; at += 3) REQUIRE(set_is_right(at, 0x1a5, bytes));
  });
}

TEST(memory_routines, memset_is_right_for_long_runs) {
  for_each_variant([] {
    for (std::size_t bytes : {2047, 2048, 2049, 4096, 4159, 65537, 262144})
      for (std::size_t at : {0, 1, 31, 63}) REQUIRE(set_is_right(at, -1, bytes));
  });
}

int sign(int number) {
  return (number > 0) - (number < 0);
}

// Compares two runs that differ first at `at`, and after that in the opposite direction.
bool comparison_is_right(Byte* a, Byte* b, std::size_t bytes, std::size_t at) {
  fill(a, bytes);
  fill(b, bytes);
  if (janus_memcmp(a, b, bytes) != 0) return false;
  a[at] = 0x7f;
  b[at] = 0x80;  // larger as an unsigned byte, smaller as a signed one
  for (std::size_t i = at + 1; i < bytes; ++i) b[i] = static_cast<Byte>(a[i] - 1);
  return sign(janus_memcmp(a, b, bytes)) == -1 && sign(janus_memcmp(b, a, bytes)) == 1;
}

TEST(memory_routines, memcmp_finds_the_first_difference_wherever_it_is) {
  for_each_variant([] {
    for (std::size_t bytes = 1; bytes <= 300; ++bytes)
      for (std::size_t at = 0; at < bytes; at += bytes < 70 ? 1 : 3)
        REQUIRE(comparison_is_right(area + 1, area + 1024 + at % 32, bytes, at));
  });
}

TEST(memory_routines, memcmp_of_long_runs) {
  for_each_variant([] {
    for (std::size_t at : {0, 63, 64, 127, 128, 8000, 16000, 16382, 16383})
      REQUIRE(comparison_is_right(area, area + 20000, 16384, at));
  });
}

TEST(memory_routines, memcmp_of_nothing_is_equal) {
  CHECK_EQ(janus_memcmp(area, area + 1, 0), 0);
}

// A readable page between two unreadable ones, or nullptr.
Byte* lonely_page() {
  std::byte* pages = janus::platform::map(3 * kPage);
  if (pages == nullptr) return nullptr;
  std::size_t guarded = 0;
  (void)janus::platform::guard(pages, 2 * kPage, 2, kPage, guarded);
  return guarded == 2 ? reinterpret_cast<Byte*>(pages) + kPage : nullptr;
}

TEST(memory_routines, nothing_is_touched_beyond_either_end) {
  Byte* page = lonely_page();
  if (page == nullptr) SKIP("this machine makes no guard pages");
  for_each_variant([page] {
    for (std::size_t bytes = 0; bytes <= 600; ++bytes) {
      Byte* const last = page + kPage - bytes;
      janus_memset(page, 7, bytes);
      janus_memset(last, 7, bytes);
      janus_memcpy(page, last, bytes);
      janus_memcpy(last, page, bytes);
      REQUIRE(janus_memcmp(page, last, bytes) == 0);
    }
    janus_memset(page, 9, kPage);
    REQUIRE(janus_memmove(page, page + 1, kPage - 1) == page);
    REQUIRE(janus_memmove(page + 1, page, kPage - 1) == page + 1);
  });
}

// True if the upper halves of the ymm registers are in their initial state (XINUSE). SSE code in the caller relies on
// that.
bool upper_halves_are_clean() {
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) == 0;
}

TEST(memory_routines, the_upper_halves_of_the_vector_registers_are_left_clean) {
  if (!janus::arch::features().has(Features::kAvx2)) SKIP("no AVX2");
  if ((janus::arch::cpuid(0xd, 1).eax & 4) == 0) SKIP("this processor does not tell");
  asm volatile("vzeroupper");
  if (!upper_halves_are_clean()) SKIP("this processor says that they are always in use");  // the case on an emulator
  for_each_variant([] {
    for (std::size_t bytes : {64, 129, 700, 3000, 9000}) {
      asm volatile("vzeroupper");
      janus_memcpy(area, area + 100000, bytes);
      CHECK(upper_halves_are_clean());
      janus_memmove(area + 5, area, bytes);
      CHECK(upper_halves_are_clean());
      janus_memset(area, 0, bytes);
      CHECK(upper_halves_are_clean());
      CHECK_NE(janus_memcmp(area, area + 50000, 1) + 1000, 0);
      CHECK_EQ(janus_memcmp(area, area, bytes), 0);
      CHECK(upper_halves_are_clean());
    }
  });
}

TEST(memory_routines, the_first_long_run_finds_out_what_the_processor_can_do) {
  const std::uint32_t real = janus::arch::features().bits();
  for (int routine = 0; routine < 3; ++routine) {
    janus_cpu_features = 0;
    fill(area, 1024);
    if (routine == 0) CHECK(janus_memcpy(area + 512, area, 300) == area + 512);
    if (routine == 1) CHECK(janus_memset(area + 512, 3, 300) == area + 512);
    if (routine == 2) CHECK_EQ(janus_memcmp(area, area, 300), 0);
    if (routine == 0) CHECK(moved_right(area, 1024, 512, 0, 300));
    if (routine == 1) CHECK(area[511] == pattern(511) && area[512] == 3 && area[811] == 3 && area[812] == pattern(812));
    CHECK_EQ(janus_cpu_features, real);
  }
}

}  // namespace
