// SPDX-License-Identifier: Apache-2.0
// rt/task/run/walk_world.cpp — see walk_world.h. First lists the tasks, under locks: threads outside may queue others
// meanwhile, and the visits may spawn some. The tasks that are listed stay: those that could end do not run.
//
// A task that has left its worker, or has never run, is found by the nursery that it is in or the queue that it waits in; one
// that is on a worker by that; and one that runs another in its place by that one's frame.
#include "rt/task/run/walk_world.h"

#include "rt/sched/safepoint.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/nursery.h"
#include "rt/task/run/stop_world.h"

namespace janus {

namespace {

// A list of pointers that grows, and is freed with the pages of the walk.
class PointerList {
 public:
  explicit PointerList(Runtime& runtime) noexcept : runtime_(runtime) {}

  void add(void* pointer) noexcept {
    if (last_ == nullptr || last_->count == kRoom) {
      auto* const pages = add_walk_pages(runtime_);
      if (pages == nullptr) {
        is_short_ = true;
        return;
      }
      auto* const part = static_cast<Part*>(pages);
      (last_ != nullptr ? last_->after : first_) = part;
      last_ = part;
    }
    last_->pointers[last_->count++] = pointer;
  }
  // The first that has not been taken; nullptr: none is left. More may be added afterwards.
  void* take() noexcept {
    if (at_part_ == nullptr) at_part_ = first_;
    if (at_part_ != nullptr && taken_ == kRoom && at_part_->after != nullptr) {
      at_part_ = at_part_->after;
      taken_ = 0;
    }
    return at_part_ != nullptr && taken_ < at_part_->count ? at_part_->pointers[taken_++] : nullptr;
  }
  // The machine had no memory for all.
  [[nodiscard]] bool is_short() const noexcept { return is_short_; }

 private:
  struct Part;
  static constexpr std::size_t kRoom = (kWalkPagesBytes - 3 * sizeof(void*)) / sizeof(void*);
  struct Part : WalkPages {
    Part* after;
    std::size_t count;
    void* pointers[kRoom];
  };
  static_assert(sizeof(Part) == kWalkPagesBytes);

  Runtime& runtime_;
  Part *first_ = nullptr, *last_ = nullptr, *at_part_ = nullptr;
  std::size_t taken_ = 0;
  bool is_short_ = false;
};

struct Lists {
  PointerList tasks;      // those that have a suspension, and those that have not started
  PointerList nurseries;  // to be looked into
};

bool is_on_worker(const Task& task) noexcept {
  const Suspension* const where = task.suspension();
  return where != nullptr && StandsHere::is_one(*where);
}

// What the running task of a worker, and those in whose place it runs, have opened since they last left a worker.
void list_running(Lists& lists, Task& task) noexcept {
  lists.tasks.add(&task);
  for (const RunFrame* frame = task.frame; frame != nullptr; frame = frame->outer_frame) {
    for (Nursery* open = frame->open; open != nullptr; open = open->outer) lists.nurseries.add(open);
    for (Nursery* open = frame->current; open != nullptr && !open->traits.is_linked; open = open->previous_current)
      lists.nurseries.add(open);
  }
}

void list_members(Lists& lists, Nursery& nursery) noexcept {
  LockGuard guard(nursery.lock);
  for (RunDetails* member = nursery.migrated_tasks.front(); member != nullptr;
       member = nursery.migrated_tasks.after(member)) {
    Task& task = *member->task;
    if (state_of(task) != TaskState::kNesting && !is_on_worker(task)) lists.tasks.add(&task);
    for (Nursery* open = member->published; open != nullptr; open = open->outer) lists.nurseries.add(open);
  }
  const Runnable* const last = nursery.last_unstarted;
  for (Runnable* at = nursery.last_unstarted; at != nullptr; at = at->next != last ? at->next : nullptr)
    lists.tasks.add(static_cast<Task*>(at));
}

void list_queued(Lists& lists, Runtime& runtime) noexcept {
  const auto add = [&lists](Runnable* runnable) noexcept {
    if (runnable->suspension() == nullptr) lists.tasks.add(static_cast<Task*>(runnable));  // others are members
  };
  runtime.scheduler.for_each_queued(add);
}

void list_all(Lists& lists, Runtime& runtime) noexcept {
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    Task* const task = current_task(*runtime.scheduler.worker(i));
    if (task != nullptr && task->frame != nullptr) list_running(lists, *task);
  }
  {
    LockGuard guard(runtime.outside_lock);
    for (Nursery* nursery = runtime.outside; nursery != nullptr; nursery = nursery->outer) lists.nurseries.add(nursery);
    while (void* const nursery = lists.nurseries.take()) list_members(lists, *static_cast<Nursery*>(nursery));
  }
  list_queued(lists, runtime);
}

// A task that ends by force goes on on a spare stack. Its children may use what it has left on its own, so all of that counts.
void leave_spare(StoppedTask& seen) noexcept {
  const Task& task = *seen.task;
  if (!task.is_marked(TaskMarks::kWasForced) || task.frame->details.abandoned == nullptr) return;
  seen.stack = task.frame->details.abandoned;
  seen.sp = reinterpret_cast<std::uint64_t>(seen.stack->limit);
}

// Visits a task and those in whose place it runs.
int visit_stack(Task& innermost, VisitStopped visit, void* argument) noexcept {
  const Suspension* const where = innermost.suspension();
  if (where == nullptr) return visit({&innermost, nullptr, nullptr, 0, 0, false}, argument);
  StoppedTask seen{&innermost, nullptr, where->stack, where->context.sp, 0, is_on_worker(innermost)};
  for (const RunFrame* frame = innermost.frame; frame != nullptr; frame = frame->outer_frame) {
    seen.task = frame->task;
    seen.outer = frame->outer_frame != nullptr ? frame->outer_frame->task : nullptr;
    leave_spare(seen);
    seen.high = reinterpret_cast<std::uint64_t>(frame + 1);
    if (const int answer = visit(seen, argument)) return answer;
    seen.sp = seen.high;
    seen.runs = false;
  }
  return 0;
}

int list_and_visit(Runtime& runtime, VisitStopped visit, void* argument) noexcept {
  Lists lists{PointerList(runtime), PointerList(runtime)};
  list_all(lists, runtime);
  if (lists.tasks.is_short() || lists.nurseries.is_short()) return kErrorNoMemory;
  int answer = 0;
  while (void* const task = answer == 0 ? lists.tasks.take() : nullptr)
    answer = visit_stack(*static_cast<Task*>(task), visit, argument);
  return answer;
}

}  // namespace

// A task without a handle may have a state that is left over from the record's previous task. Its flags are its own to
// write while it runs; now it stands.
std::uint64_t expose_stopped(Runtime& runtime, const StoppedTask& seen) noexcept {
  Task& task = *seen.task;
  if (!task.has(TaskFlags::kExposed)) {
    if (seen.stack == nullptr) task.state.store(TaskState::kCreated, std::memory_order_relaxed);
    if (seen.runs) task.state.store(TaskState::kRunning, std::memory_order_relaxed);
    task.set(TaskFlags::kExposed);
  }
  return handle_of(runtime, task);
}

int walk_world(Runtime& runtime, Task* task, VisitStopped visit, void* argument) noexcept {
  if (const int error = begin_walk(runtime, task)) return error;
  const auto walk = [&]() noexcept { return list_and_visit(runtime, visit, argument); };
  const int answer = task != nullptr ? call_with_registers_saved(current_worker(), walk) : walk();
  end_walk(runtime, task);
  return answer;
}

}  // namespace janus
