// SPDX-License-Identifier: Apache-2.0
// plain_lock.cpp — stands in for rt/base/spinlock.cpp in a model of what locks guard: who waits for a lock looks again when
// something has changed. How it sleeps has a model of its own, spinlock_model_test.cpp.
#include "rt/base/spinlock.h"

namespace janus {

void SpinLock::lock_slow() noexcept {
  while (!try_lock()) pause();
}

void SpinLock::wake_one() noexcept {}

}  // namespace janus
