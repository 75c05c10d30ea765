// SPDX-License-Identifier: Apache-2.0
// replaced/rt/base/atomic.h — replaces rt/base/atomic.h when the runtime's sources are compiled for a model: the same
// words and fences, each access a step of tests/models/machine.h. Memory orders have no effect: the machine is x86-TSO,
// and reordering by compilers is not explored.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <arch/cpu.h>
#include "tests/models/machine.h"

namespace janus {

template <typename T>
class alignas(sizeof(T)) Atomic {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  using Order = std::memory_order;
  static constexpr Order kStrong = std::memory_order_seq_cst;

 public:
  constexpr Atomic() noexcept : value_{} {}
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(Order = kStrong) const noexcept { return typed(model::load(&value_, sizeof(T))); }
  operator T() const noexcept { return load(); }

  // Compilers implement a sequentially consistent store by an exchange.
  void store(T value, Order order = kStrong) noexcept {
    if (order == kStrong)
      (void)exchange(value);
    else
      model::store(&value_, sizeof(T), bits(value));
  }
  T exchange(T value, Order = kStrong) noexcept {
    return change([&](T) { return value; });
  }
  T fetch_add(T amount, Order = kStrong) noexcept {
    return change([&](T old) { return static_cast<T>(old + amount); });
  }
  T fetch_sub(T amount, Order = kStrong) noexcept {
    return change([&](T old) { return static_cast<T>(old - amount); });
  }
  T fetch_or(T mask, Order = kStrong) noexcept {
    return change([&](T old) { return static_cast<T>(old | mask); });
  }
  T fetch_and(T mask, Order = kStrong) noexcept {
    return change([&](T old) { return static_cast<T>(old & mask); });
  }
  bool compare_exchange_strong(T& expected, T desired, Order = kStrong, Order = kStrong) noexcept {
    const T wanted = expected;
    expected = change([&](T old) { return bits(old) == bits(wanted) ? desired : old; });
    return bits(expected) == bits(wanted);
  }
  bool compare_exchange_weak(T& expected, T desired, Order = kStrong, Order = kStrong) noexcept {
    return compare_exchange_strong(expected, desired);
  }

 private:
  static std::uint64_t bits(T value) noexcept {
    std::uint64_t out = 0;
    std::memcpy(&out, &value, sizeof(T));
    return out;
  }
  static T typed(std::uint64_t bits) noexcept {
    T out;
    std::memcpy(static_cast<void*>(&out), &bits, sizeof(T));
    return out;
  }
  template <typename Change>
  T change(Change change) noexcept {
    const model::Locked locked(&value_, sizeof(T));
    const T old = typed(locked.before());
    locked.set(bits(change(old)));
    return old;
  }

  T value_;
};

template <typename Word>
bool cmp_relaxed(const Atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  return word.load(std::memory_order_relaxed) == value;
}
template <typename Word>
bool cmp_acquire(const Atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  return word.load(std::memory_order_acquire) == value;
}
template <typename Word>
bool is_less_relaxed(const Atomic<Word>& word, std::type_identity_t<Word> value) noexcept {
  return word.load(std::memory_order_relaxed) < value;
}
template <typename Word>
Word difference_relaxed(std::type_identity_t<Word> value, const Atomic<Word>& word) noexcept {
  return value - word.load(std::memory_order_relaxed);
}
template <typename Word>
void subtract_as_owner(Atomic<Word>& word, std::type_identity_t<Word> amount) noexcept {
  word.store(word.load(std::memory_order_relaxed) - amount, std::memory_order_relaxed);
}
inline void compiler_barrier() noexcept {}
inline void full_fence() noexcept {
  model::fence();
}
inline void pause() noexcept {
  model::wait_for_change();
}
constexpr std::uint32_t tunable(std::uint32_t, std::uint32_t in_model) noexcept {
  return in_model;
}

// The functions that rt/platform.h declares for std::atomic.
namespace platform {
inline void wait(Atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  model::sleep(&word, seen, until_ns == ~std::uint64_t{0});
}
inline void wake(Atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  model::wake(&word, count);
}
}  // namespace platform

}  // namespace janus
