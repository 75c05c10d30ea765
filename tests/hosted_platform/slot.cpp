// SPDX-License-Identifier: Apache-2.0
// slot.cpp — the worker slot at the gs base, which the C library leaves alone. 0: never set.
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt/platform.h"

namespace janus::platform {

void set_worker_slot(void* slot) noexcept {
  ::syscall(SYS_arch_prctl, ARCH_SET_GS, slot);
}

void* worker_slot() noexcept {
  void* slot = nullptr;
  ::syscall(SYS_arch_prctl, ARCH_GET_GS, &slot);
  return slot;
}

}  // namespace janus::platform
