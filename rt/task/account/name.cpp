// SPDX-License-Identifier: Apache-2.0
// rt/task/account/name.cpp — names of tasks, and the charge for them.
#include "rt/task/account/name.h"

#include "rt/task/account/memory.h"
#include "rt/task/record/nursery.h"

namespace janus {

namespace {

void keep_extra(Task& task, void* extra) noexcept {
  task.extra = static_cast<TaskExtra*>(extra);
  const bool is_exposed = task.has(TaskFlags::kExposed);
  if (is_exposed) task.lock.lock();  // releasing the handle changes the flags, too
  task.set(TaskFlags::kNamed);
  if (is_exposed) task.lock.unlock();
}

}  // namespace

int name_itself(Worker& worker, Task& task, const char* name) noexcept {
  if (task.extra == nullptr) {
    const OrError<void*> extra = allocate_own(runtime_of(worker), &worker, &task, sizeof(TaskExtra));
    if (!extra) return extra.error;
    keep_extra(task, extra.value);
  }
  copy_name(task.extra->name, name);
  return 0;
}

[[gnu::noinline]] void name_at_birth(Worker* worker, Task& task, const char* name) noexcept {
  void* const extra = try_allocate_own(*task.nursery->runtime, worker, task.account, sizeof(TaskExtra));
  if (extra == nullptr) return;
  keep_extra(task, extra);
  copy_name(task.extra->name, name);
}

}  // namespace janus
