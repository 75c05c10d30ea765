// SPDX-License-Identifier: Apache-2.0
// rt/task/name.cpp — names of tasks.
#include "rt/task/name.h"

#include "rt/task/runtime.h"

namespace janus {

[[gnu::noinline]] bool set_name(Worker* worker, Task& task, const char* name) noexcept {
  if (task.extra == nullptr) {
    Heap& heap = task.nursery->runtime->heap;
    void* const extra = heap.allocate(worker != nullptr ? &worker->heap : nullptr, sizeof(TaskExtra), 16, kRuntimeTag);
    if (extra == nullptr) return false;
    task.extra = static_cast<TaskExtra*>(extra);
    const bool is_exposed = task.has(TaskFlags::kExposed);
    if (is_exposed) task.lock.lock();  // who releases its handle changes the flags, too
    task.set(TaskFlags::kNamed);
    if (is_exposed) task.lock.unlock();
  }
  copy_name(task.extra->name, name);
  return true;
}

}  // namespace janus
