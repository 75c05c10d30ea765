// SPDX-License-Identifier: Apache-2.0
// slot.cpp — the worker slot in the gs base, which the C library does not use. A thread-local variable holds it, too:
// every call of the C ABI reads the slot, and some kernels do not allow the FSGSBASE instructions.
#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <arch/worker_slot.h>
#include "rt/platform.h"

namespace janus::platform {
namespace {

constexpr unsigned long kFsgsbase = 2;  // in AT_HWCAP2

thread_local void* g_slot = nullptr;

bool has_instructions() noexcept {
  return (getauxval(AT_HWCAP2) & kFsgsbase) != 0;
}

}  // namespace

void set_worker_slot(void* slot) noexcept {
  g_slot = slot;
  if (has_instructions()) return arch::write_gs_base(reinterpret_cast<std::uint64_t>(slot));
  ::syscall(SYS_arch_prctl, ARCH_SET_GS, slot);
}

// Not inlined: a task that has changed threads must find the variable of its present thread.
[[gnu::noinline]] void* worker_slot() noexcept {
  return g_slot;
}

}  // namespace janus::platform
