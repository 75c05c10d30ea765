// SPDX-License-Identifier: Apache-2.0
// hash_table.cpp: the functions of the compiled C++ library that std::unordered_map, unordered_set and std::hash call:
// the number of buckets of a table, and the hash of bytes.
#include <initializer_list>

#include <bits/functional_hash.h>
#include <bits/hash_bytes.h>
#include <bits/hashtable_policy.h>

#include <cstdint>
#include <cstring>

#define WEAK [[gnu::weak]]

namespace std {

namespace {

bool is_prime(std::uint64_t n) {
  if (n % 2 == 0) return n == 2;
  for (std::uint64_t divisor = 3; divisor * divisor <= n; divisor += 2)
    if (n % divisor == 0) return false;
  return n > 1;
}

// By trial division, whose time is small compared with filling as many buckets.
std::size_t next_prime(std::size_t n) {
  if (n <= 2) return 2;
  for (n |= 1; !is_prime(n);) n += 2;
  return n;
}

constexpr std::size_t kMostBuckets = std::size_t{1} << 59;  // whose array would take 2^62 bytes

std::size_t product(std::size_t buckets, float load) {
  const double result = static_cast<double>(buckets) * static_cast<double>(load);
  return result >= 1.8e19 ? SIZE_MAX : static_cast<std::size_t>(result);
}

}  // namespace

namespace __detail {

// Returns a number of buckets: at least `count`, but at most kMostBuckets. For a `count` of 0 it is 1: the bucket inside
// the table object, which needs no heap.
WEAK std::size_t _Prime_rehash_policy::_M_next_bkt(std::size_t count) const {
  if (count == 0) return 1;
  const std::size_t buckets = count >= kMostBuckets ? kMostBuckets : next_prime(count);
  _M_next_resize = buckets == kMostBuckets ? SIZE_MAX : product(buckets, _M_max_load_factor);
  return buckets;
}

// Returns whether `more` elements in addition to `elements` need more than `buckets` buckets, and how many then.
WEAK std::pair<bool, std::size_t> _Prime_rehash_policy::_M_need_rehash(std::size_t buckets, std::size_t elements,
                                                                       std::size_t more) const {
  std::size_t wanted = elements + more;
  if (wanted <= _M_next_resize) return {false, 0};
  if (_M_next_resize == 0 && wanted < 11) wanted = 11;  // so that small tables do not grow at each step
  const double least = static_cast<double>(wanted) / static_cast<double>(_M_max_load_factor);
  if (least >= static_cast<double>(buckets)) {
    const std::size_t enough = least >= 5e17 ? kMostBuckets : static_cast<std::size_t>(least) + 1;
    return {true, _M_next_bkt(enough > 2 * buckets ? enough : 2 * buckets)};
  }
  _M_next_resize = product(buckets, _M_max_load_factor);
  return {false, 0};
}

}  // namespace __detail

namespace {

// Each bit of the input reaches each bit of the output: Stafford's variant 13 of the finaliser in MurmurHash3.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

WEAK std::size_t _Hash_bytes(const void* bytes, std::size_t count, std::size_t seed) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t hash = mixed(seed + count);
  for (; count > 0;) {
    std::uint64_t word = 0;
    const std::size_t piece = count < sizeof word ? count : sizeof word;
    std::memcpy(&word, at, piece);
    hash = mixed(hash ^ word) + 0x9e3779b97f4a7c15u;
    at += piece;
    count -= piece;
  }
  return mixed(hash);
}

// The hash of Fowler, Noll and Vo (FNV-1a).
WEAK std::size_t _Fnv_hash_bytes(const void* bytes, std::size_t count, std::size_t hash) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (; count > 0; --count) hash = (hash ^ *at++) * std::size_t{1099511628211u};
  return hash;
}

}  // namespace std
