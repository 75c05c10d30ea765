// SPDX-License-Identifier: Apache-2.0
#include "rt/base/rng.h"

#include "tests/harness/test.h"

namespace {

using janus::Rng;
using janus::splitmix64;

constexpr std::uint64_t kSeed = 1234567;

// __builtin_popcount would need libgcc, which a freestanding test does not have.
unsigned count_ones(std::uint64_t word) {
  unsigned ones = 0;
  for (; word != 0; word &= word - 1) ++ones;
  return ones;
}

// A matrix over GF(2), 256 by 256 bits: row i names the bits of the old state whose sum is bit i of the new one.
struct Matrix {
  std::uint64_t rows[256][4];
};

void multiply(const Matrix& a, const Matrix& b, Matrix& out) {
  for (unsigned row = 0; row < 256; ++row) {
    std::uint64_t sum[4] = {};
    for (unsigned i = 0; i < 256; ++i) {
      if (((a.rows[row][i / 64] >> (i % 64)) & 1) == 0) continue;
      for (unsigned word = 0; word < 4; ++word) sum[word] ^= b.rows[i][word];
    }
    for (unsigned word = 0; word < 4; ++word) out.rows[row][word] = sum[word];
  }
}

// One step of the generator as a matrix: column i is the state that follows a state with only bit i set.
void make_step(Matrix& step) {
  step = Matrix{};
  for (unsigned column = 0; column < 256; ++column) {
    std::uint64_t state[4] = {};
    state[column / 64] = std::uint64_t{1} << (column % 64);
    Rng rng = Rng::from_state(state);
    (void)rng.next();
    for (unsigned row = 0; row < 256; ++row) {
      const std::uint64_t bit = (rng.state()[row / 64] >> (row % 64)) & 1;
      step.rows[row][column / 64] |= bit << (column % 64);
    }
  }
}

void apply(const Matrix& matrix, const std::uint64_t (&state)[4], std::uint64_t (&out)[4]) {
  for (std::uint64_t& word : out) word = 0;
  for (unsigned row = 0; row < 256; ++row) {
    std::uint64_t sum = 0;
    for (unsigned word = 0; word < 4; ++word) sum ^= matrix.rows[row][word] & state[word];
    out[row / 64] |= std::uint64_t{count_ones(sum) & 1} << (row % 64);
  }
}

TEST(rng, splitmix64_gives_the_published_sequence) {
  std::uint64_t state = kSeed;
  CHECK_EQ(splitmix64(state), 6457827717110365317u);
  CHECK_EQ(splitmix64(state), 3203168211198807973u);
  CHECK_EQ(splitmix64(state), 9817491932198370423u);
  CHECK_EQ(splitmix64(state), 4593380528125082431u);
  CHECK_EQ(splitmix64(state), 16408922859458223821u);
}

TEST(rng, xoshiro_gives_the_published_sequence) {
  Rng rng = Rng::from_state({1, 2, 3, 4});
  const std::uint64_t published[] = {11520,
                                     0,
                                     1509978240,
                                     1215971899390074240,
                                     1216172134540287360,
                                     607988272756665600,
                                     16172922978634559625u,
                                     8476171486693032832,
                                     10595114339597558777u,
                                     2904607092377533576};
  for (const std::uint64_t number : published) CHECK_EQ(rng.next(), number);
}

TEST(rng, a_jump_is_two_to_the_128th_steps) {
  static Matrix power;
  static Matrix square;
  make_step(power);
  for (unsigned i = 0; i < 128; ++i) {
    multiply(power, power, square);
    power = square;
  }
  Rng rng(kSeed);
  std::uint64_t expected[4];
  apply(power, rng.state(), expected);
  rng.jump();
  for (unsigned i = 0; i < 4; ++i) CHECK_EQ(rng.state()[i], expected[i]);
}

TEST(rng, the_same_seed_gives_the_same_numbers_and_another_seed_others) {
  Rng a(kSeed);
  Rng b(kSeed);
  Rng c(kSeed + 1);
  unsigned same = 0;
  for (unsigned i = 0; i < 100; ++i) {
    const std::uint64_t number = a.next();
    CHECK_EQ(b.next(), number);
    same += c.next() == number ? 1 : 0;
  }
  CHECK_EQ(same, 0);
}

TEST(rng, seed_zero_is_as_good_as_any) {
  Rng rng(0);
  unsigned ones = 0;
  for (unsigned i = 0; i < 1000; ++i) ones += count_ones(rng.next());
  CHECK_GT(ones, 31'000u);  // expected: 32,000; standard deviation: 126
  CHECK_LT(ones, 33'000u);
}

TEST(rng, workers_have_streams_of_their_own) {
  constexpr unsigned kWorkers = 64;
  std::uint64_t firsts[kWorkers];
  for (unsigned i = 0; i < kWorkers; ++i) firsts[i] = Rng::for_worker(kSeed, i).next();
  for (unsigned i = 0; i < kWorkers; ++i) {
    for (unsigned j = 0; j < i; ++j) CHECK_NE(firsts[i], firsts[j]);
  }
  CHECK_EQ(Rng::for_worker(kSeed, 7).next(), firsts[7]);
}

TEST(rng, below_stays_below_and_reaches_every_number) {
  Rng rng(kSeed);
  CHECK_EQ(rng.below(1), 0);
  unsigned counts[10] = {};
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::uint64_t number = rng.below(10);
    REQUIRE(number < 10);
    ++counts[number];
  }
  for (const unsigned count : counts) {
    CHECK_GT(count, 850u);  // expected: 1,000; standard deviation: 30
    CHECK_LT(count, 1150u);
  }
  const std::uint64_t most = ~std::uint64_t{0};
  for (unsigned i = 0; i < 100; ++i) CHECK_LT(rng.below(most), most);
}

}  // namespace
