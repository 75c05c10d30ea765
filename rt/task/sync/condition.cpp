// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/condition.cpp — see condition.h. The waiter is in the queue before it releases the mutex, so whoever has the
// mutex after it sees the bit.
#include "rt/task/sync/condition.h"

#include "rt/task/sync/mutex.h"
#include "rt/task/sync/sync_queue.h"

namespace janus {

int await_signal(Task& self, std::uint64_t* word, std::uint64_t* mutex, bool& has_released) noexcept {
  std::uint64_t holder = 0;
  if (!load_word(mutex, holder)) return kFaulted;
  if (!holds_mutex(self, holder)) return kErrorState;
  const Awaiting awaiting(self, AwaitedKind::kCondition, word);
  SyncBucket& bucket = sync_bucket_of(word);
  SyncWaiter waiter(self, word, Queue::kOnly);
  for (;; let_others_run(self)) {
    LockGuard guard(bucket.lock);
    if (!bucket.send_stale_away(waiter.key, word)) continue;
    const int result = update_user(word, [](std::uint64_t bits) noexcept { return bits | HolderWord::kWaiters; });
    if (result != 0) return result;
    bucket.enter(waiter);
    break;
  }
  const int unlocked = unlock_mutex(self, mutex);
  bucket.lock.lock();
  if (unlocked == 0) {
    has_released = true;
    return wait_for_grant(bucket, waiter);
  }
  if (waiter.is_queued) bucket.leave(waiter);
  bucket.lock.unlock();
  return unlocked;
}

int signal_one(std::uint64_t* word) noexcept {
  std::uint64_t bits = 0;
  if (!load_word(word, bits)) return kFaulted;
  if ((bits & HolderWord::kWaiters) == 0) return 0;
  SyncBucket& bucket = sync_bucket_of(word);
  const std::uint64_t key = key_of(word, Queue::kOnly);
  LockGuard guard(bucket.lock);
  if (SyncWaiter* const first = bucket.first(key)) bucket.grant(*first, 0);
  if (bucket.first(key) == nullptr) clear_waiters(word);
  return 0;
}

int signal_all(Task& self, std::uint64_t* word) noexcept {
  bool do_wait = false;
  const int result = release_at_word(
      word, [](std::uint64_t bits) noexcept { return bits; }, [](std::uint64_t) noexcept { return true; }, do_wait);
  if (result == 0 && do_wait) grant_all(self, word, Queue::kOnly, word);
  return result;
}

}  // namespace janus
