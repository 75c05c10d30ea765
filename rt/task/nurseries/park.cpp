// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/park.cpp — leaving and taking a task's token.
#include "rt/task/nurseries/park.h"

#include "rt/base/order_hooks.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

struct AwaitedToken : AwaitedUnlocked {
  Task& owner;

  explicit AwaitedToken(Task& its_owner) noexcept : owner(its_owner) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kToken; }
  // In a task that was told to end a token stays where it is.
  bool is_over() const noexcept { return !is_cancelled(owner) && take(); }
  bool take() const noexcept { return owner.token.exchange(0, std::memory_order_acquire) != 0; }  // pairs with unpark()
  static constexpr void* key() noexcept { return nullptr; }
  static void publish(Task& task, void*) noexcept {
    // Looks again for a token that unpark() left before it could see the state. The fence's partner is in unpark().
    arch::full_fence();
    if (task.token.load(std::memory_order_seq_cst) != 0) (void)wake(&current_worker(), task, reason());
  }
};

}  // namespace

bool try_park(Task& task) noexcept {
  if (!AwaitedToken(task).take()) return false;
  order_hooks::acquire(&task.frame);
  return true;
}

int park(Task& task) noexcept {
  if (sees_cancel(task)) return kCancelledCode;
  AwaitedToken token(task);
  const int result = result_of(wait(task, token), task);
  if (result == 0) order_hooks::acquire(&task.frame);
  return result;
}

void unpark(Worker* worker, Task& task) noexcept {
  order_hooks::release(&task.frame);
  // Set even if the task takes the token before it sleeps: then nothing wakes it, and push_ready() does not set this.
  if (worker == nullptr) task.nursery->runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
  if (task.token.exchange(1, std::memory_order_seq_cst) == 0) (void)wake(worker, task, WaitReason::kToken);
}

}  // namespace janus
