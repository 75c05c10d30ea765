// SPDX-License-Identifier: Apache-2.0
// rt/task/run/stop_world.cpp — see stop_world.h. Linked into programs that stop the world (rt/optional.h).
//
// INVARIANT one-wake: as in rt/task/locks/keyed_lock.cpp. Under the lock, a request in the list belongs to a task that has
// left its stack, to a thread that sleeps, or to one that is about to read the request's state. Who takes it out of the
// list wakes its owner before it releases the lock; the owner reads only with the lock held.
#include "rt/task/run/stop_world.h"

#include "rt/task/nurseries/deadlock.h"
#include "rt/task/record/panic.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/log.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/held_world.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

// Lies on the stack of who waits for its turn.
struct StopRequest {
  enum State : std::uint32_t { kWaits, kHasTurn, kIsRefused };

  StopRequest* next;
  Task* task;  // nullptr: a thread outside tasks
  int thread;
  std::atomic<std::uint32_t> state;
};

namespace {

[[nodiscard]] bool is_holder(const WorldStops& stops, const Task* task) noexcept {
  if (!stops.is_taken || stops.holder != task) return false;
  return task != nullptr || stops.thread == platform::thread_id();
}

// --- The turn. All under the lock ---

// While a thread outside has the turn, nothing is hopeless (hooks::on_all_idle()).
void give_turn(Runtime& runtime, Task* task, int thread) noexcept {
  WorldStops& stops = runtime.stops;
  stops.is_taken = true;
  stops.holder = task;
  stops.thread = thread;
  if (task == nullptr) runtime.timed_awaits.fetch_add(1, std::memory_order_seq_cst);
}

void append(WorldStops& stops, StopRequest& request) noexcept {
  StopRequest** at = &stops.first;
  while (*at != nullptr) at = &(*at)->next;
  *at = &request;
}

void take_out(WorldStops& stops, const StopRequest& request) noexcept {
  StopRequest** at = &stops.first;
  while (*at != &request) at = &(*at)->next;
  *at = request.next;
}

void set_and_wake(StopRequest& request, StopRequest::State state) noexcept {
  Task* const task = request.task;
  request.state.store(state, std::memory_order_relaxed);
  if (task == nullptr) return platform::wake(request.state, 1);
  (void)wake(worker_of(*task->nursery->runtime), *task, WaitReason::kSafepoint);
}

// The oldest request has the next turn.
void pass_turn_on(Runtime& runtime) noexcept {
  WorldStops& stops = runtime.stops;
  const bool was_outside = stops.holder == nullptr;
  stops.is_taken = stops.is_stopped = stops.is_walked = false;
  stops.holder = nullptr;
  stops.depth = 0;
  if (was_outside) runtime.timed_awaits.fetch_sub(1, std::memory_order_seq_cst);
  StopRequest* const next = stops.first;
  if (next != nullptr) {
    stops.first = next->next;
    give_turn(runtime, next->task, next->thread);
    set_and_wake(*next, StopRequest::kHasTurn);
  }
  if (was_outside) look_again_for_deadlock(runtime.scheduler);
}

void free_walk_pages(WorldStops& stops) noexcept {
  while (WalkPages* const pages = static_cast<WalkPages*>(stops.walk_pages)) {
    stops.walk_pages = pages->next;
    platform::unmap(reinterpret_cast<std::byte*>(pages), kWalkPagesBytes);
  }
}

// The world goes on before the next requester can stop it.
void let_go(Runtime& runtime) noexcept {
  free_walk_pages(runtime.stops);
  runtime.scheduler.safepoints().go_on();
  pass_turn_on(runtime);
}

struct AwaitedTurn : Awaited {
  WorldStops& stops;
  StopRequest& request;

  AwaitedTurn(WorldStops& its_stops, StopRequest& its_request) noexcept : stops(its_stops), request(its_request) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kSafepoint; }
  bool is_over() const noexcept { return request.state.load(std::memory_order_relaxed) != StopRequest::kWaits; }
  void lock() const noexcept { stops.lock.lock(); }
  void unlock() const noexcept { stops.lock.unlock(); }
  void leave() noexcept {
    if (!is_over()) take_out(stops, request);
  }
};

