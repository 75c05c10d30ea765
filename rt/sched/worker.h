// SPDX-License-Identifier: Apache-2.0
// rt/sched/worker.h — a worker: one thread (in deterministic mode a fiber of one thread) that runs tasks. Everything in
// it is the owner's, except what is marked as read or written by others.
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
#include "rt/sched/parker.h"
#include "rt/sched/runnable.h"
#include "rt/sched/steal_backoff.h"
#include "rt/sched/yield_queue.h"

namespace janus {

class Scheduler;
struct Worker;

// What whoever runs next performs first, once the stack that asked for it has been left.
struct Pending {
  void (*action)(Worker& worker, void* first, void* second);
  void* first;
  void* second;
};

struct alignas(arch::kPrefetchPair) Worker : WorkerSlot {
  Scheduler* scheduler;
  void* runtime;       // the task layer's own
  Stack* stack;        // the one we stand on
  void* fiber;         // what a watching sanitizer calls it
  void* thread_fiber;  // and the thread's own
  Pending pending;
  Runnable* handoff;                      // for the base frame of a fresh stack: what to run first
  std::int64_t slice;                     // what `fuel` started from
  void* charged_account;                  // the task layer's: whom the slice belongs to
  LockOwner locks;                        // whom locks of the task layer may be biased to
  std::atomic<std::uint32_t> until_fair;  // dispatches until the oldest goes first; thieves read it as a clock
  std::uint16_t id;
  // The task layer's: a block of numbers for tasks, taken ahead. What is spawned next is number first + spawned, as
  // long as `spawned` has not come to `end`.
  struct {
    std::uint64_t first, end;
  } ids;
  bool is_steal_enabled;

  alignas(arch::kPrefetchPair) Deque ready;  // newest first for the owner
  YieldQueue yielded;                        // those that yielded: oldest first
  Rng rng;

  SlabCache tasks, nurseries, channels;
  HeapCache heap;
  StackCache stacks;
  MemoryCache memory;
  Counters counters;

  StealBackoff backoff;
  std::uint32_t next_victim;  // round robin

  arch::Context thread_context;   // where the worker's thread left off when it stepped onto its first stack
  arch::Context logical_context;  // deterministic mode: where this worker was interrupted
  bool is_parked;                 // deterministic mode: does not step without a token, or before parked_until_ns
  std::uint64_t parked_until_ns;
  std::atomic<bool> has_token;  // deterministic mode: written by wakers
  Stack* home;                  // deterministic mode: where it stands outside its loop
  std::atomic<bool> is_gone;    // has left its loop

  Parker parker;  // written by wakers
};

// The worker that runs us. Read anew after everything that may suspend: the task may wake up on another worker.
[[gnu::always_inline]] inline Worker& current_worker() noexcept {
  return *static_cast<Worker*>(static_cast<WorkerSlot*>(arch::slot_self()));
}

}  // namespace janus
