// SPDX-License-Identifier: Apache-2.0
// rt/sched/scheduler.h — runs runnables on workers. Every stack has a base frame that loops: it takes the next
// runnable, calls it if it has not started, and switches to it if it has. Knows no task, nursery or budget.
// docs/decisions/0092, 0299
//
// Class Scheduler starts and ends the workers, queues runnables (push.cpp) and switches stacks (switching.cpp). Its
// parts:
//   Dispatcher              the next runnable that is queued here   rt/sched/dispatcher.h
//   IdleWorkers             searching, sleeping and being woken     rt/sched/idle_workers.h
//   Thieves                 taking from other workers, for both     rt/sched/thieves.h
//   DeterministicScheduler  what differs in deterministic mode      rt/sched/deterministic.h
//
// INVARIANT published-after-left: a runnable that stops is queued, or can be found by a waker, only after its stack has
// been left. It records a pending action in the worker and switches; the code that is switched to performs the action
// first.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/opaque.h>
#include "rt/sched/deterministic.h"
#include "rt/sched/dispatcher.h"
#include "rt/sched/idle_workers.h"
#include "rt/sched/thieves.h"
#include "rt/sched/worker.h"

namespace janus {

struct SchedulerOptions {
  unsigned workers;
  std::uint64_t seed;
  bool deterministic;
  Pinning pinning;
  const platform::Cpus* pin_to;  // the CPUs to pin to, or nullptr; read by start() only
  Victim victim;
  std::uint32_t fair_ops;       // ops of a worker from one fair round (WorkerFairness) to the next ...
  std::uint32_t fair_interval;  // ... and the most dispatches, whatever they spend
  Runtime* runtime;             // WorkerIdentity::runtime
};

class Scheduler {
 public:
  // Code of the runtime may start on a stack only with at least this many bytes left above its limit: as much as any of
  // its calls needs on any machine, so that a task never overflows in the middle of one. tests/arch/stack_need_test.py
  static constexpr std::size_t kStackReserve = 2816 + kWatchersStackBytes;

  // Creates the workers' records and, unless `with_caller`, their threads. False: nothing is left behind; `started`
  // says for how many workers the machine gave a stack and a thread.
  [[nodiscard]] bool start(const SchedulerOptions& options, StackPool& stacks, bool with_caller,
                           unsigned& started) noexcept;
  // After start() with `with_caller`: starts the other threads; then the calling thread is worker 0 until stop(), and
  // runs `first` first. False: the machine had resources for `started` workers only, and `first` has not run.
  [[nodiscard]] bool run_caller(Runnable* first, unsigned& started) noexcept;
  // Any thread. Workers end as soon as they are back in their loops. Precondition: every task has ended.
  void stop() noexcept { idle_workers_.stop(); }
  // Called from outside the workers: waits until all of them have ended, and frees them.
  void join() noexcept;

  // --- For code that runs on a worker ---