// The lock is held, and is released. 0: the caller has the turn.
int wait_as_task(WorldStops& stops, StopRequest& request) noexcept {
  AwaitedTurn awaited(stops, request);
  const WaitEnd end = wait(*request.task, awaited);
  if (end != WaitEnd::kOver) return result_of(end, *request.task);
  return request.state.load(std::memory_order_relaxed) == StopRequest::kHasTurn ? 0 : kErrorState;
}

int wait_as_thread(WorldStops& stops, StopRequest& request, std::uint64_t until_ns) noexcept {
  stops.lock.unlock();
  while (request.state.load(std::memory_order_relaxed) == StopRequest::kWaits && platform::now_ns() < until_ns)
    platform::wait(request.state, StopRequest::kWaits, until_ns);
  LockGuard guard(stops.lock);  // who wakes us no longer uses the request once it has unlocked
  const std::uint32_t state = request.state.load(std::memory_order_relaxed);
  if (state == StopRequest::kWaits) take_out(stops, request);
  if (state == StopRequest::kHasTurn) return 0;
  return state == StopRequest::kWaits ? kErrorTimeout : kErrorState;
}

// 0: the caller has the turn, and `is_stopped` says whether it has stopped the world already.
int take_turn(Runtime& runtime, Task* task, std::uint64_t until_ns, bool& is_stopped) noexcept {
  WorldStops& stops = runtime.stops;
  StopRequest request{nullptr, task, task == nullptr ? platform::thread_id() : 0, StopRequest::kWaits};
  if (task != nullptr) publish_before_wait(*task);       // not with the lock held
  stops.is_used.store(true, std::memory_order_seq_cst);  // the partner is refuse_stops_from_outside()
  stops.lock.lock();
  int answer = 0;
  is_stopped = is_holder(stops, task);
  if (is_stopped) {
    ++stops.depth;
  } else if (task == nullptr && stops.is_closed.load(std::memory_order_seq_cst)) {
    answer = kErrorState;
  } else if (!stops.is_taken) {
    give_turn(runtime, task, request.thread);
  } else if (until_ns == 0) {
    answer = kErrorTimeout;
  } else {
    append(stops, request);
    return task != nullptr ? wait_as_task(stops, request) : wait_as_thread(stops, request, until_ns);
  }
  stops.lock.unlock();
  return answer;
}

// --- The stop, by who has the turn ---

// If the task ends meanwhile, its record stays that of a task.
void append_late(TextWriter& line, const Worker& late) noexcept {
  const auto* const task = static_cast<const Task*>(
      static_cast<Runnable*>(__atomic_load_n(&static_cast<const WorkerSlot&>(late).task, __ATOMIC_RELAXED)));
  line.append("janus: safepoint: ");
  if (task != nullptr) {
    append_task(line, *task);
    append_function(line, reinterpret_cast<std::uint64_t>(task->fn));
    line.append(" on worker %u has come to no check in the time given", unsigned{late.id});
  } else {
    line.append("worker %u has not stopped in the time given", unsigned{late.id});
  }
  line.append("; the world goes on\n");
}

struct Asking {
  Runtime& runtime;
  Task* task;
};
bool has_given_up(void* argument) noexcept {
  const auto& asking = *static_cast<Asking*>(argument);
  if (asking.task != nullptr) return is_cancelled(*asking.task);
  return asking.runtime.stops.is_closed.load(std::memory_order_relaxed);
}

// 0, or why the world goes on.
int stop_in_turn(Runtime& runtime, Task* task, const StopLimit& limit) noexcept {
  Safepoints& safepoints = runtime.scheduler.safepoints();
  runtime.scheduler.begin_stop(task != nullptr ? &current_worker() : nullptr);
  end_slices(runtime);  // until the world goes on; the partner is yield_slow()
  Asking asking{runtime, task};
  const Worker* const late = safepoints.await(limit.until_ns, has_given_up, &asking);
  if (late == nullptr) {
    LockGuard guard(runtime.stops.lock);
    runtime.stops.is_stopped = true;
    runtime.stops.depth = 1;
    return 0;
  }
  const bool gave_up = has_given_up(&asking);
  Text<384> line;
  if (limit.names_late && !gave_up) append_late(line, *late);
  {
    LockGuard guard(runtime.stops.lock);
    let_go(runtime);
  }
  if (line.size() != 0) say(line.data(), line.size());
  if (gave_up) return task != nullptr ? result_of(WaitEnd::kCancelled, *task) : kErrorState;
  return kErrorTimeout;
}

