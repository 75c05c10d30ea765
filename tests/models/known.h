// SPDX-License-Identifier: Apache-2.0
// tests/models/known.h — the set of states that have been seen, by a digest of 128 bits of each: with ten million
// states, the chance that two have the same digest is less than one in 10^24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace janus::model {

class KnownStates {
 public:
  KnownStates() { clear(); }

  void clear() {
    places_.assign(std::size_t{1} << 14, {});
    size_ = 0;
  }
  std::size_t size() const { return size_; }

  // False: the state is already in the set.
  bool add(const std::byte* bytes, std::size_t count) {
    if (2 * size_ >= places_.size()) grow();
    if (!insert(places_, digest(bytes, count))) return false;
    ++size_;
    return true;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  struct Digest {
    std::uint64_t low = 0, high = 0;
  };

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  // Two multiplicative hashes with different constants. `count` is a multiple of 8.
  static Digest digest(const std::byte* bytes, std::size_t count) {
    Digest d{0x9e3779b97f4a7c15 ^ count, 0xd1b54a32d192ed03};
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      d.low = fold(d.low ^ word, 0xa0761d6478bd642f) + i;
      d.high = fold(d.high + word, 0xe7037ed1a0b428db) ^ (word << 1);
    }
    d.low |= 1;  // 0 is a free place
    return d;
  }
  static bool insert(std::vector<Digest>& places, Digest d) {
    std::size_t at = d.low >> 1;
    for (;; ++at) {
      Digest& place = places[at & (places.size() - 1)];
      if (place.low == d.low && place.high == d.high) return false;
      if (place.low != 0) continue;
      place = d;
      return true;
    }
  }
  void grow() {
    std::vector<Digest> larger(4 * places_.size());
    for (const Digest& d : places_)
      if (d.low != 0) (void)insert(larger, d);
    places_.swap(larger);
  }

  std::vector<Digest> places_;
  std::size_t size_ = 0;
};

}  // namespace janus::model
