// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/deadlock.cpp — every worker sleeps and nothing is queued: decides whether that is a deadlock.
// docs/decisions/0154
//
// In a program that janus-cc linked, it is a deadlock as long as main has not ended. In a host's runtime, a thread
// outside tasks may act on a task or a channel at any time. There it is a deadlock only if every thread that has a
// nursery open in the runtime awaits that nursery, and nothing outside has ever made a channel in the runtime, woken
// one of its tasks, or shared a channel with another runtime (Runtime::is_fed_from_outside). A host whose threads do
// such things keeps a nursery open meanwhile.
#include "rt/task/nurseries/deadlock.h"

#include "rt/task/nurseries/gate.h"
#include "rt/task/report/log.h"
#include "rt/task/report/reporting.h"
#include "rt/task/wait/cancel.h"

namespace janus {

namespace {

void report(Runtime& runtime) noexcept {
  TaskReport* const report = describe_deadlock(runtime);
  if (report == nullptr) return say(kDeadlockLine, sizeof kDeadlockLine - 1);
  say_and_free(report);
}

// Whether all tasks in the nursery wait. A task that is no member has never stopped: it waits at the nursery's gate, is
// queued, or about to run.
bool do_all_tasks_wait(Nursery& nursery) noexcept {
  LockGuard guard(nursery.lock);
  std::uint64_t waiting = nursery.traits.is_gated ? count_at_gate(nursery) : 0;
  for (RunDetails* member = nursery.migrated_tasks.front(); member != nullptr;
       member = nursery.migrated_tasks.after(member)) {
    if (what_for(member->task->state.load(std::memory_order_acquire)) == nullptr) return false;
    ++waiting;
  }
  return nursery.word.load(std::memory_order_acquire) / NurseryWord::kChild == waiting;
}

// Under outside_lock.
bool does_everybody_wait(const Runtime& runtime) noexcept {
  bool any = false;
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) {
    const std::uint64_t word = nursery->word.load(std::memory_order_acquire);
    if ((word & NurseryWord::kWaiter) == 0 || (word & NurseryWord::kDeadlocked) != 0) return false;
    if (NurseryWord::is_terminal(word)) continue;
    if (!do_all_tasks_wait(*nursery)) return false;
    any = true;
  }
  return any;
}

// Under outside_lock, so that no nursery is destroyed meanwhile.
void cancel_all(Runtime& runtime, Worker& worker) noexcept {
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) {
    if (NurseryWord::is_terminal(nursery->word.load(std::memory_order_acquire))) continue;
    nursery->word.fetch_or(NurseryWord::kDeadlocked, std::memory_order_acq_rel);
    cancel_nursery(&worker, *nursery, Cause::kOther, Pace::kAtOnce);
  }
}

}  // namespace

TaskReport* describe_deadlock(Runtime& runtime) noexcept {
  TaskReport* const report = new_report();
  if (report == nullptr) return nullptr;
  report->append(kDeadlockLine);
  describe_tasks(runtime, *report);
  if (report->room() < kRoomOfTask) report->append("janus:   and more\n");
  return report;
}

void handle_deadlock(Runtime& runtime, Worker& worker, IdleSet::Snapshot entered) noexcept {
  LockGuard guard(runtime.outside_lock);
  if (runtime.options.is_program) {
    if (runtime.terminable.load(std::memory_order_acquire) == nullptr) return;
  } else if (runtime.is_fed_from_outside.load(std::memory_order_acquire) ||
             runtime.waits_for_locks.load(std::memory_order_relaxed) != 0 || !does_everybody_wait(runtime)) {
    return;
  }
  // A task that waits for a running task also counts as waiting, so no worker may have run during the check.
  if (!runtime.scheduler.all_slept_since(entered)) return;
  worker.counters.deadlocks.add();
  if (runtime.reporting != nullptr) return runtime.reporting->end_deadlock(runtime, worker);
  report(runtime);
  if (runtime.options.is_program) platform::exit(kDeadlockStatus);
  cancel_all(runtime, worker);
}

}  // namespace janus