void hold(Task& task) noexcept {
  task.mark(TaskMarks::kHasContext);
  task.frame->details.context |= RunDetails::kHoldsWorld;
  Worker& worker = current_worker();
  worker.scheduler->hold(worker);
}

void give_up_hold(Task& task) noexcept {
  task.frame->details.context &= static_cast<std::uint8_t>(~RunDetails::kHoldsWorld);
  look_at_context(task);
  Worker& worker = current_worker();
  worker.scheduler->release(worker);
}

}  // namespace

int stop_world(Runtime& runtime, Task* task, StopLimit limit) noexcept {
  bool is_stopped = false;
  int answer = take_turn(runtime, task, limit.until_ns, is_stopped);
  if (answer == 0 && !is_stopped) {
    answer = stop_in_turn(runtime, task, limit);
    if (answer == 0 && task != nullptr) hold(*task);
  }
  return answer;
}

int resume_world(Runtime& runtime, Task* task) noexcept {
  if (task != nullptr) look_at_loss(*task);
  WorldStops& stops = runtime.stops;
  LockGuard guard(stops.lock);
  if (!is_holder(stops, task) || !stops.is_stopped || stops.is_walked) return kErrorState;
  if (--stops.depth != 0) return 0;
  if (task != nullptr) give_up_hold(*task);
  let_go(runtime);
  return 0;
}

void lose_world(Task& task, WorldLoss loss) noexcept {
  JANUS_ASSERT(holds_world(task));
  Runtime& runtime = *task.nursery->runtime;
  if (loss == WorldLoss::kWaits) task.frame->details.context |= RunDetails::kLostWorld;
  give_up_hold(task);
  LockGuard guard(runtime.stops.lock);
  let_go(runtime);
}

void stand_with_world(Worker& worker) noexcept {
  Runtime& runtime = runtime_of(worker);
  Safepoints& safepoints = runtime.scheduler.safepoints();
  end_slices(runtime);
  safepoints.stand(worker);
  runtime.slice_ops.store(runtime.options.yield_interval, std::memory_order_seq_cst);
  if (safepoints.is_to_stop()) end_slices(runtime);  // the task's own stop, or the next one
}

void look_at_loss(Task& task) noexcept {
  if (!task.is_marked(TaskMarks::kHasContext) || (task.frame->details.context & RunDetails::kLostWorld) == 0) return;
  task.frame->details.context &= static_cast<std::uint8_t>(~RunDetails::kLostWorld);
  look_at_context(task);
  panic(task, Cause::kMisuse, "it has waited while it had the world stopped");
}

int begin_walk(Runtime& runtime, Task* task) noexcept {
  if (task != nullptr) look_at_loss(*task);
  WorldStops& stops = runtime.stops;
  LockGuard guard(stops.lock);
  if (!is_holder(stops, task) || !stops.is_stopped || stops.is_walked) return kErrorState;
  stops.is_walked = true;
  return 0;
}

WalkPages* add_walk_pages(Runtime& runtime) noexcept {
  auto* const pages = reinterpret_cast<WalkPages*>(platform::map(kWalkPagesBytes));
  if (pages == nullptr) return nullptr;
  pages->next = static_cast<WalkPages*>(runtime.stops.walk_pages);
  runtime.stops.walk_pages = pages;
  return pages;
}

void end_walk(Runtime& runtime, Task* task) noexcept {
  if (task != nullptr) look_at_loss(*task);
  LockGuard guard(runtime.stops.lock);
  free_walk_pages(runtime.stops);
  runtime.stops.is_walked = false;
}

void refuse_stops(Runtime& runtime) noexcept {
  WorldStops& stops = runtime.stops;
  LockGuard guard(stops.lock);
  for (StopRequest** at = &stops.first; *at != nullptr;) {
    StopRequest& request = **at;
    if (request.task != nullptr) {
      at = &request.next;
      continue;
    }
    *at = request.next;
    set_and_wake(request, StopRequest::kIsRefused);
  }
}

void end_stops(Runtime& runtime) noexcept {
  LockGuard guard(runtime.stops.lock);
  if (runtime.stops.is_stopped && runtime.stops.holder == nullptr) let_go(runtime);
}

}  // namespace janus
