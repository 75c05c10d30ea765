// SPDX-License-Identifier: Apache-2.0
// memory_map_test.cpp — which memory the machine may use, by the arithmetic alone.
#include "kernel-free/memory/memory_map.h"

#include "tests/harness/test.h"

namespace {

using janus::bare::MemoryMap;

void check_range(const MemoryMap& map, std::size_t n, std::uint64_t begin, std::uint64_t end) {
  REQUIRE(n < map.count());
  CHECK_EQ(map[n].begin, begin);
  CHECK_EQ(map[n].end, end);
}

TEST(memory_map, ranges_come_in_order_whatever_the_order_they_are_told_in) {
  MemoryMap map;
  map.add({0x9000, 0xa000});
  map.add({0x1000, 0x3000});
  map.add({0x5000, 0x6000});
  CHECK_EQ(map.count(), 3u);
  check_range(map, 0, 0x1000, 0x3000);
  check_range(map, 1, 0x5000, 0x6000);
  check_range(map, 2, 0x9000, 0xa000);
  CHECK_EQ(map.bytes(), 0x4000u);
}

TEST(memory_map, ram_counts_in_whole_pages_and_what_is_used_in_all_it_touches) {
  MemoryMap map;
  map.add({0x1001, 0x9fff});
  check_range(map, 0, 0x2000, 0x9000);
  map.remove({0x4fff, 0x5001});
  CHECK_EQ(map.count(), 2u);
  check_range(map, 0, 0x2000, 0x4000);
  check_range(map, 1, 0x6000, 0x9000);
}

TEST(memory_map, memory_announced_twice_counts_once) {
  MemoryMap map;
  map.add({0x1000, 0x5000});
  map.add({0x3000, 0x8000});
  CHECK_EQ(map.bytes(), 0x7000u);
  map.add({0x1000, 0x8000});
  CHECK_EQ(map.bytes(), 0x7000u);
}

TEST(memory_map, removing_takes_ends_middles_and_wholes) {
  MemoryMap map;
  map.add({0x1000, 0x9000});
  map.remove({0, 0x2000});
  map.remove({0x8000, 0x20000});
  check_range(map, 0, 0x2000, 0x8000);
  map.remove({0x2000, 0x8000});
  CHECK_EQ(map.count(), 0u);
  map.remove({0x2000, 0x8000});
  CHECK_EQ(map.bytes(), 0u);
}

TEST(memory_map, senseless_ranges_change_nothing) {
  MemoryMap map;
  map.add({0x5000, 0x4000});
  map.add({~std::uint64_t{0} - 5, ~std::uint64_t{0}});
  map.add({0x1000, 0x1000});
  CHECK_EQ(map.count(), 0u);
  map.add({0x1000, 0x4000});
  map.remove({0x3000, 0x2000});
  CHECK_EQ(map.bytes(), 0x3000u);
  map.remove({0x2000, ~std::uint64_t{0}});
  CHECK_EQ(map.bytes(), 0x1000u);
}

TEST(memory_map, more_ranges_than_fit_are_left_out) {
  MemoryMap map;
  for (std::uint64_t n = 0; n < 2 * MemoryMap::kMax; ++n) map.add({n * 0x2000, n * 0x2000 + 0x1000});
  CHECK_EQ(map.count(), MemoryMap::kMax);
  map.remove({0x2000 * 5 + 0x1000, 0x2000 * 6 + 0x800});
  CHECK_EQ(map.count(), MemoryMap::kMax - 1);
}

}  // namespace
