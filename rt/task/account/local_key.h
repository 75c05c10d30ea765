// SPDX-License-Identifier: Apache-2.0
// rt/task/account/local_key.h — a key for task-local values and its destructor: two words that are read without a lock.
// docs/decisions/0243
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"

namespace janus {

// INVARIANT own-destructor: destructor_of(key) is the one that was published with that very key, or nullptr.
//   publish: 1 store the destructor (release)   2 store the key (release)
//   clear:   1 store key 0                      2 store no destructor
//   read:    1 load the key (acquire)           2 load the destructor (acquire)   3 load the key again
// Step 1 of a read pairs with step 2 of the publish. If step 2 of a read finds the destructor of a later key, it pairs
// with step 1 of that publish, before which the key was cleared; so step 3 finds a different key, since none is used
// twice.
// tests/models/local_key_model_test.cpp
class LocalKey {
 public:
  using Destroy = void (*)(void*);

  // One writer at a time. Precondition: the place has no key now, and has never had this one.
  void publish(std::uint32_t key, Destroy destroy) noexcept {
    destroy_.store(destroy, std::memory_order_release);
    key_.store(key, std::memory_order_release);
  }
  void clear() noexcept {
    key_.store(0, std::memory_order_relaxed);
    destroy_.store(nullptr, std::memory_order_relaxed);
  }

  // Any thread. 0: the place is free.
  [[nodiscard]] std::uint32_t key() const noexcept { return key_.load(std::memory_order_acquire); }
  [[nodiscard]] Destroy destructor_of(std::uint32_t key) const noexcept {
    if (key_.load(std::memory_order_acquire) != key) return nullptr;
    const Destroy destroy = destroy_.load(std::memory_order_acquire);
    return key_.load(std::memory_order_relaxed) == key ? destroy : nullptr;
  }

 private:
  Atomic<std::uint32_t> key_{0};
  Atomic<Destroy> destroy_{nullptr};
};

}  // namespace janus
