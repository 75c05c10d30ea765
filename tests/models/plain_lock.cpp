// SPDX-License-Identifier: Apache-2.0
// plain_lock.cpp — replaces rt/base/spinlock.cpp in models of code that uses locks: a thread that waits for a lock
// tries again when memory has changed. spinlock_model_test.cpp models how it sleeps.
#include "rt/base/spinlock.h"

namespace janus {

void SpinLock::lock_slow() noexcept {
  while (!try_lock()) pause();
}

void SpinLock::wake_one() noexcept {}

}  // namespace janus
