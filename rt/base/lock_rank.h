// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_rank.h — the order in which locks are taken, so that no two threads wait for each other. This is the one
// table of all locks; each has its rank in its type.
//
// INVARIANT locks-by-rank: who holds a lock waits only for locks of a later rank. Nurseries' locks may be held
// together, an outer one before an inner one. A try_lock() waits for nobody, and is free to come in any order. Where
// assertions are compiled each worker counts what it holds, and a lock() that is out of order ends the process; threads
// that are no workers are not watched. A lock may be held while its holder leaves its stack, as long as whoever runs
// next on this worker releases it first of all (published-after-left).
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/spinlock.h"

namespace janus {

enum class LockRank : std::uint8_t {
  kProcess,       // global_runtime.cpp: the process's runtime is made or ended
  kThreads,       // current_nursery.cpp: threads outside tasks that have a nursery open
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
  kCount,
};

// What the calling worker holds, if it is one; nothing where assertions are not compiled.
void expect_lock_in_order(LockRank rank) noexcept;
void note_locked(LockRank rank) noexcept;
void note_unlocked(LockRank rank) noexcept;

// A SpinLock with its place in the order. Zeroes are a free one.
template <LockRank kRank>
class RankedLock {
 public:
  void lock() noexcept {
    if constexpr (kAssertions) expect_lock_in_order(kRank);
    lock_.lock();
    if constexpr (kAssertions) note_locked(kRank);
  }
  [[nodiscard]] bool try_lock() noexcept {
    if (!lock_.try_lock()) return false;
    if constexpr (kAssertions) note_locked(kRank);
    return true;
  }
  void unlock() noexcept {
    if constexpr (kAssertions) note_unlocked(kRank);
    lock_.unlock();
  }

 private:
  SpinLock lock_;
};
static_assert(sizeof(RankedLock<LockRank::kTask>) == sizeof(SpinLock));

}  // namespace janus
