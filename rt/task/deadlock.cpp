// SPDX-License-Identifier: Apache-2.0
// rt/task/deadlock.cpp — every worker sleeps, nothing is queued: is that the end?
//
// In a program it is, as long as main has not ended. In a host's runtime a thread outside may know a task or a channel
// and bring things on at any time, so it is one only where every thread that has a nursery here waits for it, and where
// nobody outside has ever had a hand in this runtime: made a channel, woken a task, shared a channel with another
// runtime (Runtime::is_fed_from_outside). A host whose threads do so keeps a nursery open meanwhile.
#include "rt/task/deadlock.h"

#include "rt/base/format.h"
#include "rt/task/cancel.h"
#include "rt/task/log.h"

namespace janus {

namespace {

constexpr int kStatus = 3;
constexpr unsigned kTasksNamed = 6;
constexpr unsigned kDeepest = 16;  // nurseries in nurseries; a worker's stack bounds the walk

// nullptr: it does not wait.
const char* what_for(TaskState state) noexcept {
  switch (state) {
    case TaskState::kBlocked:
    case TaskState::kNesting:
      return "waits for tasks to end";
    case TaskState::kAtChannel:
      return "waits at a channel";
    case TaskState::kParked:
      return "is parked";
    case TaskState::kExhausted:
      return "waits for a recharge";
    case TaskState::kAwaitsTurn:
      return "waits for a static or a descriptor";
    default:
      return nullptr;
  }
}

void say_why(const Task& task) noexcept {
  Text<192> line;
  line.append("janus:   task %lu", task.id);
  if (task.extra != nullptr) line.append(" '").append_escaped(task.extra->name, 40).append("'");
  const char* const why = what_for(task.state.load(std::memory_order_relaxed));
  line.append(" %s", why != nullptr ? why : "does not run").end_line();
  say(line.data(), line.size());
}

// The outermost first. A nursery's lock keeps the frames of its tasks where they are, and so what they have published.
void name_tasks_in(Nursery& nursery, unsigned depth, unsigned& named) noexcept {
  LockGuard guard(nursery.lock);
  for (RunDetails* member = nursery.migrated_tasks.front(); member != nullptr && named < kTasksNamed;
       member = nursery.migrated_tasks.after(member)) {
    say_why(*member->task);
    ++named;
    for (Nursery* inner = member->published; inner != nullptr && depth < kDeepest; inner = inner->outer)
      name_tasks_in(*inner, depth + 1, named);
  }
}

// Under outside_lock.
void report(Runtime& runtime) noexcept {
  constexpr char kLine[] = "janus: deadlock: every task waits for another\n";
  say(kLine, sizeof kLine - 1);
  unsigned named = 0;
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer)
    name_tasks_in(*nursery, 0, named);
}

// All that live in it. One that is not among those that have been off their worker is on its way to one.
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

// Under outside_lock: none of them goes meanwhile.
void cancel_all(Runtime& runtime, Worker& worker) noexcept {
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) {
    if (NurseryWord::is_terminal(nursery->word.load(std::memory_order_acquire))) continue;
    nursery->word.fetch_or(NurseryWord::kDeadlocked, std::memory_order_acq_rel);
    cancel_nursery(&worker, *nursery);
  }
}

}  // namespace

void handle_deadlock(Runtime& runtime, Worker& worker, IdleSet::Snapshot entered) noexcept {
  LockGuard guard(runtime.outside_lock);
  if (runtime.options.is_program) {
    if (runtime.terminable.load(std::memory_order_acquire) == nullptr) return;
  } else if (runtime.is_fed_from_outside.load(std::memory_order_acquire) ||
             runtime.waits_for_turns.load(std::memory_order_relaxed) != 0 || !does_everybody_wait(runtime)) {
    return;
  }
  // A task that waits for one that runs waits, too. So nobody may have run while we looked.
  if (!runtime.scheduler.all_slept_since(entered)) return;
  worker.counters.deadlocks.add();
  report(runtime);
  if (runtime.options.is_program) platform::exit(kStatus);
  cancel_all(runtime, worker);
}

}  // namespace janus
