// SPDX-License-Identifier: Apache-2.0
// rt/sched/scheduler.h — moves runnables over workers. Every stack has a base frame that loops: it takes the next
// runnable, calls it if it has not started, switches to it if it has. Knows no task, nursery or budget.
//
// INVARIANT published-after-left: a runnable that stops is queued, or findable by a waker, only after its stack has
// been left. It records a pending action in the worker and switches; whatever runs next performs the action first.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/sched/deterministic.h"
#include "rt/sched/event.h"
#include "rt/sched/event_sources.h"
#include "rt/sched/hooks.h"
#include "rt/sched/idle.h"
#include "rt/sched/injector.h"
#include "rt/sched/worker.h"

namespace janus {

enum class Victim : std::uint8_t { kRandom, kRoundRobin, kLeastLoaded };

// When a worker keeps to one CPU.
enum class Pinning : std::uint8_t { kNever, kWhileSeveralWork, kAlways };

struct SchedulerOptions {
  unsigned workers;
  std::uint64_t seed;
  bool deterministic;
  Pinning pinning;
  const platform::Cpus* pin_to;  // during start(), if they are to be pinned
  Victim victim;
  std::uint32_t fair_ops;       // a fair round (WorkerFairness) after so many ops ...
  std::uint32_t fair_interval;  // ... and after so many dispatches, whatever they spent
  Runtime* runtime;             // WorkerIdentity::runtime
};

class Scheduler {
 public:
  // Lowest stack that code of the runtime may start with, and what it needs below that.
  static constexpr std::size_t kStackReserve = 1536 + kWatchersStackBytes;

  // Creates the workers' records and, but for `with_caller`, their threads. False: nothing is left behind; `started`
  // says how many threads the machine gave.
  [[nodiscard]] bool start(const SchedulerOptions& options, StackPool& stacks, bool with_caller,
                           unsigned& started) noexcept;
  // With `with_caller`: the other threads, and then the calling one is worker 0 until stop(), and begins with `first`.
  // False: the machine gave only `started` threads, and `first` has not run.
  [[nodiscard]] bool run_caller(Runnable* first, unsigned& started) noexcept;
  // Any thread: workers leave their loops as soon as they stand in them. Every task has ended.
  void stop() noexcept;
  // Waits until all workers have left (from outside), and frees them.
  void join() noexcept;

  // --- For code that runs on a worker ---

