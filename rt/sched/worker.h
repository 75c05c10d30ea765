// SPDX-License-Identifier: Apache-2.0
// rt/sched/worker.h — a worker: one thread (in deterministic mode a fiber of one thread) that runs tasks. Its record is
// divided into parts, by layer and by which threads may access them.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/context.h>
#include "rt/base/biased_lock.h"
#include "rt/base/rng.h"
#include "rt/base/worker_slot.h"
#include "rt/budget/memory_cache.h"
#include "rt/mem/heap.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_pool.h"
#include "rt/sched/counters.h"
#include "rt/sched/deque.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/sched/groups.h"
#include "rt/sched/handle_cache.h"
#include "rt/sched/injector.h"
#include "rt/sched/parker.h"
#include "rt/sched/runnable.h"
#include "rt/sched/standstill.h"
#include "rt/sched/steal_backoff.h"
#include "rt/sched/world.h"
#include "rt/sched/yield_queue.h"

namespace janus {

class Account;
class Scheduler;
struct Helper;  // these two are defined by the layer above; the scheduler only passes them on
struct Runtime;
struct Worker;

// An action that a stack records before it is left; the code that the worker switches to performs it first
// (published-after-left, scheduler.h).
struct Pending {
  void (*action)(Worker& worker, void* first, void* second);
  void* first;
  void* second;
};

// Any thread may read it; not written once the worker has started.
struct WorkerIdentity {
  Scheduler* scheduler;
  Runtime* runtime;
  std::uint16_t id;
  bool is_steal_enabled;
};

// Owner only: the stack that the worker runs on, and the action to perform on the next one.
struct WorkerStanding {
  Stack* stack;
  fiber_hooks::Fiber fiber;         // the sanitizer's identifier of `stack`
  fiber_hooks::Fiber thread_fiber;  // and that of the thread's own stack
  Pending pending;
  Runnable* handoff;             // the first runnable for the base frame of a fresh stack
  arch::Context thread_context;  // where the worker's thread left its own stack for the first of the pool
};

// What pays for a slice with a charged_account. The slices of a cancelled task are taken from its grace as well.
enum class SlicePayer : std::uint8_t { kAccount, kAccountInGrace, kLoanInGrace, kGraceAlone };

// Owner only: words of the task layer.
struct WorkerSlice {
  std::int64_t slice;        // what `fuel` started from
  Account* charged_account;  // the account that pays for the slice, or for which it was borrowed; nullptr: none pays
  SlicePayer payer;          // unless charged_account is nullptr
  LockOwner locks;           // the owner to which locks may be biased
  // A block of task ids, taken ahead. The next task that is spawned gets first + counters.spawned, unless that counter
  // has reached `end`.
  struct {
    std::uint64_t first, end;
  } ids;
};

// Owner only, but any thread may call back what `memory` holds (rt/budget/memory_cache.h).
struct WorkerCaches {
  SlabCache tasks, nurseries, channels;
  HandleCache channels_found;
  HeapCache heap;
  StackCache stacks;
  MemoryCache memory;
};

// Owner only: how the worker looks for work.
struct WorkerSearch {
  Rng rng;
  StealBackoff backoff;
  std::uint32_t next_victim;   // Victim::kRoundRobin
  std::uint32_t next_watched;  // by watch_others()
  std::uint32_t next_timers;   // the worker whose timers were looked at last (Timers)
};

// The queues from which fair rounds take the oldest runnable, in rotation.
enum class FairSource : std::uint8_t { kYielded, kReady, kInjector };
inline constexpr unsigned kFairSources = 3;

// Owner only: when a dispatch is a fair round, which takes the runnable that has waited longest instead of the newest.
//
// INVARIANT everyone-has-a-turn: let Q be fair_ops, and S the most that a task spends between two dispatches (a slice,
// and what one operation may cost beyond its end). A dispatch is a fair round at the latest when the tasks of this
// worker have together spent Q + S ops since the last one. Fair rounds take the oldest runnable of the yield queue, of
// the deque and of the injector in rotation; an empty queue passes its turn on. So a runnable that waits in one of them
// behind k others, or alone (k = 0), is run within 3 (k + 1) (Q + S) ops of this worker. Each dispatch also counts as
// dispatch_ops, so that tasks that do next to nothing cannot make a round last long. tests/sched/fairness_test.cpp
//
// INVARIANT a-turn-lasts: while there are groups other than group 0 (groups.h), one group, maybe group 0, has the turn,
// and only its runnables run. The turn ends with the fair round, or when none of its runnables is ready; at the first
// dispatch after kMaxTurnTicks, since dispatches that cost few ops may take long; when the newest of the deque is of a
// group that is neither this one nor group 0; and when a long operation has done a part (TurnMeter::end_early()). Then
// the cost of the turn is measured (turn_meter.h), and the group that has spent least gets the next one
// (among_groups.cpp), which begins with its runnable that has waited longest. A runnable that yields lets only
// runnables of its own group run. docs/decisions/0303, tests/api/fairness_test.cpp
//
// The fast paths handle group 0 alone, and require until_fair to be above a bar, which is 0 or kOutOfReach. So their
// one comparison that detects a fair round also detects other groups. A dispatch requires that there are none: its bar
// is out of reach from the moment when a runnable of another group is queued or runs here until a turn of group 0 ends
// with none. A yield takes from the queue of group 0, so it only requires that no other has the turn.
struct WorkerFairness {
  std::int64_t until_fair;    // ops; not positive: the next dispatch is a fair round
  std::int64_t dispatch_bar;  // 0, or kOutOfReach
  std::int64_t yield_bar;     // 0, or kOutOfReach
  std::int64_t dispatch_ops;  // the ops that a dispatch counts as
  FairSource fair_source;     // the queue that the next fair round takes from
  std::uint8_t rounds;        // since the worker has looked for a group that it lacks
  bool may_hide_group_0;      // during a turn of another group: the deque may hold runnables of group 0
  // The group whose turn it is, and when the turn began by TurnMeter::clock().
  std::uint32_t turn_of = kNobody;
  std::uint64_t turn_began;
  std::uint64_t turn_until;  // in ticks of rdtsc; the greatest number in deterministic mode
  static constexpr std::uint64_t kLongAgo = std::uint64_t{1} << 63;  // by the difference, modulo 2^64, to any time
  // The last reading of the thread's CPU time: `ran_ns` at `at_ns`; kLongAgo if the worker has slept since.
  struct {
    std::uint64_t at_ns = kLongAgo, ran_ns;
  } asked;
  std::uint64_t preemptions;  // of the thread, when the worker last asked

