// SPDX-License-Identifier: Apache-2.0
// sort_test.cpp: qsort sorts any input within n log n comparisons and within the array; bsearch finds what is there.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/harness/test.h"
#include "tests/linker/c/runtime.h"

extern "C" void jc_qsort(void* items, std::size_t count, std::size_t bytes, int (*compare)(const void*, const void*));
extern "C" void* jc_bsearch(const void* key, const void* items, std::size_t count, std::size_t bytes,
                            int (*compare)(const void*, const void*));

namespace {

std::uint64_t comparisons;

int by_value(const void* left, const void* right) {
  comparisons++;
  const auto l = *static_cast<const std::uint32_t*>(left), r = *static_cast<const std::uint32_t*>(right);
  return l < r ? -1 : l > r;
}

std::vector<std::uint32_t> pattern(int kind, std::uint32_t count) {
  std::minstd_rand random{count + 1};
  std::vector<std::uint32_t> items(count);
  for (std::uint32_t i = 0; i < count; i++) {
    const std::uint32_t shapes[] = {static_cast<std::uint32_t>(random()), i,      count - i,         7, i % 2,
                                    i < count / 2 ? i : count - i,        i % 17, (i * 7919) % count};
    items[i] = shapes[kind];
  }
  return items;
}

constexpr int kPatterns = 8;

// 5 n log2 n, plus a constant for short arrays. Quicksort needs about 1.2 n log2 n, heap sort 2 n log2 n, and both in
// turn less than 4 n log2 n.
std::uint64_t bound(std::uint64_t count) {
  return count < 2 ? 0 : 5 * count * (64 - static_cast<std::uint64_t>(__builtin_clzll(count))) + 100;
}

}  // namespace

TEST(sort, every_shape_and_size_is_sorted_in_n_log_n) {
  for (std::uint32_t count : {0u, 1u, 2u, 3u, 11u, 12u, 13u, 14u, 100u, 1000u, 4096u, 50000u})
    for (int kind = 0; kind < kPatterns; kind++) {
      auto items = pattern(kind, count), expected = items;
      comparisons = 0;
      jc_qsort(items.data(), items.size(), 4, by_value);
      std::sort(expected.begin(), expected.end());
      CHECK(items == expected);
      CHECK_LE(comparisons, bound(count));
    }
}

namespace {

// McIlroy's adversary for quicksort: decides the order during the comparisons, always to the sorter's disadvantage.
std::vector<int> rank;
int fixed, candidate, gas;

int adversary(const void* left, const void* right) {
  comparisons++;
  const int l = *static_cast<const int*>(left), r = *static_cast<const int*>(right);
  if (rank[l] == gas && rank[r] == gas) rank[l == candidate ? l : r] = fixed++;
  if (rank[l] == gas)
    candidate = l;
  else if (rank[r] == gas)
    candidate = r;
  return rank[l] - rank[r];
}

}  // namespace

TEST(sort, an_adversary_cannot_make_it_quadratic) {
  constexpr int kCount = 20000;
  rank.assign(kCount, gas = kCount);
  fixed = candidate = 0;
  std::vector<int> items(kCount);
  for (int i = 0; i < kCount; i++) items[i] = i;
  comparisons = 0;
  jc_qsort(items.data(), items.size(), sizeof(int), adversary);
  CHECK_LE(comparisons, bound(kCount));
  for (int i = 1; i < kCount; i++) REQUIRE(rank[items[i - 1]] <= rank[items[i]]);
}

TEST(sort, items_of_any_size_move_as_a_whole) {
  std::minstd_rand random{3};
  for (std::size_t bytes : {5u, 8u, 24u, 63u, 64u, 65u, 200u}) {
    constexpr std::size_t kCount = 300;
    std::vector<unsigned char> items(kCount * bytes);
    for (std::size_t i = 0; i < kCount; i++) {
      const auto key = static_cast<std::uint32_t>(random() % 1000);
      memcpy(&items[i * bytes], &key, 4);
      for (std::size_t at = 4; at < bytes; at++) items[i * bytes + at] = static_cast<unsigned char>(key * 31 + at);
    }
    jc_qsort(items.data(), kCount, bytes, by_value);
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < kCount; i++) {
      std::uint32_t key;
      memcpy(&key, &items[i * bytes], 4);
      REQUIRE(last <= key);
      last = key;
      for (std::size_t at = 4; at < bytes; at++)
        REQUIRE(items[i * bytes + at] == static_cast<unsigned char>(key * 31 + at));
    }
  }
}

namespace {
std::minstd_rand whim{9};
int at_random(const void*, const void*) {
  return static_cast<int>(whim() % 3) - 1;
}
int always_less(const void*, const void*) {
  return -1;
}
int always_greater(const void*, const void*) {
  return 1;
}
}  // namespace

TEST(sort, a_comparison_without_sense_keeps_to_the_array_and_its_items) {
  for (auto compare : {at_random, always_less, always_greater})
    for (std::uint32_t count : {2u, 12u, 13u, 40u, 1000u}) {
      std::vector<std::uint32_t> items(count + 2);
      for (std::uint32_t i = 0; i < items.size(); i++) items[i] = i;
      jc_qsort(items.data() + 1, count, 4, compare);
      CHECK_EQ(items.front(), 0u);
      CHECK_EQ(items.back(), count + 1);
      std::sort(items.begin(), items.end());
      for (std::uint32_t i = 0; i < items.size(); i++) REQUIRE(items[i] == i);
    }
}

TEST(sort, bsearch_finds_all_that_is_there_and_nothing_else) {
  for (std::uint32_t count = 0; count < 70; count++) {
    std::vector<std::uint32_t> items(count);
    for (std::uint32_t i = 0; i < count; i++) items[i] = 2 * i + 1;
    for (std::uint32_t key = 0; key <= 2 * count + 1; key++) {
      const auto* found = static_cast<std::uint32_t*>(jc_bsearch(&key, items.data(), count, 4, by_value));
      if (key % 2 == 1 && key < 2 * count)
        REQUIRE(found == &items[key / 2]);
      else
        REQUIRE(found == nullptr);
    }
  }
}

// The comparison itself is free here; the loops of qsort and bsearch around it must be charged.
TEST(sort, its_steps_are_paid_for_a_few_at_a_time) {
  for (int kind = 0; kind < kPatterns; kind++) {
    std::vector<std::uint32_t> items = pattern(kind, 10000);
    comparisons = runtime::paid = runtime::most_paid = 0;
    jc_qsort(items.data(), items.size(), sizeof(std::uint32_t), by_value);
    CHECK_GE(runtime::paid + 64, comparisons);
    CHECK_LE(runtime::most_paid, 1024u);
  }
  static char large[2][1 << 20];
  large[0][0] = 1;
  runtime::paid = runtime::most_paid = 0;
  jc_qsort(large, 2, sizeof large[0], [](const void* left, const void* right) {
    return *static_cast<const char*>(left) - *static_cast<const char*>(right);
  });
  CHECK_EQ(large[1][0], 1);
  CHECK_GE(runtime::paid, (1u << 20) / 4096);
  CHECK_LE(runtime::most_paid, 1024u);
}