  // Queues what may run: spawned, or woken by what runs on `worker`.
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] void push_fresh(Worker& worker, Runnable* runnable) noexcept {
    if (!worker.ready.try_push(Entry::fresh(runnable))) [[unlikely]]
      return push_with_room(worker, Entry::fresh(runnable));
    if (idle_.wants_wake<kPath>(false)) [[unlikely]]
      wake_with_newest(worker);
  }
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] void push_woken(Worker& worker, Runnable* runnable) noexcept {
    if (!try_push_woken(worker, runnable)) [[unlikely]]
      return push_with_room(worker, Entry::woken(runnable));
    if (wants_wake_for_woken<kPath>()) [[unlikely]]
      wake_one();
  }
  // push_woken() in steps, for who has something to release before the last one. False: there was no room, nothing has
  // happened.
  [[nodiscard, gnu::always_inline]] bool try_push_woken(Worker& worker, Runnable* runnable) noexcept {
    return worker.ready.try_push(Entry::woken(runnable));
  }
  template <Path kPath>
  [[nodiscard, gnu::always_inline]] bool wants_wake_for_woken() const noexcept {
    return idle_.wants_wake<kPath>(true);
  }
  void wake_one() noexcept;
  // Behind everything that is ready.
  void push_yielded(Worker& worker, Runnable* runnable) noexcept {
    if (!queue_yielded(worker, runnable)) [[unlikely]]
      return overflow(worker, runnable);
    if (idle_.wants_wake(false)) [[unlikely]]
      wake_one();
  }
  // Any thread: room for runnables of `party`, below `parent` (parties.h); nobody uses the number at present. False: no
  // memory.
  [[nodiscard]] bool add_party(std::uint32_t party, std::uint32_t parent) noexcept {
    return party_table_.add(party, parent);
  }
  // Before a runnable of another party than 0 has a slice on `worker`; and before one of party 0 goes on in whose place
  // such a one ran.
  static void begin_slice_of_party(Worker& worker, std::uint32_t party) noexcept {
    if (worker.turn_of != party) worker.scheduler->change_turn(worker, party);
  }
  // At the end of a slice: the turn of `running`, which is on `worker`, goes on, since its party has spent less than
  // all others that are ready here, and nobody else of its own is.
  [[nodiscard]] bool keeps_turn(Worker& worker, const Runnable& running) noexcept {
    return worker.has_other_parties() && keeps_turn_among_parties(worker, running);
  }
  // From any thread.
  void inject(Runnable* runnable) noexcept;

  // Leaves the running stack: goes on with what is ready, or looks for work. `publish` runs once the stack has been
  // left. Returns when somebody has switched to `self`. False: there was no stack to go on with, nothing has happened.
  template <Path kPath = Path::kGeneral>
  [[nodiscard]] bool suspend(Worker& worker, Suspension& self, Pending publish) noexcept;
  // Leaves the running stack, and is behind all that is ready once it has been left. False also when nothing else is
  // ready on this worker.
  [[nodiscard]] bool yield(Worker& worker, Runnable* yielding, Suspension& self) noexcept;
  // Takes the newest ready runnable if it has not started and `wanted` says yes; for helping instead of waiting. It is
  // taken before it is looked at: what still lies in the deque may be a thief's already.
  template <Path kPath = Path::kGeneral, typename Wanted>
  [[gnu::always_inline]] Runnable* take_fresh_if(Worker& worker, Wanted wanted) noexcept {
    const Entry entry = worker.ready.pop<kPath>();
    if (!entry) return nullptr;
    Runnable* const runnable = entry.runnable();
    if (runnable->suspension() == nullptr && wanted(runnable)) [[likely]]
      return runnable;
    push_back(worker, entry);
    return nullptr;
  }
  bool has_ready(const Worker& worker) const noexcept {
    return worker.ready.size() != 0 || worker.yielded.size() != 0 || worker.parties.size() != 0 ||
           !injector_.is_empty();
  }
  // Deterministic mode: another worker may go on here. No lock is held.
  void sched_point() noexcept {
    if (is_deterministic_) [[unlikely]]
      deterministic_.sched_point();
  }
  // The partner of a platform::heavy_fence().
  void light_fence() const noexcept { idle_.light_fence(); }
  void trace_event(const Worker& worker, Event event, const Runnable* runnable) noexcept {
    if (is_deterministic_) [[unlikely]]
      order_hash_.add(event, worker.id, hooks::id_of(runnable));
  }
  // Deterministic mode: of all events so far; else 0.
  std::uint64_t order_hash() const noexcept { return order_hash_.value(); }

  // Some worker calls hooks::on_attention() soon: one that looks for work, or is between two slices. Any thread, any
  // signal handler.
  void request_attention() noexcept;
  // A moment ago. Whoever does something that the last one to go to sleep looks at does it first: then either is seen.
  bool are_all_asleep() const noexcept { return idle_.sleeping() == worker_count_; }
  // No worker has run since `entered` (hooks::on_all_idle).
  bool all_slept_since(IdleSet::Snapshot entered) const noexcept { return idle_.all_slept_since(entered); }
  bool wants_attention() const noexcept { return attention_.has_event(); }
  void handle_attention(Worker& worker) noexcept { attention_.poll(worker, 0); }

  Worker* worker(unsigned index) noexcept { return &workers_[index]; }
  unsigned worker_count() const noexcept { return worker_count_; }
  bool is_deterministic() const noexcept { return is_deterministic_; }
  std::uint64_t now_ns() noexcept { return is_deterministic_ ? deterministic_.now_ns() : platform::now_ns(); }
  unsigned pinned() const noexcept;  // workers that keep to a CPU now
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }

  // Where code of the runtime begins to look closely. That is everywhere on a stack that no guard ends (its canary has
  // to be looked at, too), in deterministic mode (there is more to each step), and where the machine has no heavy
  // fence. So who starts above the limit need ask for none of these.
  static inline std::byte* const kAlwaysSlow = reinterpret_cast<std::byte*>(~std::uintptr_t{0});
  std::byte* stack_limit_of(const Stack* stack) const noexcept {
    return stack->guard != platform::Guard::kNone && !is_always_slow_ ? stack->limit + kStackReserve : kAlwaysSlow;
  }
  static bool is_always_slow(const Worker& worker) noexcept { return worker.stack_limit == kAlwaysSlow; }

  // The worker's words for the stack that it is about to stand on. Entered: at its top, and what was left on it is
  // forgotten. Restored: where it was left.
  static void enter_stack(Worker& worker, Stack* stack) noexcept;
  static void restore_stack(Worker& worker, Stack* stack) noexcept;

  // What has to be done first on a stack that was just switched to.
  static void run_pending_action() noexcept {
    Worker& worker = current_worker();
    const Pending pending = worker.pending;
    if (pending.action == nullptr) return;
    worker.pending.action = nullptr;
    pending.action(worker, pending.first, pending.second);
  }

 private:
  friend struct DebuggerLayout;  // rt/abi/debugger.cpp

  // What was taken and not wanted.
  void push_back(Worker& worker, Entry entry) noexcept;
  // The deque was full.
  void push_with_room(Worker& worker, Entry entry) noexcept;
  // After a push while somebody sleeps: what is newest goes to whoever is woken.
  void wake_with_newest(Worker& worker) noexcept;

  static std::int64_t base_frame(void*) noexcept;
  static void thread_main(void* worker) noexcept;
  static void logical_main(void* scheduler) noexcept;
  void worker_main(Worker& worker) noexcept;

  bool init_worker(unsigned index) noexcept;
  void pin_to(const platform::Cpus* cpus) noexcept;
  int cpu_at_start(unsigned index) const noexcept;
  bool start_threads(unsigned& started) noexcept;
  void destroy_workers() noexcept;

  Runnable* next(Worker& worker) noexcept;
  template <Path kPath>
  Runnable* next_own(Worker& worker) noexcept;
  Runnable* next_waiting(Worker& worker) noexcept;
  static void fetch_ready_ahead(const Worker& worker) noexcept;
  static void fetch_yielded_ahead(const Worker& worker) noexcept;
  Runnable* next_fair(Worker& worker) noexcept;
  std::uint64_t turn_clock(const Worker& worker) noexcept;
  static std::uint64_t time_of_long_turn(Worker& worker, std::uint64_t now, std::uint64_t seems) noexcept;
  void end_turn(Worker& worker) noexcept;
  void begin_turn(Worker& worker, std::uint32_t party) noexcept;
  void change_turn(Worker& worker, std::uint32_t party) noexcept;
  bool keeps_turn_among_parties(Worker& worker, const Runnable& running) noexcept;
  Runnable* next_among_parties(Worker& worker) noexcept;
  Runnable* take_newest_due(Worker& worker) noexcept;
  Runnable* take_oldest_ready(Worker& worker) noexcept;
  Runnable* take_longest_waiting(Worker& worker, FairSource source) noexcept;
  Runnable* find_work(Worker& worker) noexcept;
  Runnable* search(Worker& worker, bool& was_deferred) noexcept;
  Runnable* sweep(Worker& worker, bool& was_deferred) noexcept;
  Runnable* steal_from(Worker& worker, Worker& victim, bool& was_deferred) noexcept;
  Runnable* steal_yielded(Worker& worker, Worker& victim) noexcept;
  [[nodiscard]] static bool queue_yielded(Worker& worker, Runnable* runnable) noexcept;
  bool defer_to_waker(Worker& worker, Worker& victim, Entry oldest) noexcept;
  bool is_left_to_waker(const Worker& victim, Entry oldest) const noexcept;
  bool has_work_anywhere(const Worker& worker) noexcept;
  unsigned choose_victim(Worker& worker) noexcept;
  Runnable* take_injected(Worker& worker) noexcept;
  bool sleep(Worker& worker, bool was_searching, bool was_deferred) noexcept;
  void keep_to_cpu(Worker& worker) noexcept;
  static void let_go(Worker& worker) noexcept;
  void let_last_one_go(Worker& worker, IdleSet::Snapshot entered) noexcept;
  void backoff_park(Worker& worker) noexcept;
  bool park(Worker& worker, std::uint64_t until_ns) noexcept;
  void unpark(Worker& worker) noexcept;
  void overflow(Worker& worker, Runnable* runnable) noexcept;

  bool is_own_thread() const noexcept;

  bool yield_to_next(Worker& worker, Runnable* yielding, Suspension& self) noexcept;
  static void publish_yielded(Worker& worker, void* yielded, void*) noexcept;
  static void publish_reserved(Worker& worker, void*, void*) noexcept;
  template <Path kPath>
  bool go_on_with(Worker& worker, Suspension& self, Runnable* to, Pending publish) noexcept;
  bool start_fresh(Worker& worker, Suspension& self, Runnable* to, Pending publish) noexcept;
  template <Path kPath>
  static void leave(Worker& worker, Suspension& self, const arch::Context& target, Pending publish) noexcept;
  static void switch_to(Worker& worker, void* mine, arch::Context& from, const arch::Context& to) noexcept;
  // `user`: who is to stand on it; `waiter`: who cannot wait without it. Both nullptr: the worker itself.
  Stack* take_stack(Worker& worker, unsigned size_class, const Runnable* user, const Runnable* waiter) noexcept;
  static void restore_suspended(Worker& worker, const Suspension& suspension) noexcept;
  void switch_and_free_stack(Worker& worker, Runnable* started) noexcept;
  void change_stack(Worker& worker, Runnable* fresh, Stack* stack) noexcept;
  void leave_for_good(Worker& worker) noexcept;

  SchedulerOptions options_;
  StackPool* stacks_;
  Worker* workers_;
  unsigned worker_count_;
  unsigned pinned_;  // from the start
  Pinning pinning_;
  std::int16_t* cpus_;  // each worker's, or -1
  bool is_deterministic_;
  bool is_always_slow_;
  bool has_caller_;
  std::atomic<bool> stopping_;
  IdleSet idle_;
  Injector injector_;
  PartyTable party_table_;
  DeterministicScheduler deterministic_;
  OrderHash order_hash_;
  std::atomic<std::uint32_t> threads_;  // threads that have not left; join() waits for 0
  Attention attention_;
  StackReclaim stack_reclaim_;
};

}  // namespace janus
