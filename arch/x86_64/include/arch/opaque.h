// SPDX-License-Identifier: Apache-2.0
// opaque.h — a relaxed load and a comparison in one instruction, for which compilers use two. For the few paths on
// which every instruction counts.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace janus::arch {

// Whether `word` is `value`. Does not order later accesses.
template <typename Word>
[[nodiscard, gnu::always_inline]] inline bool cmp_relaxed(const std::atomic<Word>& word,
                                                          std::type_identity_t<Word> value) noexcept {
  bool equal;
  if constexpr (sizeof(word) == 1) {
    asm volatile("cmpb %2, %1" : "=@cce"(equal) : "m"(word), "qi"(static_cast<std::uint8_t>(value)));
  } else if constexpr (sizeof(word) == 4) {
    asm volatile("cmpl %2, %1" : "=@cce"(equal) : "m"(word), "re"(std::bit_cast<std::uint32_t>(value)));
  } else {
    static_assert(sizeof(word) == 8);
    asm volatile("cmpq %2, %1" : "=@cce"(equal) : "m"(word), "re"(value));
  }
  return equal;
}

// `value` less `word`.
[[nodiscard, gnu::always_inline]] inline std::int64_t difference_relaxed(
    std::int64_t value, const std::atomic<std::int64_t>& word) noexcept {
  asm volatile("subq %1, %0" : "+r"(value) : "m"(word) : "cc");
  return value;
}

// Whether `word` is less than `value`. Does not order later accesses.
template <typename Word>
[[nodiscard, gnu::always_inline]] inline bool is_less_relaxed(const std::atomic<Word>& word,
                                                              std::type_identity_t<Word> value) noexcept {
  static_assert(sizeof(Word) == 8);
  bool less;
  if constexpr (std::is_signed_v<Word>)
    asm volatile("cmpq %2, %1" : "=@ccl"(less) : "m"(word), "re"(value));
  else
    asm volatile("cmpq %2, %1" : "=@ccb"(less) : "m"(word), "re"(value));
  return less;
}

// As cmp_relaxed(), with acquire order, which the processor keeps anyway.
template <typename Word>
[[nodiscard, gnu::always_inline]] inline bool cmp_acquire(const std::atomic<Word>& word,
                                                          std::type_identity_t<Word> value) noexcept {
  const bool equal = cmp_relaxed(word, value);
  std::atomic_signal_fence(std::memory_order_acquire);
  return equal;
}

// Whether `value` is less than the lower half of `word`. Takes no register for the word, even if others use it, too.
[[nodiscard, gnu::always_inline]] inline bool is_less(std::uint32_t value, const std::uint64_t& word) noexcept {
  bool less;
  asm("cmpl %1, %2" : "=@ccb"(less) : "m"(word), "r"(value));
  return less;
}

// Whether `word` is 0. Takes no register.
[[nodiscard, gnu::always_inline]] inline bool is_zero(const std::uint32_t& word) noexcept {
  bool equal;
  asm("cmpl $0, %1" : "=@cce"(equal) : "m"(word));
  return equal;
}

// Whether `word` has none of the bits. Takes no register.
template <std::uint32_t kBits>
[[nodiscard, gnu::always_inline]] inline bool has_none(const std::uint32_t& word) noexcept {
  bool none;
  asm("testl %2, %1" : "=@cce"(none) : "m"(word), "i"(kBits));
  return none;
}

// Returns `value` in a register of its own, so that two neighbouring words are stored, and loaded, one by one: a load
// of both at once has to wait until the stores of each have left the store buffer.
template <typename Value>
[[nodiscard, gnu::always_inline]] inline Value opaque(Value value) noexcept {
  asm("" : "+r"(value));
  return value;
}

}  // namespace janus::arch
