// SPDX-License-Identifier: Apache-2.0
// rt/task/account/turn_limit.cpp — see turn_limit.h. Linked only into programs that give budgets. docs/decisions/0345
#include "rt/task/account/turn_limit.h"

#include "rt/base/format.h"
#include "rt/task/record/panic.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"
#include "rt/task/report/runtime_fault.h"
#include "rt/task/report/runtime_text.h"
#include "rt/task/wait/records.h"

namespace janus {

namespace {

// A task ends at most as much too late. On a virtual machine a signal of a timer may take 30 us.
constexpr std::uint64_t kAlarmNs = 1'500'000;
constexpr std::uint64_t kMostOfAlarm = 2 * kAlarmNs;
// After a look at a task that is to end, but cannot end where it was interrupted.
constexpr std::uint64_t kAgainNs = 100'000;
// While there are groups, but none is limited: the program has a budget, and no cages yet.
constexpr std::uint64_t kSeldomNs = 10 * kAlarmNs;
constexpr std::uint64_t kMillisecond = 1'000'000;
// A task that is to end is named if it can nowhere be ended for so long.
constexpr std::uint64_t kNamedAfterNs = 50 * kMillisecond;

const GroupTable& group_table_of(Worker& worker) noexcept {
  return worker.scheduler->dispatcher().group_table();
}

// Grows with each op that is spent on the worker, settled or not, and with each yield, of which the first may cost nothing.
std::int64_t steps_so_far(const Worker& worker) noexcept {
  const Counters& counters = worker.counters;
  return static_cast<std::int64_t>(counters.ops.read() + counters.yields.read()) + worker.slice - worker.fuel;
}

// --- Where a task may end ---

bool may_end_here(const Worker& worker, const Task& task, const platform::Fault& where) noexcept {
  return task.frame != nullptr && where.sp < task.frame->frame_sp && !task.is_marked(TaskMarks::kWasForced) &&
         is_in_program(where, worker);
}

// A task that is to end, but is somewhere where the runtime cannot tell whether it may.
void name_held(Worker& worker, const Task& task, const platform::Fault& where) noexcept {
  if (worker.watch.is_named || is_in_runtime(where, worker)) return;
  worker.watch.is_named = true;
  Text<256> line;
  line.append("janus: ");
  append_task(line, task);
  line.append(" has held its worker for %lu ms without coming back to the runtime, and cannot be ended: ",
              static_cast<unsigned long>(worker.watch.held_ns / kMillisecond));
  line.append(janus_text_end == nullptr ? "the program was linked without runtime-text.ld\n"
                                        : "it runs no code of the program's file\n");
  say(line.data(), line.size());
}

// --- The alarm ---

void stop_alarm(Worker& worker) noexcept {
  platform::set_alarm(worker.watch.alarm - 1, 0, 0);
  worker.watch.is_set.store(false, std::memory_order_relaxed);
}

// How long the running task has held its worker, as far as the looks have seen it.
std::uint64_t held_by_running(Worker& worker, const Task& task) noexcept {
  auto& watch = worker.watch;
  const std::uint64_t ran_ns = platform::thread_ns(), since_last = ran_ns - watch.ran_ns;
  const std::int64_t steps = steps_so_far(worker);
  watch.ran_ns = ran_ns;
  if (watch.task_id != task.id || watch.steps != steps) {
    watch.task_id = task.id;
    watch.steps = steps;
    watch.held_ns = 0;
    watch.is_named = false;
  } else {
    watch.held_ns += since_last < kMostOfAlarm ? since_last : kMostOfAlarm;
  }
  return watch.held_ns;
}

// Precondition: it has tasks of cages, or had some. True: the thread resumes as `where` says.
bool look_at_running(Worker& worker, platform::Fault& where) noexcept {
  auto& watch = worker.watch;
  Task* const task = current_task(worker);
  if (task == nullptr) return false;
  const std::uint64_t held_ns = held_by_running(worker, *task),
                      most_ns = group_table_of(worker).hold_limit(task->group);
  if (held_ns == 0 || most_ns == platform::kForever) return false;
  if (held_ns >= most_ns && may_end_here(worker, *task, where)) {
    watch.task_id = 0;
    end_for_overrun(where, worker, *task, held_ns);
    return true;
  }
  const std::uint64_t again_ns = watch.is_named ? kAlarmNs : kAgainNs;
  const std::uint64_t named_after_ns = janus_text_end != nullptr ? kNamedAfterNs : 0;
  if (held_ns >= most_ns && held_ns - most_ns >= named_after_ns) name_held(worker, *task, where);
  const std::uint64_t next_ns = held_ns < most_ns ? most_ns - held_ns : again_ns;
  if (next_ns < kAlarmNs) platform::set_alarm(watch.alarm - 1, next_ns, kAlarmNs);
  return false;
}

bool look_at_turn(Worker& worker, platform::Fault& where) noexcept {
  auto& watch = worker.watch;
  if (watch.is_in_call.load(std::memory_order_relaxed)) {
    watch.has_interrupted.store(true, std::memory_order_relaxed);
    stop_alarm(worker);
    return false;
  }
  if (worker.parker.is_parked() || !worker.has_other_groups()) {
    stop_alarm(worker);
    worker.asked.at_ns = WorkerFairness::kLongAgo;  // groups-are-watched
    return false;
  }
  if (!group_table_of(worker).are_any_limited()) return false;
  if (watch.is_seldom) platform::set_alarm(watch.alarm - 1, kAlarmNs, kAlarmNs);
  watch.is_seldom = false;
  return look_at_running(worker, where);
}

// The alarm's handler. A fault in here, except in a copy of user memory, is the runtime's own.
bool on_alarm(platform::Fault& where) noexcept {
  auto* const worker = static_cast<Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  if (worker == nullptr || worker->is_in_fault || worker->watch.alarm <= 0) return false;
  worker->is_in_fault = true;
  const bool is_ended = look_at_turn(*worker, where);
  worker->is_in_fault = false;
  return is_ended;
}

// --- The watch of a worker ---

// Says that the alarm is set before it is: a late signal may stop it in between, which is undone here, and then the next
// turn sets it once more.
void begin_watch(Worker& worker) noexcept {
  auto& watch = worker.watch;
  if (watch.alarm == 0) watch.alarm = platform::open_alarm(on_alarm) + 1;
  if (watch.alarm <= 0) watch.alarm = -1;
  if (watch.alarm < 0) return;
  watch.task_id = 0;
  watch.is_seldom = !group_table_of(worker).are_any_limited();
  watch.is_set.store(true, std::memory_order_relaxed);
  arch::compiler_barrier();
  const std::uint64_t period_ns = watch.is_seldom ? kSeldomNs : kAlarmNs;
  platform::set_alarm(watch.alarm - 1, period_ns, period_ns);
}

void end_watch(Worker& worker) noexcept {
  if (worker.watch.alarm > 0) platform::close_alarm(worker.watch.alarm - 1);
  worker.watch.alarm = 0;
}

// The least of what was said for the group and of what the one above has.
void limit_group(GroupTable& groups, std::uint32_t group, std::uint32_t parent, std::uint64_t hold_ns) noexcept {
  const std::uint64_t above_ns = groups.hold_limit(parent);
  if (hold_ns == 0) hold_ns = parent != 0 ? above_ns : kDefaultHoldNs;
  groups.limit_hold(group, hold_ns < above_ns ? hold_ns : above_ns);
}

constexpr TurnWatch kTurnWatch = {limit_group, begin_watch, end_watch};

}  // namespace

void watch_turns(Runtime& runtime) noexcept {
  if (!runtime.options.deterministic) runtime.scheduler.dispatcher().turn_meter().set_watch(kTurnWatch);
}

}  // namespace janus
