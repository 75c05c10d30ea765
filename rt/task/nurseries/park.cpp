// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/park.cpp — leaving and taking a task's token.
#include "rt/task/nurseries/park.h"

#include "rt/base/order_hooks.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/wake.h"

namespace janus {

int park(Task& task, bool forever) noexcept {
  for (;;) {
    if (forever && sees_cancel(task)) return kCancelledCode;
    if (task.token.exchange(0, std::memory_order_acquire) != 0) {  // pairs with unpark()
      order_hooks::acquire(&task.frame);
      return 0;
    }
    if (!forever) return kErrorTimeout;
    const bool left = block(
        task, TaskState::kParked,
        [](Task& self, void*) {
          // Looks again for a token that unpark() left before it could see the state. The fence's partner is in
          // unpark().
          arch::full_fence();
          if (self.token.load(std::memory_order_seq_cst) != 0) (void)wake(&current_worker(), self, TaskState::kParked);
        },
        nullptr);
    if (!left) return kErrorNoMemory;
  }
}

void unpark(Worker* worker, Task& task) noexcept {
  order_hooks::release(&task.frame);
  // Set even if the task takes the token before it sleeps: then nothing wakes it, and push_ready() does not set this.
  if (worker == nullptr) task.nursery->runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
  if (task.token.exchange(1, std::memory_order_seq_cst) == 0) (void)wake(worker, task, TaskState::kParked);
}

}  // namespace janus
