// SPDX-License-Identifier: Apache-2.0
// rt/task/report/awaited.cpp — makes reports name the nursery, task or lock that a task waits for. An archive member that
// janus-cc links unless it strips the program.
#include "rt/optional.h"
#include "rt/task/record/awaits.h"
#include "rt/task/record/nursery.h"
#include "rt/task/report/describe.h"

JANUS_ANCHOR(janus_task_awaited);

namespace janus {

namespace {

// The nursery that a blocked task awaits; nullptr: none. An awaited nursery keeps kWaiter until it is destroyed.
const Nursery* awaited_by(const RunDetails& member) noexcept {
  for (const Nursery* nursery = member.published; nursery != nullptr; nursery = nursery->outer) {
    const std::uint64_t word = nursery->word.load(std::memory_order_relaxed);
    if ((word & NurseryWord::kWaiter) != 0 && !NurseryWord::is_terminal(word)) return nursery;
  }
  return nullptr;
}

const char* name_of(AwaitedKind kind) noexcept {
  switch (kind) {
    case AwaitedKind::kMutex:
      return "mutex";
    case AwaitedKind::kWriter:
      return "reader-writer lock";
    case AwaitedKind::kOnce:
      return "janus_once";
    case AwaitedKind::kCondition:
      return "condition";
    case AwaitedKind::kSemaphore:
      return "semaphore";
    case AwaitedKind::kCount:
      return "barrier, event or wait group";
    default:
      return nullptr;
  }
}

bool append_lock(TaskReport& report, const Task& task) noexcept {
  const Awaits what = Awaits::of(task);
  const char* const name = name_of(what.kind());
  if (name == nullptr) return false;
  report.append(" waits for the %s at %#lx", name, what.address());
  if (const Task* const holder = what.task(*task.nursery->runtime))
    report.append(", which task %lu holds", id_of(*holder));
  return true;
}

}  // namespace

bool append_awaited(TaskReport& report, const RunDetails& member) noexcept {
  const Task& task = *member.task;
  const TaskState state = task.state.load(std::memory_order_acquire);
  if (task.has_priority()) report.append(is_high(task.group) ? " of high priority" : " of low priority");
  if (state == waits_for(WaitReason::kSync) || state == waits_for(WaitReason::kRelock))
    return append_lock(report, task);
  if (state != waits_for(WaitReason::kTask) && state != waits_for(WaitReason::kChildren)) return false;
  const Task* const other = Awaits::of(task).task(*task.nursery->runtime);
  if (other != nullptr)
    report.append(" waits for task %lu", id_of(*other));
  else if (const Nursery* const nursery = awaited_by(member))
    report.append(" waits for nursery ").append_escaped(nursery->name[0] != 0 ? nursery->name : "-", kShownName);
  else
    return false;
  report.append(" to end");
  return true;
}

}  // namespace janus
