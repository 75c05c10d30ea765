// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/late_tasks.cpp — see late_tasks.h. A task that loops without checks sees no cancel, so the program
// is ended when the grace is over; the report names that task. An archive member that janus-cc links into each program
// for Linux.
#include "rt/abi/inspect/late_tasks.h"

#include "rt/task/report/backtrace.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"

JANUS_ANCHOR(janus_late_tasks);

namespace janus {

namespace {

// If the task ends meanwhile, its record stays the record of a task (task_list.cpp).
const Task* running_task(const Worker& worker) noexcept {
  return static_cast<const Task*>(
      static_cast<Runnable*>(__atomic_load_n(&static_cast<const WorkerSlot&>(worker).task, __ATOMIC_RELAXED)));
}

// The task that note_progress() found on the worker, if it still runs there and has not reached the end of a slice;
// else nullptr. Of deterministic workers only the one that is on the thread runs.
const Task* late_task(const Runtime& runtime, const Worker& worker) noexcept {
  const Task* const task = running_task(worker);
  if (task == nullptr || task->id != worker.at_request.task_id || worker.counters.ops.read() != worker.at_request.ops)
    return nullptr;
  const bool runs =
      !runtime.options.deterministic || platform::worker_slot() == static_cast<const WorkerSlot*>(&worker);
  return runs ? task : nullptr;
}

}  // namespace

void note_progress(Runtime& runtime) noexcept {
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    Worker& worker = *runtime.scheduler.worker(i);
    const Task* const task = running_task(worker);
    worker.at_request = {task != nullptr ? task->id : 0, worker.counters.ops.read()};
  }
}

void say_who_is_late(Runtime& runtime, unsigned grace_ms) noexcept {
  const Task* first = nullptr;
  unsigned others = 0;
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    const Task* const task = late_task(runtime, *runtime.scheduler.worker(i));
    if (task == nullptr) continue;
    if (first == nullptr)
      first = task;
    else
      ++others;
  }
  Text<384> line;
  line.append("janus: %s: ", runtime.terminate_signal.load(std::memory_order_relaxed) == 2 ? "SIGINT" : "SIGTERM");
  if (first != nullptr) {
    append_task(line, *first);
    append_function(line, reinterpret_cast<std::uint64_t>(first->fn));
    if (others != 0) line.append(" and %u other%s", others, others == 1 ? "" : "s");
    line.append(" did not yield in the %u ms of grace", grace_ms);
  } else {
    line.append("main did not end in the %u ms of grace, though every task yields or waits", grace_ms);
  }
  line.append("; the program ends\n");
  say(line.data(), line.size());
}

}  // namespace janus
