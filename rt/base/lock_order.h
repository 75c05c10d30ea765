// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_order.h — the one table of all locks, in the order in which they are taken (lock_rank.h).
#pragma once

#include <cstdint>

namespace janus {

enum class LockRank : std::uint8_t {
  kProcess,       // global_runtime_life.cpp: the process's runtime is made or ended
  kThreads,       // thread_table.cpp: threads outside tasks that have a nursery open
  kOutside,       // Runtime::outside_lock: nurseries that such threads have opened
  kTurn,          // turn.cpp: who waits for a descriptor or a static
  kAccountQueue,  // AccountQueue::lock: who waits for a recharge
  kTask,          // Task::lock: the end of one that others know of
  kNursery,       // Nursery::lock: who may be found by a cancel, records, the outcome
  kChannel,       // Channel::lock, which is a BiasedLock
  kLocalKeys,     // locals.cpp
  kPartyTable,    // PartyTable::growing_
  kParties,       // Parties::lock_
  kDeque,         // Deque::lock_: thieves, and the owner at the last entry
  kYieldQueue,    // YieldQueue::lock_: the same
  kInjector,      // Injector::lock_
  kCaches,        // of a heap and of a pool of stacks: the list of the workers' caches
  kStacks,        // StackPool::ClassPool::lock: one class of stacks
  kStackSlabs,    // StackPool::slabs_lock_
  kSlab,          // Slab::lock_: tasks, nurseries, channels
  kCentralList,   // CentralList::lock_: one size class of the heap
  kHuge,          // HugeTable::lock_
  kPages,         // PageHeap::lock_
  kPoolCharge,    // PoolCharge::lock_: what the pools have drawn of the root account
  kMoves,         // Accounts::moves_: chunks between the root account and the workers
  kStackMarks,    // of the table of how deep tasks have been
  kCount,
};

}  // namespace janus
