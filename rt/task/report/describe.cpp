// SPDX-License-Identifier: Apache-2.0
// rt/task/report/describe.cpp — see describe.h. Other tasks may run meanwhile. A nursery's lock keeps its tasks'
// frames, and what these have published, in place; memory below them on their stacks may change.
#include "rt/task/report/describe.h"

#include <new>

#include <arch/user_copy.h>

#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/report/log.h"

namespace janus {

namespace {

constexpr unsigned kDeepest = 16;          // nurseries in nurseries; the caller's stack bounds the walk
constexpr unsigned kMaxNurseries = 16384;  // that are visited

struct Walk {
  TaskReport& report;
  unsigned tasks = 0;
  unsigned nurseries = 0;
};

// The record stays a channel's record even if the channel ends.
void append_channel(TaskReport& report, const Channel* channel) noexcept {
  std::size_t count = 0, capacity = 0;
  if (channel == nullptr || !arch::load_user(&channel->count, count)) return;
  if (!arch::load_user(&channel->capacity, capacity)) return;
  const std::uint64_t handle = channel->handle.load(std::memory_order_relaxed) ^ handle_mask(channel->kind);
  report.append(" %#lx (%lu of %lu)", handle, count, capacity);
  if (channel->kind != ChannelKind::kMailbox) return;
  report.append(", a mailbox");
  if (channel->first == 0) return;
  report.append("; not wanted by %#lx", channel->first);
  append_function(report, channel->first);
}

// Under the lock of the member's nursery.
void describe(TaskReport& report, const RunDetails& member) noexcept {
  const Task& task = *member.task;
  const TaskState state = task.state.load(std::memory_order_relaxed);
  const char* const why = what_for(state);
  report.append("janus:   ");
  append_task(report, task);
  append_function(report, reinterpret_cast<std::uint64_t>(task.fn));
  if (append_awaited == nullptr || !append_awaited(report, member))
    report.append(" %s", why != nullptr ? why : "is ready, or runs");
  if (state == waits_for(WaitReason::kChannel)) append_channel(report, task.waits_at);
  report.append("; nursery ");
  append_path(report, task);
  report.end_line();
  Place place;
  if (why != nullptr && find_place(task, place)) append_frames(report, place, kFramesOfEach);
}

// Appends the outermost tasks first.
void describe_nursery(Walk& walk, Nursery& nursery, unsigned depth) noexcept {
  LockGuard guard(nursery.lock);
  for (RunDetails* member = nursery.migrated_tasks.front(); member != nullptr;
       member = nursery.migrated_tasks.after(member)) {
    if (walk.tasks == kMaxTasks || walk.report.room() < kRoomOfTask) return;
    if (group_similar == nullptr || !group_similar(walk.report, member)) describe(walk.report, *member);
    ++walk.tasks;
    for (Nursery* inner = member->published; inner != nullptr && depth < kDeepest; inner = inner->outer) {
      if (walk.nurseries++ == kMaxNurseries) return;
      describe_nursery(walk, *inner, depth + 1);
    }
  }
}

constexpr std::size_t kReportBytes = (sizeof(TaskReport) + kPagesBehindReport + kPageBytes - 1) & ~(kPageBytes - 1);

}  // namespace

void append_task(TextWriter& text, const Task& task) noexcept {
  text.append("task %lu", task.id);
  const bool is_main = task.nursery->runtime->terminable.load(std::memory_order_relaxed) == &task;
  const char* const name = task.extra != nullptr ? task.extra->name : is_main ? "main" : nullptr;
  if (name != nullptr) text.append(" '").append_escaped(name, kShownName).append("'");
}

void append_path(TextWriter& text, const Task& task) noexcept {
  constexpr unsigned kMaxNurseries = 8;
  const Nursery* path[kMaxNurseries];
  unsigned depth = 0;
  for (const Nursery* nursery = task.nursery; nursery != nullptr && depth < kMaxNurseries;) {
    path[depth++] = nursery;
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    nursery = owner != nullptr ? owner->nursery : nullptr;
  }
  for (unsigned i = depth; i-- > 0;) {
    text.append_escaped(path[i]->name[0] != 0 ? path[i]->name : "-", kShownName);
    if (i != 0) text.append("/");
  }
}

namespace {

// What tasks wait for, for each reason: one of these texts, which a compiler's switch would take twice the bytes to find.
constexpr char kWaits[] =
    "waits for tasks to end\0"
    "waits at a channel\0"
    "waits at several channels\0"
    "is parked\0"
    "waits for a recharge\0"
    "waits for a static or a descriptor\0"
    "sleeps\0"
    "waits for a lock or a condition\0"
    "waits for a helper thread";
constexpr std::uint8_t text_of(WaitReason reason) noexcept {
  switch (reason) {
    case WaitReason::kTask:
    case WaitReason::kChildren:
      return 0;
    case WaitReason::kChannel:
    case WaitReason::kChannelApart:
      return 1;
    case WaitReason::kSelect:
      return 2;
    case WaitReason::kToken:
      return 3;
    case WaitReason::kBudget:
      return 4;
    case WaitReason::kLock:
    case WaitReason::kRoom:
      return 5;
    case WaitReason::kTime:
      return 6;
    case WaitReason::kSync:
    case WaitReason::kRelock:
    case WaitReason::kSafepoint:
      return 7;
    case WaitReason::kHelperQueue:
    case WaitReason::kHelper:
      return 8;
  }
  return 0;
}
constexpr unsigned kReasons = static_cast<unsigned>(WaitReason::kHelper) + 1;
struct TextsOfReasons {
  std::uint8_t of[kReasons];
};
constexpr TextsOfReasons kTexts = [] {
  TextsOfReasons texts{};
  for (unsigned i = 0; i < kReasons; ++i) texts.of[i] = text_of(static_cast<WaitReason>(i));
  return texts;
}();

}  // namespace

const char* what_for(TaskState state) noexcept {
  if (!is_waiting(state) && state != TaskState::kNesting) return nullptr;
  const char* text = kWaits;
  for (unsigned skip = is_waiting(state) ? kTexts.of[static_cast<unsigned>(reason_of(state))] : 0; skip != 0; --skip)
    while (*text++ != '\0') {
    }
  return text;
}

bool find_place(const Task& task, Place& place) noexcept {
  const Suspension* const left = task.suspension();
  const auto top = reinterpret_cast<std::uint64_t>(task.frame);
  std::uint64_t fp = 0;
  if (task.state.load(std::memory_order_relaxed) == TaskState::kNesting) return false;  // a child runs on its stack
  if (left == nullptr || !arch::load_user(&left->context.rbp, fp)) return false;
  place = {0, fp, top > kMaxStackReservation ? top - kMaxStackReservation : 0, top, 0};
  if (!place.step()) return false;
  leave_runtime(place);
  return true;
}

TaskReport* new_report() noexcept {
  std::byte* const pages = platform::map(kReportBytes);
  return pages != nullptr ? new (pages) TaskReport : nullptr;
}

void free_report(TaskReport* report) noexcept {
  platform::unmap(reinterpret_cast<std::byte*>(report), kReportBytes);
}

void say_and_free(TaskReport* report) noexcept {
  say(report->data(), report->size());
  free_report(report);
}

unsigned describe_tasks(Runtime& runtime, TaskReport& report) noexcept {
  Walk walk{report};
  for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer)
    describe_nursery(walk, *nursery, 0);
  if (group_similar != nullptr) group_similar(report, nullptr);
  return walk.tasks;
}

}  // namespace janus
