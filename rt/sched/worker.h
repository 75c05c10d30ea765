// SPDX-License-Identifier: Apache-2.0
// rt/sched/worker.h — a worker: one thread (in deterministic mode a fiber of one thread) that runs tasks. Its record is
// made of a part for each layer, and for each circle of those who may touch it.
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
#include "rt/sched/handle_cache.h"
#include "rt/sched/parker.h"
#include "rt/sched/parties.h"
#include "rt/sched/runnable.h"
#include "rt/sched/steal_backoff.h"
#include "rt/sched/yield_queue.h"

namespace janus {

class Account;
class Scheduler;
struct Runtime;  // the layer above's; here it is only handed on
struct Worker;

// What whoever runs next performs first, once the stack that asked for it has been left.
struct Pending {
  void (*action)(Worker& worker, void* first, void* second);
  void* first;
  void* second;
};

// Anyone may read it; nobody writes it once the worker has started.
struct WorkerIdentity {
  Scheduler* scheduler;
  Runtime* runtime;
  std::uint16_t id;
  bool is_steal_enabled;
};

// The owner's: on which stack it stands, and what is to be done on the next.
struct WorkerStanding {
  Stack* stack;
  fiber_hooks::Fiber fiber;         // what a watching sanitizer calls that stack
  fiber_hooks::Fiber thread_fiber;  // and the thread's own
  Pending pending;
  Runnable* handoff;             // for the base frame of a fresh stack: what to run first
  arch::Context thread_context;  // where the worker's thread left off when it stepped onto its first stack
};

// Who pays for a slice that somebody counts. Those of a task that was told to end are taken from its grace besides.
enum class SlicePayer : std::uint8_t { kAccount, kAccountInGrace, kLoanInGrace, kGraceAlone };

// The owner's: the task layer's own words.
struct WorkerSlice {
  std::int64_t slice;        // what `fuel` started from
  Account* charged_account;  // whose the slice is, or for whom it was borrowed; nullptr: nobody counts it
  SlicePayer payer;          // if somebody does
  LockOwner locks;           // whom locks may be biased to
  // A block of numbers for tasks, taken ahead. What is spawned next is number first + spawned, as long as `spawned` has
  // not come to `end`.
  struct {
    std::uint64_t first, end;
  } ids;
};

// The owner's, and whoever calls memory back (rt/budget/memory_cache.h).
struct WorkerCaches {
  SlabCache tasks, nurseries, channels;
  HandleCache channels_found;
  HeapCache heap;
  StackCache stacks;
  MemoryCache memory;
};

// The owner's: how it looks for work.
struct WorkerSearch {
  Rng rng;
  StealBackoff backoff;
  std::uint64_t reclaims_at_ns = platform::kForever;  // StackReclaim: of the sleep that it is in
  std::uint32_t next_victim;                          // round robin
};

// Where something may wait that is not the newest.
enum class FairSource : std::uint8_t { kYielded, kReady, kInjector };
inline constexpr unsigned kFairSources = 3;

// The owner's: when a dispatch takes what has waited longest, whatever is newer.
//
// INVARIANT everyone-has-a-turn: let Q be fair_ops, and S the most that a task spends between two dispatches (a slice,
// and what one operation may cost beyond its end). A dispatch is a fair round at the latest when the worker has spent
// Q + S ops since the last one, whoever spent them. Fair rounds take the oldest of the yielded, of the deque and of the
// injector in rotation, and one that has nothing passes its turn on. So what waits in any of them behind k others, or
// as the only one, is run within 3 (k + 1) (Q + S) ops of this worker. Each dispatch counts as dispatch_ops too, so
// that tasks that do next to nothing cannot make a round last long. tests/sched/fairness_test.cpp
//
// Where there are other parties than party 0 (parties.h), each dispatch asks whose turn it is (turns.cpp). The fast
// ways know party 0 alone: they want until_fair to be above yield_bar, which is 0, or out of reach from when a runnable
// of another party is queued or runs here until there has been none for a while. So they ask nothing more than whether
// it is a fair round.
struct WorkerFairness {
  std::int64_t until_fair;    // ops; not positive: the next dispatch is a fair round
  std::int64_t yield_bar;     // 0, or kOutOfReach
  std::int64_t dispatch_ops;  // what a dispatch counts as
  FairSource fair_source;     // whose turn it is in the next fair round
  bool may_bury_party_0;      // the deque may hold runnables of party 0 below those of others
  std::uint8_t calm;          // dispatches of party 0 since another party had anything
  // Whose turn it is, and since when by Scheduler::turn_clock().
  std::uint32_t turn_of = kNobody;
  std::uint64_t turn_began;
  // At `at_ns` the machine had let this thread run for so long. 0: it has slept since.
  struct {
    std::uint64_t at_ns, ran_ns;
  } asked;

  static constexpr std::int64_t kOutOfReach = INT64_MAX;
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  [[nodiscard]] bool has_other_parties() const noexcept { return yield_bar != 0; }
};

// What it has to run. Everyone steals from all.
struct WorkerQueues {
  alignas(arch::kPrefetchPair) Deque ready;  // newest first for the owner
  YieldQueue yielded;                        // those of party 0 that yielded: oldest first
  Parties parties;                           // and those of all others
};

// Deterministic mode: the DeterministicScheduler's, but for the token.
struct LogicalWorker {
  arch::Context logical_context;  // where this worker was interrupted
  bool is_parked;                 // does not step without a token, or before parked_until_ns
  std::uint64_t parked_until_ns;
  std::atomic<bool> has_token;  // written by wakers
  Stack* home;                  // where it stands outside its loop
};

struct alignas(arch::kPrefetchPair) Worker : WorkerSlot,
                                             WorkerIdentity,
                                             WorkerStanding,
                                             WorkerSlice,
                                             WorkerFairness,
                                             WorkerQueues,
                                             WorkerSearch,
                                             WorkerCaches,
                                             LogicalWorker {
  Counters counters;          // read by anyone
  std::atomic<bool> is_gone;  // has left its loop; read by anyone
  Parker parker;              // written by wakers

  // What the last copy of user memory touched that failed here, if the processor told. The fault handler's.
  struct {
    std::uint64_t address;
    bool has_address;
  } user_fault;
  // The fault handler's: it looks into a fault; and one of the runtime's own is being told.
  bool is_in_fault, is_dumping;

  // rt/sched/pinning.cpp
  int thread;                   // written as it starts
  std::atomic<bool> is_pinned;  // by need; anyone may let it go
};

// Ops that a task has used of its slice; whoever settles a slice says so.
[[gnu::always_inline]] inline void count_ops(Worker& worker, std::int64_t ops) noexcept {
  worker.counters.ops.add(static_cast<std::uint64_t>(ops));
  worker.until_fair -= ops;
}

// The worker that runs us. Read anew after everything that may suspend: the task may wake up on another worker.
[[gnu::always_inline]] inline Worker& current_worker() noexcept {
  return *static_cast<Worker*>(static_cast<WorkerSlot*>(arch::slot_self()));
}

}  // namespace janus
