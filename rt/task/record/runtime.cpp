// SPDX-License-Identifier: Apache-2.0
// rt/task/record/runtime.cpp — finds the calling thread's worker and task, and requests attention of a worker.
#include "rt/task/record/runtime.h"

namespace janus {

Worker* worker_of(const Runtime& runtime) noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr && worker->runtime == &runtime ? worker : nullptr;
}

void request_attention(Runtime& runtime) noexcept {
  runtime.scheduler.idle_workers().request_attention();
  end_slices(runtime);  // pairs with yield_slow(), which then sees the request
}

Task* calling_task() noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr ? current_task(*worker) : nullptr;
}

}  // namespace janus
