// SPDX-License-Identifier: Apache-2.0
// arch/linux/process/fence.cpp — a fence in every thread of the process, by membarrier's expedited form.
#include "arch/linux/kernel_call.h"
#include "arch/linux/once.h"
#include "rt/platform.h"

namespace janus::platform {

using namespace janus::kernel;

namespace {

Once g_tried;
bool g_registered = false;

void register_process() {
  g_registered = call(kMembarrier, kMembarrierRegisterPrivate, 0) == 0;
}

}  // namespace

bool has_heavy_fence() noexcept {
  g_tried.run(register_process);
  return g_registered;
}

void heavy_fence() noexcept {
  if (!has_heavy_fence()) return;
  if (call(kMembarrier, kMembarrierPrivate, 0) == 0) return;
  call(kMembarrier, kMembarrierRegisterPrivate, 0);  // the registration was lost, as in a host that cloned its memory
  long result;
  do result = call(kMembarrier, kMembarrierPrivate, 0);
  while (result == -kENOMEM);
  if (result != 0) abort();  // a filter was installed later; without the fence tasks could be lost
}

}  // namespace janus::platform
