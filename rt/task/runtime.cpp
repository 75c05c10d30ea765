// SPDX-License-Identifier: Apache-2.0
// rt/task/runtime.cpp — which worker and task the calling thread is.
#include "rt/task/runtime.h"

namespace janus {

Worker* worker_of(const Runtime& runtime) noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr && worker->runtime == &runtime ? worker : nullptr;
}

Task* calling_task() noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr ? current_task(*worker) : nullptr;
}

}  // namespace janus
