// SPDX-License-Identifier: Apache-2.0
// spinlock_machine_test.cpp — what the lock uses of the platform: a thread that does not get the lock sleeps after a
// heavy fence. An unlock wakes one sleeper, and makes no system call if there is none.
#include "rt/base/spinlock.h"
#include "tests/fake_platform/fake_platform.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

TEST(spinlock_machine, a_sole_user_makes_no_system_call) {
  fake_platform::reset();
  SpinLock lock;
  for (int i = 0; i < 1000; ++i) {
    lock.lock();
    lock.unlock();
  }
  CHECK_EQ(fake_platform::waits() + fake_platform::wakes() + fake_platform::heavy_fences(), 0u);
}

// A waiter may get the lock just as it is released, before it sleeps; then the unlock has nobody to wake. So the test
// repeats until an unlock wakes a sleeper.
TEST(spinlock_machine, each_unlock_wakes_one_sleeper) {
  constexpr int kMaxRounds = 1000;
  for (const bool has_fence : {false, true}) {
    std::uint64_t woken = 0;
    for (int round = 0; round < kMaxRounds && woken == 0; ++round) {
      fake_platform::reset();
      fake_platform::set_heavy_fence(has_fence);
      const std::uint64_t fences = platform::has_heavy_fence() ? 1 : 0;  // 0 where the real platform has no heavy fence
      SpinLock lock;
      lock.lock();
      auto waiter = [&] { LockGuard guard(lock); };
      ThreadGroup threads;
      threads.start(waiter);
      while (fake_platform::waits() == 0) pause();
      CHECK_EQ(fake_platform::heavy_fences(), fences);
      const std::uint64_t woken_before = fake_platform::asked_to_wake();
      lock.unlock();
      woken = fake_platform::asked_to_wake() - woken_before;
      CHECK_LE(woken, 1u);
      threads.join();
    }
    CHECK_EQ(woken, 1u);
  }
}

}  // namespace janus::test
