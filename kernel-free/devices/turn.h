// SPDX-License-Identifier: Apache-2.0
// turn.h — holds a lock for as long as a device takes, which is long: interrupts stay on, so that requests are answered
// and threads take turns. A thread that waits for the lock spins. The stack that is needed below is touched first, as
// in lock.h: a task that overflows does so where it holds no lock.
#pragma once

#include <arch/cpu.h>

#include "kernel-free/smp/lock.h"

namespace janus::bare {

class Turn {
 public:
  explicit Turn(Lock& lock) noexcept : lock_(lock) {
    touch_stack<kDeviceStack>();  // with the sections of other locks that are entered within
    while (!lock_.try_lock()) arch::pause();
  }
  ~Turn() { lock_.unlock(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Lock& lock_;
};

}  // namespace janus::bare