  static constexpr std::int64_t kOutOfReach = INT64_MAX;
  // In fair rounds, of some 20 us each: a theft holds its victim up for a moment.
  static constexpr std::uint8_t kSpreadInterval = 16;
  // Some 10 to 25 us: many times the cost of choosing the next group, and too short for a user to notice.
  static constexpr std::uint64_t kMaxTurnTicks = 50'000;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  [[nodiscard]] bool has_other_groups() const noexcept { return dispatch_bar != 0; }
};

// The worker's ready runnables. Any worker may steal from all three.
struct WorkerQueues {
  alignas(arch::kPrefetchPair) Deque ready;  // spawned and woken ones; newest first for the owner
  YieldQueue yielded;                        // those of group 0 that yielded: oldest first
  Groups groups;                             // those of all other groups
};

// For the owner and its alarm's handler, which interrupts it: whether what runs comes back to the runtime
// (rt/task/account/turn_limit.h). The handler runs on the worker's own thread, so only the compiler has to keep an order.
struct WorkerWatch {
  struct {
    int alarm;                          // 0: none was opened; negative: the machine has none; else its number and 1
    std::atomic<bool> is_set;           // the alarm interrupts
    std::atomic<bool> is_in_call;       // in a system call of the running task (rt/abi/system.cpp)
    std::atomic<bool> has_interrupted;  // the alarm has, since is_in_call was set
    // The handler's: what the last look saw.
    std::uint64_t task_id;
    std::int64_t steps;
    std::uint64_t ran_ns, held_ns;
    bool is_seldom;  // the alarm's period is long, since no group was limited when it was set
    bool is_named;   // the task was reported
  } watch;
};

// Runnables that this worker alone may run. While there are any (Counters::pinned), queued or not, the worker chooses
// among them and the others by turns, as among groups (a-turn-lasts). Thieves do not look here. docs/decisions/0342
//
// INVARIANT pinned-stays: a pinned runnable that is ready is in `queued` of its worker, and in no other queue.
struct WorkerPinned {
  Injector queued;  // pushed to by any thread; the owner alone takes
  bool has_turn;    // owner only: the last turn for which one was queued was its
  [[nodiscard]] bool is_any_ready() const noexcept { return !queued.is_empty(); }
};

// Only for the DeterministicScheduler, except for the token.
struct LogicalWorker {
  arch::Context logical_context;  // where this worker was switched away from
  bool is_parked;                 // steps only with a token, or from parked_until_ns on
  std::uint64_t parked_until_ns;
  std::atomic<bool> has_token;  // written by wakers
  Stack* home;                  // the stack of its logical_entry(), in place of a thread's own
};

struct alignas(arch::kPrefetchPair) Worker : WorkerSlot,
                                             WorkerIdentity,
                                             WorkerStanding,
                                             WorkerSlice,
                                             WorkerFairness,
                                             WorkerQueues,
                                             WorkerSearch,
                                             WorkerCaches,
                                             WorkerWatch,
                                             LogicalWorker {
  Counters counters;          // read by any thread
  std::atomic<bool> is_gone;  // has left its loop; read by any thread
  Parker parker;              // written by wakers
  // Written by workers that look for work: whether it has dispatched anything, and whether it has done anything.
  struct alignas(arch::kCacheLine) {
    Standstill in_dispatches, in_all;
  } standstill;

  // The address at which the last copy of user memory that failed here faulted, if the processor reported one. Written
  // by the fault handler.
  struct {
    std::uint64_t address;
    bool has_address;
  } user_fault;
  // Written by the fault handler: it is handling a fault; it is reporting a fault of the runtime itself.
  bool is_in_fault, is_dumping;
  // Buffer for a report that is written on the stack of a task, which may have little room left. Owner only.
  char report[1024];

  // While the report function runs here: the call, which is no task's, and how to leave it after a fault, or a panic
  // (nullptr) (rt/abi/reports/reporting.cpp). Else nullptr.
  void* report_call;
  void (*leave_report)(Worker& worker, platform::Fault* fault);
  // A panic whose lines are in `report`; `size` 0: none. Told when the task's end is (rt/task/report/reporting.h).
  struct {
    std::uint64_t address;
    std::size_t size;
  } kept_report;

  // The running task and its ops when a request to end came (rt/abi/inspect/late_tasks.cpp). For signal handlers only.
  struct {
    std::uint64_t task_id, ops;
  } at_request;

  World::Standing standing;  // written by the owner, read by who stops the world

  // rt/sched/cpu_pins.h
  int thread;                   // its thread id, written as it starts
  std::atomic<bool> is_pinned;  // by Pinning::kWhileSeveralWork; any worker may unpin it

  WorkerPinned pinned;  // to this worker

  Helper* helper;  // nullptr: a worker; else this is the record of a helper thread (rt/task/run/blocking.h)
};

// The workers of a scheduler, by their ids.
struct WorkerList {
  Worker* first;
  unsigned count;

  Worker& operator[](unsigned id) const noexcept { return first[id]; }
  Worker* begin() const noexcept { return first; }
  Worker* end() const noexcept { return first + count; }
};

// Counts ops that a task has used of its slice. Called wherever a slice is settled.
[[gnu::always_inline]] inline void count_ops(Worker& worker, std::int64_t ops) noexcept {
  worker.counters.ops.add(static_cast<std::uint64_t>(ops));
  worker.until_fair -= ops;
}

// The worker that runs the caller. Read it again after every call that may suspend: the task may be resumed on another
// worker.
[[gnu::always_inline]] inline Worker& current_worker() noexcept {
  return *static_cast<Worker*>(static_cast<WorkerSlot*>(arch::slot_self()));
}

// By the worker itself. Atomic: statistics of others read it.
[[gnu::always_inline]] inline void set_running(Worker& worker, Runnable* runnable) noexcept {
  __atomic_store_n(&static_cast<WorkerSlot&>(worker).task, runnable, __ATOMIC_RELAXED);
}

}  // namespace janus
