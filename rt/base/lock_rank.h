// SPDX-License-Identifier: Apache-2.0
// rt/base/lock_rank.h — the order in which locks are taken, so that no two threads wait for each other. Each lock has
// its rank (lock_order.h) in its type. docs/decisions/0194
//
// INVARIANT locks-by-rank: a thread that holds a lock waits only for locks of a later rank. Nurseries' locks may be
// held together, an outer one before an inner one. A try_lock() does not wait, so it may come in any order. If
// assertions are compiled, each worker counts the locks that it holds, and a lock() that is out of order ends the
// process; other threads are not checked. A lock may be held while its holder leaves its stack, if the pending action,
// which comes first on the next stack, releases it (published-after-left).
#pragma once

#include <cstdint>

#include "rt/base/assert.h"
#include "rt/base/lock_order.h"
#include "rt/base/spinlock.h"

namespace janus {

// Check, and count, the locks that the calling worker holds. They do nothing if the caller is not a worker, or if
// assertions are not compiled.
void expect_lock_in_order(LockRank rank) noexcept;
void note_locked(LockRank rank) noexcept;
void note_unlocked(LockRank rank) noexcept;

// A SpinLock with a rank. All zero bytes are a free lock.
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
