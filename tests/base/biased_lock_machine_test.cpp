// SPDX-License-Identifier: Apache-2.0
// biased_lock_machine_test.cpp — what the lock uses of the platform: one heavy fence each time that an owner loses the
// lock. Without a heavy fence the lock never has an owner.
#include "rt/base/biased_lock.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/harness/test.h"

namespace {

namespace fake_platform = janus::fake_platform;
using janus::BiasedLock;
using janus::LockOwner;

TEST(biased_lock_machine, without_a_heavy_fence_no_worker_becomes_the_owner) {
  for (const bool has_fence : {false, true}) {
    fake_platform::reset();
    fake_platform::set_heavy_fence(has_fence);
    const bool may_own = janus::platform::has_heavy_fence();  // false where the real platform has no heavy fence
    BiasedLock lock;
    lock.init(true);
    LockOwner me;
    unsigned biased = 0;
    for (int i = 0; i < 1000; ++i) {
      const BiasedLock::Hold hold = lock.lock(&me);
      biased += hold == BiasedLock::Hold::kBiased;
      lock.unlock(&me, hold);
    }
    CHECK_EQ(biased != 0, may_own);
    if (!has_fence) CHECK(!may_own);
  }
}

TEST(biased_lock_machine, each_owner_is_shut_out_by_one_heavy_fence) {
  fake_platform::reset();
  if (!janus::platform::has_heavy_fence()) return janus::test::skip("no heavy fence on this machine");
  BiasedLock lock;
  lock.init(true);
  LockOwner me;
  for (unsigned round = 1; round <= 3; ++round) {
    BiasedLock::Hold hold;
    do {
      hold = lock.lock(&me);
      lock.unlock(&me, hold);
    } while (hold != BiasedLock::Hold::kBiased);
    CHECK_EQ(fake_platform::heavy_fences(), round - 1);
    hold = lock.lock(nullptr);
    lock.unlock(nullptr, hold);
    CHECK_EQ(fake_platform::heavy_fences(), round);
  }
}

}  // namespace
