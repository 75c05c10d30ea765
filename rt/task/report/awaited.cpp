// SPDX-License-Identifier: Apache-2.0
// rt/task/report/awaited.cpp — makes reports name the nursery or task that a task waits for. An archive member that
// janus-cc links unless it strips the program.
#include "rt/optional.h"
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

}  // namespace

bool append_awaited(TaskReport& report, const RunDetails& member) noexcept {
  const Task& task = *member.task;
  const TaskState state = task.state.load(std::memory_order_acquire);
  if (state != waits_for(WaitReason::kTask) && state != waits_for(WaitReason::kChildren)) return false;
  const std::uint64_t joined = std::atomic_ref(member.joined).load(std::memory_order_relaxed);
  if (joined != 0)
    report.append(" waits for task %lu", joined);
  else if (const Nursery* const nursery = awaited_by(member))
    report.append(" waits for nursery ").append_escaped(nursery->name[0] != 0 ? nursery->name : "-", kShownName);
  else
    return false;
  report.append(" to end");
  return true;
}

}  // namespace janus
