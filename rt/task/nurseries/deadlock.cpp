// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/deadlock.cpp — every worker sleeps and nothing is queued: is that the end?
// docs/decisions/0154
//
// In a program it is, as long as main has not ended. In a host's runtime a thread outside may know a task or a channel
// and bring things on at any time, so it is the end only where every thread that has a nursery here waits for it, and
// where nothing outside has ever acted on this runtime: made a channel, woken a task, shared a channel with another
// runtime (Runtime::is_fed_from_outside). A host whose threads do so keeps a nursery open meanwhile.
#include "rt/task/nurseries/deadlock.h"

#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"
#include "rt/task/wait/cancel.h"

namespace janus {

namespace {

constexpr int kStatus = 3;

// Under outside_lock. No task runs: one that is not on the list has not started, or is the parent of one that is.
void report(Runtime& runtime) noexcept {
  constexpr char kLine[] = "janus: deadlock: every task waits for another\n";
  TaskReport* const report = new_report();
  if (report == nullptr) return say(kLine, sizeof kLine - 1);
  report->append(kLine);
  describe_tasks(runtime, *report);
  if (report->room() < kRoomOfTask) report->append("janus:   and more\n");
  say_and_free(report);
}

// Whether all tasks in the nursery wait. A task that is no member has never stopped: it is on its way to a worker.
bool do_all_tasks_wait(Nursery& nursery) noexcept {
  LockGuard guard(nursery.lock);
  std::uint64_t waiting = 0;
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

// Under outside_lock: none of the nurseries goes meanwhile.
void cancel_all(Runtime& runtime, Worker& worker) noexcept {
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) {
    if (NurseryWord::is_terminal(nursery->word.load(std::memory_order_acquire))) continue;
    nursery->word.fetch_or(NurseryWord::kDeadlocked, std::memory_order_acq_rel);
    cancel_nursery(&worker, *nursery, Cause::kOther, Pace::kAtOnce);
  }
}

}  // namespace

void handle_deadlock(Runtime& runtime, Worker& worker, IdleSet::Snapshot entered) noexcept {
  LockGuard guard(runtime.outside_lock);
  if (runtime.options.is_program) {
    if (runtime.terminable.load(std::memory_order_acquire) == nullptr) return;
  } else if (runtime.is_fed_from_outside.load(std::memory_order_acquire) ||
             runtime.waits_for_locks.load(std::memory_order_relaxed) != 0 || !does_everybody_wait(runtime)) {
    return;
  }
  // A task that waits for one that runs waits, too. So no worker may have run during the look.
  if (!runtime.scheduler.all_slept_since(entered)) return;
  worker.counters.deadlocks.add();
  report(runtime);
  if (runtime.options.is_program) platform::exit(kStatus);
  cancel_all(runtime, worker);
}

}  // namespace janus
