// SPDX-License-Identifier: Apache-2.0
// rt/base/siphash.h — SipHash-1-3 (Aumasson and Bernstein, 2012) of one word: without the key, results cannot be
// predicted from others.
#pragma once

#include <bit>
#include <cstdint>

namespace janus {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  constexpr void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
};

constexpr std::uint64_t siphash_1_3(const std::uint64_t (&key)[2], std::uint64_t word) noexcept {
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                 key[1] ^ 0x7465646279746573};
  const std::uint64_t blocks[] = {word, std::uint64_t{8} << 56};
  for (const std::uint64_t block : blocks) {
    state.v3 ^= block;
    state.round();
    state.v0 ^= block;
  }
  state.v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace janus
