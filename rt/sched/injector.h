// SPDX-License-Identifier: Apache-2.0
// rt/sched/injector.h — the queue that all workers share: runnables from outside the workers, those left to a worker
// that is woken for them, and those for which a worker's own queue has no room. First in, first out; intrusive, so that
// a push cannot fail. Each worker has another one, for the runnables that are pinned to it (WorkerPinned).
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/sched/runnable.h"

namespace janus {

class Injector {
 public:
  // Any thread.
  void push(Runnable* runnable) noexcept {
    runnable->next = nullptr;
    LockGuard guard(lock_);
    (tail_ == nullptr ? head_ : tail_->next) = runnable;
    tail_ = runnable;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Any thread. Removes and returns the oldest, or returns nullptr.
  Runnable* take() noexcept {
    if (is_empty()) return nullptr;
    LockGuard guard(lock_);
    Runnable* first = head_;
    if (first == nullptr) return nullptr;
    head_ = first->next;
    if (head_ == nullptr) tail_ = nullptr;
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return first;
  }

  // Any thread. Each runnable, the oldest first; under the lock.
  template <typename Use>
  void for_each(Use use) noexcept {
    LockGuard guard(lock_);
    for (Runnable* at = head_; at != nullptr; at = at->next) use(at);
  }

  // The oldest, or nullptr. It stays the oldest until take(), so the caller must be the only one that takes.
  Runnable* oldest() noexcept {
    LockGuard guard(lock_);
    return head_;
  }
  // Any thread, a hint.
  bool is_empty() const noexcept { return size() == 0; }
  std::uint64_t size() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  RankedLock<LockRank::kInjector> lock_;
  Runnable* head_ = nullptr;
  Runnable* tail_ = nullptr;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace janus
