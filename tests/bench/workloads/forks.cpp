// SPDX-License-Identifier: Apache-2.0
// forks.cpp: fork_join, parallel_sort and parallel_reduce of janus/rt.hpp.
#include <janus/rt.hpp>

#include "bench.h"

namespace {

long fib(long n) {
  if (n < 2) return n;
  auto [left, right] = janus::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return left.value() + right.value();
}

// Random numbers that every peer makes in the same way (xorshift64).
struct Numbers {
  explicit Numbers(long size) : count(size) {
    first = static_cast<std::uint32_t*>(janus_alloc(static_cast<std::size_t>(size) * sizeof *first));
    EXPECT(first != nullptr);
    std::uint64_t state = 88172645463325252;
    for (std::uint32_t& number : *this) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      number = static_cast<std::uint32_t>(state >> 16);
    }
  }
  ~Numbers() { janus_free(first); }
  std::uint32_t* begin() const { return first; }
  std::uint32_t* end() const { return first + count; }

  std::uint32_t* first;
  long count;
};

}  // namespace

extern "C" {

// fib(size) by fork_join; the operations are its forks.
void bench_fork(long size, int workers) {
  (void)workers;
  long forks = 0, before = 0, a = 0, b = 1;
  for (long i = 0; i < size; ++i) {
    const long next = a + b, now = i == 0 ? 0 : forks + before + 1;
    a = b;
    b = next;
    before = forks;
    forks = now;
  }
  EXPECT(forks > 0);
  fib(size > 29 ? 25 : size / 2);
  const std::uint64_t start = janus_now_ns();
  const long result = fib(size);
  const std::uint64_t end = janus_now_ns();
  EXPECT(result == a);
  figure("ns", static_cast<std::int64_t>(end - start), forks);
}

// Sorts `size` random 32-bit numbers.
void bench_sort(long size, int workers) {
  (void)workers;
  const Numbers numbers(size);
  const std::uint64_t start = janus_now_ns();
  janus::parallel_sort(numbers).value();
  const std::uint64_t end = janus_now_ns();
  for (long i = 1; i < size; ++i) EXPECT(numbers.first[i - 1] <= numbers.first[i]);
  figure("ms", static_cast<std::int64_t>(end - start), 1000000);
}

// Adds `size` 32-bit numbers up in 64 bits, ten times.
void bench_reduce(long size, int workers) {
  (void)workers;
  const Numbers numbers(size);
  std::uint64_t expected = 0;
  for (const std::uint32_t number : numbers) expected += number;
  const std::uint64_t start = janus_now_ns();
  for (int round = 0; round < 10; ++round) {
    const auto sum = janus::parallel_reduce(
        numbers, std::uint64_t{0}, [](std::uint32_t number) { return std::uint64_t{number}; },
        [](std::uint64_t a, std::uint64_t b) { return a + b; });
    EXPECT(sum.value() == expected);
  }
  const std::uint64_t end = janus_now_ns();
  figure("ms", static_cast<std::int64_t>(end - start), 10000000);
}

}  // extern "C"
