// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/supervisor.cpp — see supervisor.h.
#include "rt/task/supervise/supervisor.h"

#include <new>

#include "rt/base/order_hooks.h"
#include "rt/task/account/memory.h"
#include "rt/task/channels/channel_life.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/record/why.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/deadline.h"
#include "rt/task/wait/wake.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

bool is_open(Channel& record, std::uint32_t secret) noexcept {
  return record.is_alive(secret) && !Supervisor::of(record).is_closed;
}

}  // namespace

// The runner may be in any other wait by now, and looks again there; or have ended: then so does a task that has its record.
void tell_runner(Channel& record) noexcept {
  Supervisor& supervisor = Supervisor::of(record);
  if (supervisor.nursery == nullptr) return;  // it looks at everything when it begins
  std::atomic_ref(supervisor.nursery->news).store(1, std::memory_order_seq_cst);
  if (supervisor.runner != nullptr) (void)wake(worker_of(*record.runtime), *supervisor.runner, WaitReason::kChildren);
}

void take_out(Supervisor& supervisor, Child& child) noexcept {
  if (child.is_linked()) List<Child>::remove(&child);
  supervisor.children.remove(child);
  if (!child.is_removed) --supervisor.count;
}

void free_child(Channel& record, Child* child) noexcept {
  if (child != nullptr) release_own(*record.runtime, worker_of(*record.runtime), child);
}

void end_supervisor(Task& self, Channel& record, std::uint32_t secret) noexcept {
  Supervisor& supervisor = Supervisor::of(record);
  for (unsigned freed = 1;; ++freed) {
    Child* child;
    {
      const ChannelHold hold(&current_worker(), record);
      child = supervisor.children.after(0);
      if (child != nullptr) take_out(supervisor, *child);
    }
    if (child == nullptr) break;
    free_child(record, child);
    if (freed % price::kRecordsAtOnce == 0) let_others_run(self);
  }
  (void)release_channel(&current_worker(), record, secret);
}

void stop_task(Runtime& runtime, std::uint64_t handle) noexcept {
  Worker* const worker = &current_worker();
  Task* const task = lock_handle(worker, runtime, handle);
  if (task == nullptr) return;
  CancelWalk walk;
  if (!task->has(TaskFlags::kEnded)) walk = cancel_task(worker, *task, Cause::kSupervisor);
  task->lock.unlock();
  tell_members(runtime, worker, walk, Pace::kInPartsPaid);
}

OrError<Channel*> open_supervisor(Runtime& runtime, Task& self, const SupervisorOptions& options) noexcept {
  const std::size_t bytes = sizeof(Supervisor) + options.limit.places() * sizeof(Moment);
  const OrError<Channel*> made = create_channel(runtime, &current_worker(), &self, 1, bytes);
  if (!made) return made;
  Channel& record = *made.value;
  Supervisor* const supervisor = new (record.buffer) Supervisor(options, self.id);
  supervisor->restarts.init(reinterpret_cast<Moment*>(supervisor + 1));
  supervisor->children.salt(make_handle(runtime, HandleKind::kSalt, record.life.load(std::memory_order_relaxed), 0));
  set_kind(record, ChannelKind::kSupervisor);
  return made;
}

namespace {

// A child runs with the rights of the task that runs the supervisor, and spends from its budget. So it is added by a task
// that may spawn there; while nobody runs it, by its opener, or by others that spend from the same budget and that no token
// confines.
bool may_add(const Task& self, Channel& record) noexcept {
  const Supervisor& supervisor = Supervisor::of(record);
  if (supervisor.opener_id == self.id) return is_permitted(self, Right::kSpawn);
  if (supervisor.nursery == nullptr) return !confinement_of(self).is_confined && record.payer == self.account;
  const Nursery& nursery = *supervisor.nursery;
  if (nursery.account != self.account && !is_far_below(nursery.account, self.account)) return false;
  Confinement its;
  const Confinement* within = nullptr;
  if (!may_spawn_into(self, nursery, its, within)) return false;
  return !nursery.traits.is_confined || (may_have_child != nullptr && may_have_child(nursery, within, nullptr));
}

std::int64_t enlist(Channel& record, Child& child) noexcept {
  Supervisor& supervisor = Supervisor::of(record);
  child.number = ++supervisor.last_id;
  supervisor.children.add_last(child);
  ++supervisor.count;
  if (supervisor.runner != nullptr) supervisor.queue_new(child);
  tell_runner(record);
  return static_cast<std::int64_t>(child.number);
}

}  // namespace

std::int64_t add_child(Task& self, Channel& record, std::uint32_t secret, const ChildSpec& spec) noexcept {
  Worker& worker = current_worker();
  const OrError<void*> block = allocate_own(runtime_of(worker), &worker, &self, sizeof(Child));
  if (!block) return block.error;
  order_hooks::release(&record);
  std::int64_t id = kErrorStale;
  {
    const ChannelHold hold(&current_worker(), record);
    if (is_open(record, secret))
      id = may_add(self, record) ? enlist(record, *new (block.value) Child(spec, record))
                                 : with_why(kErrorNoCap, Why::kRight);
  }
  if (id < 0) release_own(runtime_of(current_worker()), &current_worker(), block.value);
  return id;
}

