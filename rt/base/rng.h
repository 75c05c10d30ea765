// SPDX-License-Identifier: Apache-2.0
// rt/base/rng.h — xoshiro256** (Blackman and Vigna, 2018), seeded by splitmix64. Small, fast, and with the same results
// on every machine; not for secrets.
#pragma once

#include <bit>
#include <cstdint>

namespace janus {

// Advances `state` and returns the next number of the sequence. Any seed is good, also 0.
constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  state += 0x9e3779b97f4a7c15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Rng {
 public:
  constexpr Rng() noexcept = default;  // to be assigned before use: until then all its numbers are 0
  explicit constexpr Rng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  // Precondition: not all words are 0.
  static constexpr Rng from_state(const std::uint64_t (&state)[4]) noexcept {
    Rng rng;
    for (unsigned i = 0; i < 4; ++i) rng.state_[i] = state[i];
    return rng;
  }
  [[nodiscard]] constexpr const std::uint64_t (&state() const noexcept)[4] { return state_; }

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // A number below `bound` (which is not 0), without a division. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Skips 2^128 numbers, so that the sequences of generators that are jumps apart do not overlap in practice.
  constexpr void jump() noexcept {
    constexpr std::uint64_t kJump[4] = {0x180ec6d33cfd0aba, 0xd5a61266f0c9392c, 0xa9582618e03fc9aa, 0x39abdc4529b1661c};
    std::uint64_t sum[4] = {};
    for (const std::uint64_t word : kJump) {
      for (unsigned bit = 0; bit < 64; ++bit) {
        if (((word >> bit) & 1) != 0) {
          for (unsigned i = 0; i < 4; ++i) sum[i] ^= state_[i];
        }
        (void)next();
      }
    }
    for (unsigned i = 0; i < 4; ++i) state_[i] = sum[i];
  }

  // The generator of worker `number`, with a sequence of its own that is found without generating the others.
  static constexpr Rng for_worker(std::uint64_t seed, std::uint32_t number) noexcept {
    std::uint64_t state = seed ^ (std::uint64_t{number} + 1) * 0xd1342543de82ef95;
    return Rng(splitmix64(state));
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t state_[4] = {};
};

}  // namespace janus
