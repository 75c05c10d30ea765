// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/pinned.cpp — see pinned.h. Linked into programs that pin only (rt/optional.h).
#include "rt/task/wait/pinned.h"

#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

void set_home(Task& self, const Worker& home) noexcept {
  self.mark(TaskMarks::kHasContext);
  RunDetails& details = self.frame->details;
  details.context |= RunDetails::kIsPinned;
  details.pins = 1;
  details.pins_before = 0;
  details.pinned_to = home.id;
}

bool push_if_pinned(Task& task) noexcept {
  if (!is_pinned(task)) return false;
  Scheduler& scheduler = task.nursery->runtime->scheduler;
  scheduler.push_pinned(*scheduler.worker(task.frame->details.pinned_to), &task);
  return true;
}

bool yield_if_pinned(Worker& worker, Task& self, Suspension& suspension) noexcept {
  if (!is_pinned(self)) return false;
  (void)worker.scheduler->yield_pinned(worker, &self, suspension);
  return true;
}

}  // namespace janus
