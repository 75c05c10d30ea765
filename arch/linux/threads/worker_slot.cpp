// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/worker_slot.cpp — the gs base: by instruction where the kernel allows it, else by system call.
#include "arch/linux/kernel_call.h"
#include "arch/linux/start/auxv.h"
#include "rt/platform.h"

namespace janus::platform {
namespace {

enum class Way : std::uint8_t { kUnknown, kInstruction, kSystemCall };

// Found out by the first caller; two that come together find the same.
std::atomic<Way> g_way{Way::kUnknown};

Way way() {
  const Way known = g_way.load(std::memory_order_relaxed);
  if (known != Way::kUnknown) [[likely]]
    return known;
  const bool allowed = (kernel::aux_value(kernel::kAuxHwcap2, 0) & kernel::kHwcap2Fsgsbase) != 0;
  const Way found = allowed ? Way::kInstruction : Way::kSystemCall;
  g_way.store(found, std::memory_order_relaxed);
  return found;
}

}  // namespace

void set_worker_slot(void* slot) noexcept {
  if (way() == Way::kInstruction)
    asm volatile("wrgsbase %0" ::"r"(slot) : "memory");
  else
    kernel::call(kernel::kArchPrctl, kernel::kArchSetGs, slot);
}

void* worker_slot() noexcept {
  void* slot = nullptr;
  if (way() == Way::kInstruction)
    asm volatile("rdgsbase %0" : "=r"(slot)::"memory");
  else
    kernel::call(kernel::kArchPrctl, kernel::kArchGetGs, &slot);
  return slot;
}

}  // namespace janus::platform
