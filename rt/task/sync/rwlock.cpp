// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/rwlock.cpp — see rwlock.h. While tasks wait, the lock is handed over under the lock of the bucket, and is
// never free. The first waiter, a writer if any waits, watches the task that writes.
#include "rt/task/sync/rwlock.h"

#include "rt/task/record/price.h"
#include "rt/task/sync/mutex.h"
#include "rt/task/sync/sync_queue.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// The first word: HolderWord::kWaiters, and
constexpr std::uint64_t kIsWritten = 2, kReader = std::uint64_t{1} << 32,
                        kMaxReaders = (std::uint64_t{1} << 30) * kReader;

constexpr int kHasToWait = 2;  // a result beside those of the ABI

constexpr auto written_no_more = [](std::uint64_t bits) noexcept { return bits & ~kIsWritten; };

constexpr std::uint64_t kAllTickets = ~std::uint64_t{0};

struct RwLock {
  std::uint64_t* words;

  [[nodiscard]] SyncBucket& bucket() const noexcept { return sync_bucket_of(words); }
  [[nodiscard]] SyncWaiter* next(Queue queue, std::uint64_t until = kAllTickets) const noexcept {
    return bucket().first_until(key_of(words, queue), until);
  }
  [[nodiscard]] SyncWaiter* front() const noexcept {
    SyncWaiter* const writer = next(Queue::kWriters);
    return writer != nullptr ? writer : next(Queue::kReaders);
  }
  [[nodiscard]] std::uint64_t writer() const noexcept {
    std::uint64_t bits = 0;
    return load_word(words + 1, bits) ? bits & HolderWord::kHolder : 0;
  }

  // Gives the lock to a task, unless it is held, or a bit of `hindrances` is set; then sets `bits_to_wait`: kHasToWait.
  [[nodiscard]] int take(Access access, std::uint64_t me, std::uint64_t hindrances,
                         std::uint64_t bits_to_wait) const noexcept {
    bool is_free = false;
    const int result = update_user(words, [&](std::uint64_t bits) noexcept {
      is_free = (bits & (kIsWritten | hindrances)) == 0 && bits < (access == Access::kRead ? kMaxReaders : kReader);
      if (!is_free) return bits | bits_to_wait;
      return access == Access::kRead ? bits + kReader : bits | kIsWritten;
    });
    if (result != 0) return result;
    if (!is_free) return kHasToWait;
    return access == Access::kRead || arch::store_user(words + 1, me) ? 0 : kFaulted;
  }

  // The calling task writes no more. `do_wait`: whether others wait.
  [[nodiscard]] int end_writing(bool& do_wait) const noexcept {
    if (!arch::store_user(words + 1, 0)) return kFaulted;
    return release_at_word(
        words, written_no_more, [](std::uint64_t) noexcept { return true; }, do_wait);
  }

  // --- Under the lock of the bucket ---

  // Hands the lock to the readers with a ticket up to `until`, price::kWakesAtOnce of them at most; or to a writer.
  // Returns to how many.
  unsigned hand_on(bool readers_first, std::uint64_t until, int answer) const noexcept {
    SyncWaiter* reader = next(Queue::kReaders, until);
    SyncWaiter* const writer = next(Queue::kWriters);
    if (writer != nullptr && !(readers_first && reader != nullptr)) {
      if (take(Access::kWrite, writer->holder_bits, 0, 0) != 0) return 0;
      bucket().grant(*writer, answer);
      return 1;
    }
    unsigned handed = 0;
    for (; reader != nullptr && handed < price::kWakesAtOnce; reader = next(Queue::kReaders, until), ++handed) {
      if (take(Access::kRead, 0, 0, 0) != 0) break;
      bucket().grant(*reader, answer);
    }
    return handed;
  }

  // Lets the first waiter watch the writer, if there is one. If that has ended, hands the lock on with kErrorState. Returns 0, or
  // an error of update_user().
  int see_to_front() const noexcept {
    for (;;) {
      SyncWaiter* const first = front();
      if (first == nullptr) return 0;
      std::uint64_t who = 0;
      if (!load_word(words + 1, who)) return kFaulted;
      if ((who & HolderWord::kHolder) == 0) {
        unwatch(*first);
        return 0;
      }
      if (watch(*first, who)) return 0;
      if (const int result = release_ended()) return result;
      (void)hand_on(true, kAllTickets, kErrorState);
    }
  }

  // Frees the lock of a writer that has ended.
  [[nodiscard]] int release_ended() const noexcept {
    return arch::store_user(words + 1, 0) ? update_user(words, written_no_more) : kFaulted;
  }

  // What a task that comes finds: 0, kErrorState, kHasToWait, kLookAgain, kFaulted or kErrorInvalid. `bits_to_wait`: as for take().
  [[nodiscard]] int come(const Runtime& runtime, Access access, std::uint64_t me,
                         std::uint64_t bits_to_wait) const noexcept {
    for (const Queue queue : {Queue::kWriters, Queue::kReaders})
      if (!bucket().send_stale_away(key_of(words, queue), words)) return kLookAgain;
    const std::uint64_t who = writer();
    const bool has_ended = who != 0 && has_holder_ended(runtime, who) && release_ended() == 0;
    if (has_ended && hand_on(true, kAllTickets, kErrorState) != 0) (void)see_to_front();
    const bool must_queue = access == Access::kRead && front() != nullptr;
    const int found = take(access, me, must_queue ? HolderWord::kWaiters : 0, bits_to_wait);
    return found == 0 && has_ended ? kErrorState : found;
  }
};

