// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_order.h — the ranks of all locks, in the order in which they may be taken (lock_rank.h).
// docs/decisions/0194
#pragma once

#include <cstdint>

namespace janus {

enum class LockRank : std::uint8_t {
  kProcess,       // global_runtime_life.cpp: the process's runtime is made or ended
  kThreads,       // thread_table.cpp: threads outside tasks that have a nursery open
  kOutside,       // Runtime::outside_lock: nurseries that such threads have opened
  kFiring,        // WorkerTimers::firing: timers that were taken fire
  kKeyedLock,     // keyed_lock.cpp: waiters for a descriptor or a static; room.cpp: waiters for room
  kAccountQueue,  // AccountQueue::lock: waiters for a recharge
  kTask,          // Task::lock: the end of a task that has a handle
  kNursery,       // Nursery::lock: members that a cancel has to find, records, the outcome
  kChannel,       // Channel::lock, which is a BiasedLock
  kSelection,     // Selection: which case a select takes; two of them in the order of their addresses
  kStops,         // WorldStops::lock: who has stopped the world, or waits for that
  kTimers,        // WorkerTimers::lock: the timers of one worker
  kLocalKeys,     // locals.cpp
  kCaps,          // CapTable::lock: what each task has derived, and the root token
  kGroupTable,    // GroupTable::growing_
  kGroups,        // Groups::lock_
  kDeque,         // Deque::lock_: thieves, and the owner at the last entry
  kYieldQueue,    // YieldQueue::lock_: thieves, and the owner at the limit or when the ring grows
  kInjector,      // Injector::lock_
  kCaches,        // Heap and StackCaches: the list of the workers' caches
  kStacks,        // StackDepot::lock_: one class of stacks
  kStackSlabs,    // StackTable::lock_
  kSlab,          // Slab::lock_: tasks, nurseries, channels
  kCageHeap,      // CageHeap::lock_: the spans of one account
  kCentralList,   // CentralList::lock_: one size class of the heap
  kHuge,          // HugeTable::lock_
  kPages,         // PageHeap::lock_
  kPoolCharge,    // PoolCharge::lock_: the pools' draws on the root account
  kMoves,         // RootMemory::moves_: chunks between the root account and the workers
  kStackMarks,    // the table of the tasks' stack depths
  kCount,
};

}  // namespace janus