namespace {

constexpr int kHasOther = 1;

// Marks a child as removed that still has the task of this handle. kHasOther: it has not.
int mark_removed(Channel& record, std::uint32_t secret, std::uint64_t id, std::uint64_t handle) noexcept {
  const ChannelHold hold(&current_worker(), record);
  if (!is_open(record, secret)) return kErrorStale;
  Supervisor& supervisor = Supervisor::of(record);
  Child* const child = supervisor.children.find(id);
  if (child == nullptr || child->task != handle) return kHasOther;
  if (child->is_removed) return kErrorStale;
  child->is_removed = true;
  --supervisor.count;
  return 0;
}

// Whether the running task is the one of this handle, or below it, and so cannot wait for its end.
bool is_at_or_below_task(const Task& self, std::uint64_t handle) noexcept {
  Worker& worker = current_worker();
  Task* const task = lock_handle(&worker, runtime_of(worker), handle);
  if (task == nullptr) return false;
  const bool is_above = is_at_or_above(*task, self);
  task->lock.unlock();
  return is_above;
}

int await_end(Task& self, std::uint64_t handle, std::uint64_t stop_ns) noexcept {
  const std::uint64_t now_ns = current_worker().scheduler->now_ns();
  const bool has_end = stop_ns != 0 && stop_ns < platform::kForever - now_ns;
  const Deadline deadline(self, has_end ? now_ns + stop_ns : platform::kForever, now_ns);
  Worker& worker = current_worker();
  Task* const task = lock_handle(&worker, runtime_of(worker), handle);
  return task != nullptr ? join_locked(self, *task, nullptr) : 0;
}

}  // namespace

int remove_child(Task& self, Channel& record, std::uint32_t secret, std::uint64_t id) noexcept {
  for (;; let_others_run(self)) {
    std::uint64_t handle = 0, stop_ns = 0;
    Child* removed = nullptr;
    {
      const ChannelHold hold(&current_worker(), record);
      if (!is_open(record, secret)) return kErrorStale;
      Supervisor& supervisor = Supervisor::of(record);
      Child* const child = supervisor.children.find(id);
      if (child == nullptr || child->is_removed) return kErrorStale;
      if (child->state == ChildState::kInHand) continue;
      handle = child->task;
      stop_ns = child->spec.stop_ns;
      if (handle == 0) {
        take_out(supervisor, *child);
        removed = child;
      }
    }
    order_hooks::acquire(&record);
    if (removed != nullptr) {
      free_child(record, removed);
      return 0;
    }
    if (is_at_or_below_task(self, handle)) return kErrorDeadlock;
    const int marked = mark_removed(record, secret, id, handle);
    if (marked == kHasOther) continue;
    if (marked != 0) return marked;
    take_fuel_unchecked(current_worker(), price::kCancel);
    stop_task(runtime_of(current_worker()), handle);
    return await_end(self, handle, stop_ns);
  }
}

int close_supervisor(Task& self, Channel& record, std::uint32_t secret) noexcept {
  {
    const ChannelHold hold(&current_worker(), record);
    if (!is_open(record, secret)) return kErrorStale;
    Supervisor& supervisor = Supervisor::of(record);
    supervisor.is_closed = true;
    tell_runner(record);
    if (supervisor.runner != nullptr) return 0;  // which ends it
  }
  end_supervisor(self, record, secret);
  return 0;
}

int view_next_child(Channel& record, std::uint32_t secret, std::uint64_t after, ChildView& view,
                    std::uint64_t& count) noexcept {
  const ChannelHold hold(&current_worker(), record);
  if (!is_open(record, secret)) return kErrorStale;
  const Supervisor& supervisor = Supervisor::of(record);
  count = supervisor.count;
  const Child* child = supervisor.children.after(after);
  for (unsigned passed = 1; child != nullptr && child->is_removed; ++passed) {
    view.id = child->number;
    if (passed == price::kRecordsAtOnce) return kViewMore;
    child = supervisor.children.after(child->number);
  }
  if (child == nullptr) return 0;
  const ChildState state = child->state != ChildState::kInHand ? child->state : ChildState::kWaits;
  view = {child->number, state, child->restarts, child->task_id, child->last, {}};
  copy_name(view.name, child->spec.name);
  return 1;
}

extern "C" std::int64_t janus_child_start(void* child) noexcept {
  const ChildSpec& spec = static_cast<const Child*>(child)->spec;
  return spec.start(spec.arg);
}

int note_ready(const Task& self) noexcept {
  if (!is_supervised(self)) return kErrorState;
  auto* const child = static_cast<Child*>(self.arg);
  order_hooks::release(child->supervisor);
  const ChannelHold hold(&current_worker(), *child->supervisor);
  if (child->is_ready) return 0;  // the runner has been told
  child->is_ready = true;
  tell_runner(*child->supervisor);
  return 0;
}

}  // namespace janus