struct AwaitedAccess : AwaitedSync {
  RwLock its;
  Access access;
  int found = kHasToWait;
  bool is_more_to_do = false;  // after leave(): hand_on_all()

  AwaitedAccess(RwLock lock, SyncWaiter& its_waiter, Access its_access) noexcept
      : AwaitedSync(lock.bucket(), its_waiter), its(lock), access(its_access) {}

  bool is_over() noexcept {
    if (!waiter.is_granted) {
      if (!waiter.is_queued) {
        found = its.come(*waiter.task.nursery->runtime, access, waiter.holder_bits, HolderWord::kWaiters);
        if (found != kHasToWait) return true;
        bucket.enter(waiter);
      }
      const int result = its.front() == &waiter ? its.see_to_front() : 0;
      if (!waiter.is_granted) {
        if (result != 0) found = result;
        return result != 0;
      }
    }
    found = waiter.answer;
    return true;
  }

  // Those whom this waiter has stopped go on.
  void leave() noexcept {
    if (!waiter.is_queued) return;
    bucket.leave(waiter);
    is_more_to_do = its.hand_on(false, kAllTickets, 0) == price::kWakesAtOnce;
    SyncWaiter* const next = its.front();
    if (its.see_to_front() != 0 && its.front() == next && next != nullptr) wake_waiter(*next);  // it finds the same
  }
};

// Hands on a lock that may be free, in parts. The calling task pays for all that it wakes but the first.
void hand_on_all(Task& self, RwLock lock, bool readers_first) noexcept {
  SyncBucket& bucket = lock.bucket();
  std::uint64_t until = 0;
  for (std::int64_t free_ones = 1;; free_ones = 0) {
    unsigned handed = 0;
    {
      LockGuard guard(bucket.lock);
      if (until == 0) until = bucket.tickets;
      handed = lock.hand_on(readers_first, until, 0);
      (void)lock.see_to_front();
      if (handed != 0 && lock.front() == nullptr) clear_waiters(lock.words);
    }
    if (handed > free_ones) take_fuel_unchecked(current_worker(), handed - free_ones);
    if (handed < price::kWakesAtOnce) return;
    readers_first = true;
    let_others_run(self);
  }
}

[[gnu::noinline]] int lock_slow(Task& self, RwLock lock, Access access, std::uint64_t me) noexcept {
  if (lock.writer() == me) return kErrorDeadlock;
  const Awaiting awaiting(self, AwaitedKind::kWriter, lock.words + 1);
  if (awaiting.closes_cycle()) {
    current_worker().counters.deadlocks.add();
    return kErrorDeadlock;
  }
  SyncWaiter waiter(self, lock.words, access == Access::kRead ? Queue::kReaders : Queue::kWriters);
  waiter.holder_bits = me;
  AwaitedAccess awaited(lock, waiter, access);
  awaited.lock();
  const WaitEnd end = wait(self, awaited);
  if (end == WaitEnd::kOver) return awaited.found;
  if (awaited.is_more_to_do) hand_on_all(self, lock, false);
  return result_of(end, self);
}

}  // namespace

namespace {

// A task that reads can take the lock without that of the bucket. One that writes may not, since others could come before
// its name is in the word, and would watch nobody.
int take_without_waiting(Task& self, RwLock lock, Access access, std::uint64_t me) noexcept {
  if (access == Access::kRead) {
    const int found = lock.take(access, me, HolderWord::kWaiters, 0);
    if (found != kHasToWait) return found;
  }
  LockGuard guard(lock.bucket().lock);
  return lock.come(*self.nursery->runtime, access, me, 0);
}

}  // namespace

int lock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept {
  const std::uint64_t me = holder_bits_of(self);
  for (;; let_others_run(self)) {
    int found = take_without_waiting(self, {words}, access, me);
    if (found == kHasToWait) found = lock_slow(self, {words}, access, me);
    if (found != kLookAgain) return found;
  }
}

int try_lock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept {
  const int found = take_without_waiting(self, {words}, access, holder_bits_of(self));
  return found == kHasToWait || found == kLookAgain ? kErrorWouldBlock : found;
}

int unlock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept {
  const RwLock lock{words};
  bool do_wait = false;
  if (access == Access::kWrite) {
    std::uint64_t who = 0;
    if (!load_word(words + 1, who)) return kFaulted;
    if (!holds_mutex(self, who)) return kErrorState;
    const int result = lock.end_writing(do_wait);
    if (result != 0) return result;
  } else {
    bool is_read = false;
    const auto leave = [&](std::uint64_t bits) noexcept {
      is_read = bits >= kReader;
      return is_read ? bits - kReader : bits;
    };
    const int result = release_at_word(
        words, leave, [](std::uint64_t bits) noexcept { return bits < kReader; }, do_wait);
    if (result != 0) return result;
    if (!is_read) return kErrorState;
  }
  if (do_wait) hand_on_all(self, lock, access == Access::kWrite);
  return 0;
}

}  // namespace janus
