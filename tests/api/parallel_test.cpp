// SPDX-License-Identifier: Apache-2.0
// parallel_for, parallel_reduce and parallel_sort: each element once, in any split; failures are returned.
#include <janus/rt.hpp>

#include "tests/api/counted.h"
#include "tests/api/in_task.h"
#include "tests/harness/scale.h"

namespace {

using namespace janus;
using test::Counted;
using test::scaled;

constexpr int kMost = 40'000;
int numbers[kMost];

std::uint64_t next(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  return z ^ (z >> 31);
}

// The first `count` of `numbers` as a range.
struct Part {
  int count;
  int* begin() const { return numbers; }
  int* end() const { return numbers + count; }
};

TASK_TEST(parallel_for, visits_each_element_once) {
  const int most = scaled(kMost, 5000);
  for (int count : {0, 1, 2, 63, 64, 65, 129, 1025, most}) {
    for (int& number : numbers) number = 0;
    CHECK(parallel_for(Part{count}, [](int& number) { ++number; }).ok());
    int once = 0, others = 0;
    for (int i = 0; i < kMost; ++i) (i < count ? once : others) += numbers[i];
    CHECK_EQ(once, count);
    CHECK_EQ(others, 0);
  }
  for (int grain : {-1, 0, 1, 7, 100, 1 << 30}) {
    for (int& number : numbers) number = 0;
    CHECK(parallel_for(Part{300}, grain, [](int& number) { ++number; }).ok());
    bool good = true;
    for (int i = 0; i < 400; ++i) good = good && numbers[i] == (i < 300);
    CHECK(good);
  }
}

TASK_TEST(parallel_for, takes_numbers_arrays_and_bodies_with_results) {
  std::atomic<long> sum = 0;
  CHECK(parallel_for(Numbers{-3, 1000}, [&](std::ptrdiff_t i) { sum += i; }).ok());
  CHECK_EQ(sum.load(), 499500 - 6);
  CHECK(parallel_for(Numbers{5, 5}, [&](auto) { sum = 0; }).ok());
  CHECK(parallel_for(Numbers{5, -5}, [&](auto) { sum = 0; }).ok());
  CHECK_EQ(sum.load(), 499500 - 6);
  const int array[] = {1, 2, 3};
  CHECK(parallel_for(array, [&](const int& i) -> Result<void> { return sum += i, Result<void>(); }).ok());
  CHECK_EQ(sum.load(), 499500);
}

TASK_TEST(parallel_for, the_first_failure_is_the_result_and_what_has_not_begun_does_not_begin) {
  std::atomic<int> ran = 0;
  const auto failing = [&](std::ptrdiff_t i) -> Result<void> {
    ran.fetch_add(1);
    if (i == 10 || i == 90) return Error{-100 - i, JANUS_KIND_CHILD_FAILED};
    return {};
  };
  CHECK_EQ(parallel_for(Numbers{0, 100}, 100, failing).error().code, -110);
  CHECK_EQ(ran.load(), 11);
  const std::int64_t code = parallel_for(Numbers{0, 100}, 1, failing).error().code;
  CHECK(code == -110 || code == -190);  // 90 may have failed before 10 began
  ran = 0;
  CHECK_EQ(parallel_for(Numbers{10, 12}, 1, failing).error().code, -110);
  if (test::stats_of().workers == 1) CHECK_EQ(ran.load(), 1);
  ran = 0;
  const auto panicking = [&](std::ptrdiff_t i) {
    ran.fetch_add(1);
    if (i == 0) janus_task_panic("on purpose");
  };
  CHECK_EQ(parallel_for(Numbers{0, 2000}, 1, panicking).error().code, JANUS_PANIC);
  // A worker that is alone takes the elements in order.
  if (test::stats_of().workers == 1) CHECK_LT(ran.load(), 10);
}

TASK_TEST(parallel_for, is_cancelled_with_its_caller) {
  Nursery nursery;
  std::atomic<int> ran = 0;
  auto task = nursery.spawn(
      [&ran] {
        return parallel_for(Numbers{0, 1'000'000'000}, [&](auto) { ran.fetch_add(1); });
      },
      {.stack_size = 1 << 20});  // instrumented frames are large
  CHECK(test::eventually([&] { return ran.load() > 0; }));
  nursery.cancel();
  CHECK_EQ(task.join().error().code, JANUS_CANCELLED);
  CHECK_LT(ran.load(), 1'000'000'000);
}

TASK_TEST(parallel_for, elements_and_forks_cost_ops) {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.ops = 1 << 20;
  budget.memory = 4 << 20;
  Nursery nursery({.budget = budget});
  auto task = nursery.spawn([] {
    const std::uint32_t before = janus_budget_get_current().ops;
    CHECK(parallel_for(Numbers{0, 640'000}, 640'000, [](auto) {}).ok());
    const std::uint32_t alone = before - janus_budget_get_current().ops;
    CHECK(alone >= 10'000 && alone < 10'100);
    CHECK(parallel_for(Numbers{0, 640'000}, 64'000, [](auto) {}).ok());  // 16 pieces, 15 forks
    return before - alone - janus_budget_get_current().ops;
  });
  const auto split = task.join();
  CHECK(split.value() >= 10'015 && split.value() < 10'300);
}

// x -> a * x + b, whose composition is associative and not commutative.
struct Map {
  std::uint32_t a, b;
  friend Map operator*(Map first, Map second) { return {first.a * second.a, first.b * second.a + second.b}; }
};

TASK_TEST(parallel_reduce, keeps_the_order_and_takes_the_initial_value_once) {
  for (int count : {0, 1, 2, 63, 64, 100, 2047, 2048, 2049, scaled(kMost, 5000)}) {
    const auto map_of = [](std::ptrdiff_t i) {
      const auto n = static_cast<std::uint32_t>(i);
      return Map{2 * n + 3, n ^ 0x5555};
    };
    Map expected = {7, 9};
    for (int i = 0; i < count; ++i) expected = expected * map_of(i);
    const auto result = parallel_reduce(Numbers{0, count}, Map{7, 9}, map_of, [](Map a, Map b) { return a * b; });
    CHECK_EQ(result.value().a, expected.a);
    CHECK_EQ(result.value().b, expected.b);
  }
}

TASK_TEST(parallel_reduce, moves_values_and_returns_failures) {
  struct Only {
    long sum;
    explicit Only(long value) noexcept : sum(value) {}
    Only(Only&&) noexcept = default;
    Only& operator=(Only&&) noexcept = default;
  };
  const auto make = [](auto i) { return Only(i); };
  const auto add = [](Only a, Only b) { return Only(a.sum + b.sum); };
  CHECK_EQ(parallel_reduce(Numbers{0, 1001}, Only(5), make, add).value().sum, 500505);
  const auto panicking = [](auto i) {
    if (i == 700) janus_task_panic("on purpose");
    return Only(i);
  };
  CHECK_EQ(parallel_reduce(Numbers{0, 1001}, Only(5), panicking, add).error().code, JANUS_PANIC);
}

enum Pattern { kRandom, kSorted, kReversed, kEqual, kFew, kSawtooth, kOrgan, kPatterns };

void fill(int count, int pattern, std::uint64_t& seed) {
  for (int i = 0; i < count; ++i) {
    const int random = static_cast<int>(next(seed));
    const int values[] = {random, i, -i, 5, random & 3, i % 100, i < count / 2 ? i : count - i};
    numbers[i] = values[pattern];
  }
}

template <class Less>
void check_sorted(int count, std::uint64_t sum, Less less) {
  std::uint64_t now = 0;
  bool good = true;
  for (int i = 0; i < count; ++i) {
    now += static_cast<std::uint64_t>(numbers[i]) * static_cast<std::uint64_t>(numbers[i]);
    good = good && (i == 0 || !less(numbers[i], numbers[i - 1]));
  }
  CHECK(good);
  CHECK_EQ(now, sum);
}

TASK_TEST(parallel_sort, sorts_every_pattern_of_every_size) {
  std::uint64_t seed = 1;
  const auto more = [](const int& a, const int& b) { return a > b; };
  const auto less = [](const int& a, const int& b) { return a < b; };
  const int most = scaled(kMost, 6000);
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    for (int count : {0, 1, 2, 3, 24, 25, 127, 128, 129, 500, 4096, 4097, most}) {
      fill(count, pattern, seed);
      std::uint64_t sum = 0;
      for (int i = 0; i < count; ++i)
        sum += static_cast<std::uint64_t>(numbers[i]) * static_cast<std::uint64_t>(numbers[i]);
      CHECK(parallel_sort(Part{count}).ok());
      check_sorted(count, sum, less);
      CHECK(parallel_sort(Part{count}, more).ok());
      check_sorted(count, sum, more);
    }
  }
}

// Counts comparisons, and answers so that pivots are as bad as can be (McIlroy, "A killer adversary for quicksort").
struct Adversary {
  static constexpr int kGas = 1 << 30;
  int values[6000];
  int solid = 0, candidate = 0;
  long comparisons = 0;

  bool less(int x, int y) {
    ++comparisons;
    if (values[x] == kGas && values[y] == kGas) values[x == candidate ? x : y] = solid++;
    if (values[x] == kGas)
      candidate = x;
    else if (values[y] == kGas)
      candidate = y;
    return values[x] < values[y];
  }
};

TASK_TEST(parallel_sort, bad_pivots_do_not_make_it_quadratic) {
  static Adversary adversary;
  adversary = {};
  // Below the size of a piece, so that one task makes all comparisons.
  constexpr int kCount = 4000;
  for (int i = 0; i < kCount; ++i) {
    numbers[i] = i;
    adversary.values[i] = Adversary::kGas;
  }
  // The first two are in the wrong order, so that the numbers do not turn out to be sorted.
  adversary.values[0] = 1;
  adversary.values[1] = 0;
  adversary.solid = 2;
  CHECK(parallel_sort(Part{kCount}, [&](int a, int b) { return adversary.less(a, b); }).ok());
  CHECK_LT(adversary.comparisons, 9L * kCount * 12);
  bool good = true;
  for (int i = 1; i < kCount; ++i) good = good && adversary.values[numbers[i - 1]] <= adversary.values[numbers[i]];
  CHECK(good);
}

TASK_TEST(parallel_sort, moves_elements_that_cannot_be_copied) {
  constexpr int kCount = 5000;
  auto* const all = static_cast<Counted*>(janus_alloc(kCount * sizeof(Counted)));
  std::uint64_t seed = 3;
  for (int i = 0; i < kCount; ++i) ::new (all + i) Counted(static_cast<int>(next(seed) & 0xffff));
  struct Range {
    Counted *first, *last;
    Counted* begin() const { return first; }
    Counted* end() const { return last; }
  };
  CHECK(parallel_sort(Range{all, all + kCount}, [](const Counted& a, const Counted& b) {
          return a.value() < b.value();
        }).ok());
  CHECK_EQ(Counted::alive(), kCount);
  bool good = all[0].value() >= 0;
  for (int i = 1; i < kCount; ++i) good = good && all[i - 1].value() <= all[i].value();
  CHECK(good);
  for (int i = 0; i < kCount; ++i) all[i].~Counted();
  janus_free(all);
  CHECK_EQ(Counted::alive(), 0);
}

TASK_TEST(parallel_sort, a_comparison_that_panics_is_a_failure) {
  std::uint64_t seed = 5;
  fill(20'000, kRandom, seed);
  std::atomic<int> calls = 0;
  const auto less = [&](int a, int b) {
    if (calls.fetch_add(1) == 100'000) janus_task_panic("on purpose");
    return a < b;
  };
  CHECK_EQ(parallel_sort(Part{20'000}, less).error().code, JANUS_PANIC);
}

// Moving leaves -1 behind.
struct Token {
  int value;
  explicit Token(int number) noexcept : value(number) {}
  Token(Token&& other) noexcept : value(std::exchange(other.value, -1)) {}
  Token& operator=(Token&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
};

// The next check finds nothing left, and sees a cancel.
void use_up_slice() {
  std::int64_t fuel;
  __asm__ volatile("mov %%gs:%c1, %0" : "=r"(fuel) : "i"(JANUS_FUEL_OFFSET));
  if (fuel > 0) (void)janus_yield_check(static_cast<std::uint32_t>(fuel));
}

TASK_TEST(parallel_sort, one_that_is_cancelled_loses_no_element) {
  constexpr int kCount = 20'000;
  auto* const tokens = static_cast<Token*>(janus_alloc(kCount * sizeof(Token)));
  struct Range {
    Token* first;
    Token* begin() const { return first; }
    Token* end() const { return first + kCount; }
  };
  std::uint64_t seed = 9;
  int cancelled = 0;
  for (int round = 0; round < scaled(20, 6); ++round) {
    std::uint64_t sum = 0, after = 0;
    for (int i = 0; i < kCount; ++i) {
      ::new (tokens + i) Token(static_cast<int>(next(seed) & 0xffff));
      sum += static_cast<std::uint64_t>(tokens[i].value);
    }
    Nursery nursery;
    std::atomic<int> calls = 0;
    auto task = nursery.spawn([&] {
      return parallel_sort(Range{tokens}, [&](const Token& a, const Token& b) {
        if (calls.fetch_add(1) == round * 500) {
          nursery.cancel();
          use_up_slice();
        }
        return a.value < b.value;
      });
    });
    const auto result = task.join();
    cancelled += result.ok() ? 0 : 1;
    for (int i = 0; i < kCount; ++i) {
      CHECK(tokens[i].value >= 0);
      after += static_cast<std::uint64_t>(tokens[i].value);
    }
    CHECK_EQ(after, sum);
  }
  CHECK_GT(cancelled, 0);
  janus_free(tokens);
}

}  // namespace