  // Queue a runnable that may run: push_fresh() a spawned one, push_woken() one that the code on `worker` has woken.
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] void push_fresh(Worker& worker, Runnable* runnable) noexcept {
    if (!worker.ready.try_push(Entry::fresh(runnable))) [[unlikely]]
      return push_with_room(worker, Entry::fresh(runnable));
    if (idle_workers_.set().has_sleeper<kPath>()) [[unlikely]]
      wake_with_newest(worker);
  }
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] void push_woken(Worker& worker, Runnable* runnable) noexcept {
    if (!try_push_woken(worker, runnable)) [[unlikely]]
      return push_with_room(worker, Entry::woken(runnable));
    if (has_sleeper<kPath>()) [[unlikely]]
      wake_one_for(Work::kWoken);
  }
  // The steps of push_woken(), for a caller that has to release something before the last one, wake_one_for(). False:
  // the deque has no room, and nothing has happened.
  [[nodiscard, gnu::always_inline]] bool try_push_woken(Worker& worker, Runnable* runnable) noexcept {
    return worker.ready.try_push(Entry::woken(runnable));
  }
  template <Path kPath>
  [[nodiscard, gnu::always_inline]] bool has_sleeper() const noexcept {
    return idle_workers_.set().has_sleeper<kPath>();
  }
  // After has_sleeper(): wakes a worker unless one will find the work anyway.
  void wake_one_for(Work work) noexcept { idle_workers_.wake_one_for(work); }
  // Queues `runnable` behind everything that is ready.
  void push_yielded(Worker& worker, Runnable* runnable) noexcept {
    if (!Dispatcher::queue_yielded(worker, runnable)) [[unlikely]]
      return overflow(runnable);
    if (idle_workers_.set().has_sleeper()) [[unlikely]]
      wake_one_for(Work::kFresh);
  }
  // Queues a runnable with another priority than the normal one that may run: a spawned one, or one that the code on `worker`
  // has woken (priority-in-its-group).
  [[JANUS_OPTIONAL]] void push_with_priority(Worker& worker, Runnable* runnable) noexcept;
  // The calling task's end has woken a task that waits for it: what `worker` runs next is no gain of its last theft.
  void end_theft(Worker& worker) noexcept {
    if (worker.backoff.has_unjudged()) (void)thieves_.judge_last(worker);
  }
  // Gives the turn to `group`. Called before a runnable of a group other than 0 begins a slice on `worker`, and before
  // a runnable of group 0 goes on after one of another group ran in its place.
  static void begin_slice_of_group(Worker& worker, std::uint32_t group) noexcept {
    if (worker.turn_of != group) worker.scheduler->dispatcher_.turn_meter().change(worker, group);
  }
  // The clock of turns.
  static std::uint64_t turn_clock(const Worker& worker) noexcept {
    return worker.scheduler->dispatcher_.turn_meter().clock(worker);
  }
  // Charges `group`, unless it is 0, for what `worker` has done for it since `began`, outside its turn. Returns the time.
  static std::uint64_t charge_outside_turn(Worker& worker, std::uint32_t group, std::uint64_t began) noexcept {
    return worker.scheduler->dispatcher_.turn_meter().charge_outside_turn(worker, group, began);
  }
  // Any thread. Queues `runnable` in the injector.
  void inject(Runnable* runnable) noexcept;

  // Leaves the current stack for the next ready runnable, or for a fresh stack on which the worker looks for work.
  // `publish` is performed once the stack has been left. Returns true, maybe on another worker, when `self` has been
  // switched to. False: there was no stack to go on with, and nothing has happened. Defined in rt/sched/suspend.h.
  template <Path kPath = Path::kGeneral>
  [[nodiscard]] bool suspend(Worker& worker, Suspension& self, Pending publish) noexcept;
  // As suspend(), but queues `yielding` behind all ready runnables once the stack has been left. False also when
  // nothing else is ready on this worker.
  template <Path kPath>
  [[nodiscard]] bool yield(Worker& worker, Runnable* yielding, Suspension& self) noexcept;
  // --- Runnables that are pinned to a worker (WorkerPinned). rt/sched/pinned.cpp ---

  // `running`, on `worker`, is pinned to it from now on, or no longer. While it is, its waker queues it by push_pinned(),
  // it yields by yield_pinned(), and it is no entry of a deque.
  static void add_pin(Worker& worker, const Runnable& running) noexcept;
  static void remove_pin(Worker& worker) noexcept;
  // Any thread. Queues a runnable that is pinned to `home`.
  void push_pinned(Worker& home, Runnable* runnable) noexcept;
  [[nodiscard]] bool yield_pinned(Worker& worker, Runnable* yielding, Suspension& self) noexcept;

  // Takes the newest ready runnable if it has not started and `wanted` accepts it, so that a task can run its child
  // instead of waiting for it. It is popped before it is read: an entry still in the deque may be a thief's already.
  // kIsExpected: there will be one nearly always.
  template <Path kPath = Path::kGeneral, bool kIsExpected = false, typename Wanted>
  [[gnu::always_inline]] static Runnable* take_fresh_if(Worker& worker, Wanted wanted) noexcept {
    const Entry entry = kIsExpected ? worker.ready.pop_expected<kPath>() : worker.ready.pop<kPath>();
    if (!entry) return nullptr;
    Runnable* const runnable = entry.runnable();
    if (runnable == nullptr) __builtin_unreachable();  // lets the compiler drop the caller's test
    if (arch::cmp_relaxed(runnable->suspended_at, nullptr) && wanted(runnable)) [[likely]]
      return runnable;
    worker.scheduler->push_back(worker, entry);
    return nullptr;
  }
  // In deterministic mode another worker may step here. While the world is to stop, the worker stands here, unless it is
  // the requester's. Precondition: no lock is held, and no runnable is in hand that has not started.
  void sched_point() noexcept {
    if (!arch::cmp_relaxed(points_, 0)) [[unlikely]]
      at_point();
  }
  Safepoints& safepoints() noexcept { return idle_workers_.safepoints(); }
  // Makes the world stop (Safepoints::begin). Called by one requester at a time.
  void begin_stop(Worker* mine) noexcept {
    safepoints().init({workers_, &deterministic_, &points_, kStops});
    safepoints().begin(mine);
  }
  // While the world is stopped: each runnable that is queued.
  template <typename Use>
  void for_each_queued(Use use) noexcept {
    dispatcher_.for_each_queued(workers_, use);
    deterministic_.for_each_submitted(use);
  }
  // By a worker whose task has stopped the world: until release(), calls of the task take the general path, which lets
  // nobody else run.
  void hold(Worker& worker) noexcept;
  void release(Worker& worker) noexcept;
  // Orders the caller's earlier stores before its later loads with respect to a thread that executes a
  // platform::heavy_fence().
  void light_fence() const noexcept { idle_workers_.set().light_fence(); }
  // In deterministic mode the event becomes part of order_hash().
  void trace_event(const Worker& worker, Event event, const Runnable* runnable) noexcept {
    deterministic_.trace(worker, event, runnable);
  }
  // The hash of all events so far in deterministic mode; 0 outside it.
  std::uint64_t order_hash() const noexcept { return deterministic_.order_hash(); }

  // Any thread. All workers slept when this looked. Orders nothing itself. A caller that changes what
  // hooks::on_all_idle() reads does so by an atomic read-modify-write, which is a full fence on x86_64, just before it
  // calls this: then the worker that fell asleep last has seen the change, or the caller sees all workers asleep.
  bool are_all_asleep() const noexcept { return idle_workers_.set().sleeping() == workers_.count; }
  // For hooks::on_all_idle(): no worker has run since `entered`.
  bool all_slept_since(IdleSet::Snapshot entered) const noexcept {
    return idle_workers_.set().all_slept_since(entered);
  }

  Dispatcher& dispatcher() noexcept { return dispatcher_; }
  IdleWorkers& idle_workers() noexcept { return idle_workers_; }
  Worker* worker(unsigned index) noexcept { return &workers_[index]; }
  unsigned worker_count() const noexcept { return workers_.count; }
  bool is_deterministic() const noexcept { return deterministic_.is_on(); }
  std::uint64_t now_ns() const noexcept { return deterministic_.now_ns(); }

  // The stack limit below which a call of the runtime takes the general path. It is kAlwaysSlow, above every address,
  // on a stack without a guard page (its canary has to be checked), in deterministic mode (each step does more), and on
  // a machine without heavy fence. So code that starts above the limit need not test for any of these.
  static inline std::byte* const kAlwaysSlow = reinterpret_cast<std::byte*>(~std::uintptr_t{0});
  std::byte* stack_limit_of(const Stack* stack) const noexcept {
    return stack->guard != platform::Guard::kNone && !is_always_slow_ ? stack->limit + kStackReserve : kAlwaysSlow;
  }
  static bool is_always_slow(const Worker& worker) noexcept { return worker.stack_limit == kAlwaysSlow; }

  // Set the worker's words for the stack that it is about to switch to: enter_stack() for one entered at its top, whose
  // old frames are forgotten; restore_stack() for one resumed where it was left.
  static void enter_stack(Worker& worker, Stack* stack) noexcept;
  static void restore_stack(Worker& worker, Stack* stack) noexcept;

  // Performs the pending action of the stack that was left. Called first on a stack that was just switched to.
  static void run_pending_action() noexcept {
    Worker& worker = current_worker();
    const Pending pending = worker.pending;
    if (pending.action == nullptr) return;
    worker.pending.action = nullptr;
    pending.action(worker, pending.first, pending.second);
  }

 private:
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  // Queues an entry again that was popped and not wanted. Declared cold here, since a caller on a fast path does not
  // see the definition (push.cpp).
  [[gnu::cold]] void push_back(Worker& worker, Entry entry) noexcept;
  // Queues an entry for which the deque had no room.
  void push_with_room(Worker& worker, Entry entry) noexcept;
  void overflow(Runnable* runnable) noexcept;
  // After a push while a worker sleeps: wakes one and hands it the newest entry, unless one will find the work anyway.
  void wake_with_newest(Worker& worker) noexcept;

  static std::int64_t base_frame(void*) noexcept;
  static void thread_main(void* worker) noexcept;
  static void logical_main(void* scheduler) noexcept;
  void worker_main(Worker& worker) noexcept;

  bool init_worker(const SchedulerOptions& options, unsigned index) noexcept;
  bool take_first_stacks(unsigned class_of_first, unsigned& taken) noexcept;
  bool prepare_stack(unsigned size_class) noexcept;
  bool start_threads(unsigned class_of_first, unsigned& started) noexcept;
  void destroy_workers() noexcept;

  Runnable* next(Worker& worker) noexcept;
  void at_point() noexcept;

  bool yield_to_next(Worker& worker, Runnable* yielding, Suspension& self) noexcept;
  template <Path kPath>
  bool go_on_with(Worker& worker, Suspension& self, Runnable* to, Pending publish) noexcept;
  bool start_fresh(Worker& worker, Suspension& self, Runnable* to, const Pending& publish) noexcept;
  // `user`: the runnable that will run on the stack; `waiter`: the one that cannot wait without it. Both nullptr: the
  // stack is for the worker's own loop.
  Stack* take_stack(Worker& worker, unsigned size_class, const Runnable* user, const Runnable* waiter) noexcept;
  void switch_and_free_stack(Worker& worker, Runnable* started) noexcept;
  void change_stack(Worker& worker, Runnable* fresh, Stack* stack) noexcept;
  void leave_for_good(Worker& worker) noexcept;

  Dispatcher dispatcher_;  // first: so that fast paths pass it on without computing its address
  DeterministicScheduler deterministic_;
  StackPool* stacks_;
  WorkerList workers_;
  bool is_always_slow_;
  bool has_caller_;
  static constexpr std::uint8_t kSteps = 1, kStops = 2;
  std::atomic<std::uint8_t> points_{0};  // what sched_point() has to do; any thread changes kStops
  std::atomic<std::uint32_t> threads_;   // threads that have not ended; join() waits for 0
  Thieves thieves_;
  IdleWorkers idle_workers_;
  struct {
    std::byte *stack_limit, *end_of_stack;
    bool is_always_slow;
  } before_hold_;  // of the worker that holds the world
};

}  // namespace janus
