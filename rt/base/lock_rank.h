// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_rank.h — the order in which locks are taken, so that no two threads wait for each other. Each has its
// rank (lock_order.h) in its type.
//
// INVARIANT locks-by-rank: who holds a lock waits only for locks of a later rank. Nurseries' locks may be held
// together, an outer one before an inner one. A try_lock() waits for nobody, and is free to come in any order. Where
// assertions are compiled each worker counts what it holds, and a lock() that is out of order ends the process; threads
// that are no workers are not watched. A lock may be held while its holder leaves its stack, as long as whoever runs
// next on this worker releases it first of all (published-after-left).
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/lock_order.h"
#include "rt/base/spinlock.h"

namespace janus {

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
