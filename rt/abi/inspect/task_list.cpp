// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/task_list.cpp — SIGQUIT: lists all tasks and their states, on stderr, while the program goes on. All
// workers may be busy or asleep, so a thread of its own makes the list, and then ends. docs/decisions/0237
#include "rt/abi/inspect/task_list.h"

#include "rt/abi/entry/global_runtime.h"
#include "rt/abi/reports/stats.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/log.h"

namespace janus {

namespace {

// The running task may end meanwhile, and its record may be reused, but only for another task.
void append_worker(TaskReport& report, Worker& worker) noexcept {
  report.append("janus:   worker %u ", unsigned{worker.id});
  const auto* const task = static_cast<Task*>(
      static_cast<Runnable*>(__atomic_load_n(&static_cast<WorkerSlot&>(worker).task, __ATOMIC_RELAXED)));
  if (task == nullptr) {
    report.append("looks for work, or sleeps\n");
    return;
  }
  report.append("runs task %lu", task->id);
  append_function(report, reinterpret_cast<std::uint64_t>(task->fn));
  report.end_line();
  if (append_standing != nullptr) append_standing(report, worker);
}

void list_tasks(void* argument) noexcept {
  constexpr unsigned kMaxWorkers = 64;
  auto& list = *static_cast<TaskList*>(argument);
  Runtime& runtime = *process_runtime();
  if (TaskReport* const report = new_report()) {
    const std::uint64_t live = statistics_of(runtime).tasks_live;
    const unsigned workers = runtime.scheduler.worker_count();
    report->append("janus: SIGQUIT: %lu tasks, %u workers\n", live, workers);
    for (unsigned i = 0; i < workers && i < kMaxWorkers; ++i) append_worker(*report, *runtime.scheduler.worker(i));
    unsigned listed;
    {
      LockGuard guard(runtime.outside_lock);
      listed = describe_tasks(runtime, *report);
    }
    if (live > listed) report->append("janus:   and %lu that run, are new, or left out\n", live - listed);
    say_and_free(report);
  }
  list.is_in_hand.store(false, std::memory_order_release);
}

}  // namespace

void TaskList::print() noexcept {
  if (is_in_hand.exchange(true, std::memory_order_acquire)) return;
  const auto entry = [](void* list) noexcept {
    list_tasks(list);
    platform::exit_thread();
  };
  if (platform::start_thread(entry, this, -1, "janus/list")) return;
  constexpr char kLine[] = "janus: SIGQUIT: the machine gives no thread to list the tasks\n";
  say(kLine, sizeof kLine - 1);
  is_in_hand.store(false, std::memory_order_release);
}

}  // namespace janus
