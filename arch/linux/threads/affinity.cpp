// SPDX-License-Identifier: Apache-2.0
// arch/linux/threads/affinity.cpp — pinning. Keeps the mask from before the first pin: a thread started by a pinned
// worker inherits one CPU, and a second runtime made by it must still see all CPUs.
#include "arch/linux/threads/affinity.h"

#include "arch/linux/kernel_call.h"
#include "arch/linux/once.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

CpuMask g_before;
std::atomic<bool> g_pinned{false};
Once g_remembered;

void read_mask(CpuMask& out) {
  out = CpuMask{};
  if (failed(call(kSchedGetaffinity, 0, sizeof out, &out))) out.words[0] = 1;
}

}  // namespace

void allowed_cpus(CpuMask& out) noexcept {
  if (g_pinned.load(std::memory_order_acquire))  // pairs with pin_here
    out = g_before;
  else
    read_mask(out);
}

void pin(long thread, int cpu) noexcept {
  if (cpu < 0) {
    if (g_pinned.load(std::memory_order_acquire)) call(kSchedSetaffinity, thread, sizeof g_before, &g_before);
    return;
  }
  g_remembered.run([] { read_mask(g_before); });
  g_pinned.store(true, std::memory_order_release);  // pairs with the loads above
  CpuMask one{};
  if (static_cast<unsigned>(cpu) >= sizeof one * 8) return;
  one.words[cpu / 64] = std::uint64_t{1} << (cpu % 64);
  call(kSchedSetaffinity, thread, sizeof one, &one);
}

}  // namespace janus::kernel

namespace janus::platform {

int thread_id() noexcept {
  return static_cast<int>(kernel::call(kernel::kGettid));
}

void pin_thread(int thread, int cpu) noexcept {
  kernel::pin(thread, cpu);
}

}  // namespace janus::platform
