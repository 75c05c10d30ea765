// SPDX-License-Identifier: Apache-2.0
// rt/task/awaited.cpp — which nursery or task somebody waits for, in reports. A member of the archive that janus-cc asks
// for, unless it strips the program.
#include "rt/task/describe.h"
#include "rt/task/nursery.h"

extern "C" {
extern const char janus_task_awaited;
[[gnu::used]] const char janus_task_awaited = 0;
}

namespace janus {

namespace {

// Of a blocked task; nullptr: it joins another.
const Nursery* awaited_by(const RunDetails& member) noexcept {
  const Nursery* nursery = member.published;
  while (nursery != nullptr && (nursery->word.load(std::memory_order_relaxed) & NurseryWord::kWaiter) == 0)
    nursery = nursery->outer;
  return nursery;
}

}  // namespace

bool append_awaited(TaskReport& report, const RunDetails& member) noexcept {
  const Task& task = *member.task;
  if (task.state.load(std::memory_order_acquire) != TaskState::kBlocked) return false;
  if (const Nursery* const nursery = awaited_by(member)) {
    report.append(" waits for nursery ").append_escaped(nursery->name[0] != 0 ? nursery->name : "-", kShownName);
  } else {
    report.append(" waits for task %lu", std::atomic_ref(member.joined).load(std::memory_order_relaxed));
  }
  report.append(" to end");
  return true;
}

}  // namespace janus
