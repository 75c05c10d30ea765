// SPDX-License-Identifier: Apache-2.0
// arch/linux/fence.cpp — a fence in every thread of the process, by membarrier's expedited form.
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
  // Owners rely on it by now, so it must not fail: a kernel short of memory is asked again, and a child that a host
  // forked may have to register once more.
  long result;
  while ((result = call(kMembarrier, kMembarrierPrivate, 0)) != 0)
    if (result == -kEPERM) call(kMembarrier, kMembarrierRegisterPrivate, 0);
}

}  // namespace janus::platform
