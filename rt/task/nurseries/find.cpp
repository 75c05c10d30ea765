// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/find.cpp — see find.h. The records of all tasks are the registry: they are looked at one by one, so
// that a spawn has nothing to register, and an end nothing to take out. docs/decisions/0350
#include "rt/task/nurseries/find.h"

#include "rt/base/lock_rank.h"
#include "rt/task/account/charge.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/awaits.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/authority.h"

namespace janus {

namespace {

// A record's number stays until it serves another task. Under the lock of a task that has a handle, and has not ended, it
// cannot end. Its handle says that its record is complete.
std::uint64_t handle_if_usable(const Task& self, Task& task, std::uint64_t id) noexcept {
  LockGuard guard(task.lock);
  const bool lives = task.secret.load(std::memory_order_acquire) != 0 && task.has(TaskFlags::kExposed) &&
                     !task.has(TaskFlags::kEnded) && id_of(task) == id;  // pairs with handle_of()
  return lives && may_use(self, *task.nursery) ? handle_of(*self.nursery->runtime, task) : 0;
}

}  // namespace

std::uint64_t find_task(Task& self, std::uint64_t id) noexcept {
  Runtime& runtime = *self.nursery->runtime;
  if (id == self.id) return own_handle(runtime, self);
  unsigned seen = 0;
  for (std::uint32_t index = 0; index != Slab::kNoIndex; index = runtime.tasks.index_after(index)) {
    auto& task = *static_cast<Task*>(runtime.tasks.at(index));
    if (id_of(task) == id) {
      const std::uint64_t handle = handle_if_usable(self, task, id);
      if (handle != 0) return handle;
    }
    if (++seen % price::kRecordsAtOnce == 0) (void)charge_ops(self, price::kRecordsAtOnce / price::kRecordsPerOp);
  }
  return 0;
}

}  // namespace janus
