// SPDX-License-Identifier: Apache-2.0
// slot.cpp — the worker slot at the gs base, which the C library does not use. 0: never set. By the FSGSBASE
// instructions where the kernel allows them: the C ABI asks on every call.
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <arch/worker_slot.h>
#include "rt/platform.h"

namespace janus::platform {
namespace {

constexpr unsigned long kFsgsbase = 2;  // in AT_HWCAP2

bool has_instructions() noexcept {
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

}  // namespace

void set_worker_slot(void* slot) noexcept {
  if (has_instructions()) return arch::write_gs_base(reinterpret_cast<std::uint64_t>(slot));
  ::syscall(SYS_arch_prctl, ARCH_SET_GS, slot);
}

void* worker_slot() noexcept {
  if (has_instructions()) return reinterpret_cast<void*>(arch::read_gs_base());
  void* slot = nullptr;
  ::syscall(SYS_arch_prctl, ARCH_GET_GS, &slot);
  return slot;
}

}  // namespace janus::platform
