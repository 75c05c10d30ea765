// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/mutex.cpp — see mutex.h.
#include "rt/task/sync/mutex.h"

#include "rt/task/account/group.h"
#include "rt/task/record/runtime.h"
#include "rt/task/sync/sync_queue.h"

namespace janus {

namespace {

constexpr std::uint8_t kPatience = 4;  // how often a waiter of another group is woken for nothing

// Results of look(), beside 0: the lock was free, and is the task's.
constexpr int kIsHeld = 2, kWasCalled = 3;

using Bits = HolderWord;

// The lock that a task wants.
struct Wanted {
  const Runtime& runtime;
  std::uint64_t* word;
  std::uint64_t me;
  AwaitedKind kind;

  // Looks at it, and takes it if it is free. `seen`: the word, if it is held. Under the lock of the bucket. Of Look: all but
  // `me`.
  int look(bool have_others, bool will_wait, bool is_first, std::uint64_t& seen) const noexcept {
    Found found = Found::kFree;
    const auto has_ended = [this](std::uint64_t bits) noexcept { return has_holder_ended(runtime, bits); };
    const int result = update_user(word, [&](std::uint64_t bits) noexcept {
      seen = bits;
      return look_at(bits, {me, have_others, will_wait, is_first}, has_ended, found);
    });
    if (result != 0) return result;
    switch (found) {
      case Found::kFree:
        return 0;
      case Found::kPoisoned:
        return kErrorState;
      case Found::kHeld:
        return kIsHeld;
      case Found::kMine:
        return kErrorDeadlock;
      case Found::kCalled:
        break;
    }
    return kind == AwaitedKind::kOnce ? kWasCalled : kErrorInvalid;
  }
};

constexpr bool is_taken(int found) noexcept {
  return found == 0 || found == kErrorState;
}

struct AwaitedMutex : AwaitedSync {
  const Wanted& wanted;
  int found = kIsHeld;

  AwaitedMutex(SyncBucket& its_bucket, SyncWaiter& its_waiter, const Wanted& lock) noexcept
      : AwaitedSync(its_bucket, its_waiter), wanted(lock) {}

  bool is_over() noexcept {
    if (waiter.is_granted) {
      found = wanted.kind == AwaitedKind::kOnce && waiter.answer == 0 ? kWasCalled : waiter.answer;
      return true;
    }
    if (waiter.is_queued && bucket.first(waiter.key) != &waiter) return false;
    if (!waiter.is_queued && !bucket.send_stale_away(waiter.key, wanted.word)) {
      found = kLookAgain;
      return true;
    }
    while (look_as_first()) {
      if (bucket.first(waiter.key) != &waiter || watch(waiter, seen_)) return false;
    }
    return true;
  }

  // A waiter that was first passes on what it may have been woken for.
  void leave() noexcept {
    if (!waiter.is_queued) return;
    const bool was_first = bucket.first(waiter.key) == &waiter;
    bucket.leave(waiter);
    SyncWaiter* const front = bucket.first(waiter.key);
    if (!was_first || front == nullptr) return;
    std::uint64_t bits = 0;
    if (waiter.was_woken)
      wake_waiter(*front);
    else
      see_to_front(front, load_word(wanted.word, bits) ? bits : 0);
  }

 private:
  // True: the lock is held, and the waiter is in the queue.
  bool look_as_first() noexcept {
    const bool have_others = waiter.is_queued ? SyncBucket::are_behind(waiter) : bucket.first(waiter.key) != nullptr;
    found = wanted.look(have_others, true, waiter.is_queued || !have_others, seen_);
    if (found == kIsHeld) {
      if (!waiter.is_queued) bucket.enter(waiter);
      if (waiter.was_woken) ++waiter.lost;
      waiter.was_woken = false;
      return true;
    }
    if (!is_taken(found)) return false;  // leave() takes it out
    if (waiter.is_queued) bucket.serve(waiter);
    see_to_front(bucket.first(waiter.key), wanted.me);
    return false;
  }

  std::uint64_t seen_ = 0;
};

// Takes a lock that is free although tasks wait for it, or whose holder has ended.
int look_once(SyncBucket& bucket, const Wanted& wanted) noexcept {
  LockGuard guard(bucket.lock);
  const std::uint64_t key = key_of(wanted.word, Queue::kOnly);
  if (!bucket.send_stale_away(key, wanted.word)) return kLookAgain;
  SyncWaiter* const first = bucket.first(key);
  std::uint64_t seen = 0;
  const int found = wanted.look(first != nullptr, false, false, seen);
  if (is_taken(found)) see_to_front(first, wanted.me);
  return found;
}

// A task that has to have the lock spins where there is no stack to go on with: the holder may run on another worker.
int wait_for(SyncBucket& bucket, SyncWaiter& waiter, const Wanted& wanted) noexcept {
  for (;;) {
    AwaitedMutex awaited(bucket, waiter, wanted);
    bucket.lock.lock();
    const WaitEnd end = wait(waiter.task, awaited);
    if (end == WaitEnd::kOver) return awaited.found;
    if (waiter.reason != WaitReason::kRelock) return result_of(end, waiter.task);
    arch::pause();
    current_worker().scheduler->sched_point();
  }
}

// Takes the lock, or waits for it.
int look_or_wait(Task& self, const Wanted& wanted, WaitReason reason) noexcept {
  SyncBucket& bucket = sync_bucket_of(wanted.word);
  const int found = look_once(bucket, wanted);
  if (found != kIsHeld) return found;
  const Awaiting awaiting(self, wanted.kind, wanted.word);
  if (reason != WaitReason::kRelock && awaiting.closes_cycle()) {
    current_worker().counters.deadlocks.add();
    return kErrorDeadlock;
  }
  SyncWaiter waiter(self, wanted.word, Queue::kOnly, reason);
  waiter.holder_bits = wanted.me;
  return wait_for(bucket, waiter, wanted);
}

[[gnu::noinline]] int lock_slow(Task& self, const Wanted& wanted, WaitReason reason) noexcept {
  for (;; let_others_run(self)) {
    const int found = look_or_wait(self, wanted, reason);
    const bool was_sent_away = found == kErrorStale && reason == WaitReason::kRelock;
    if (found != kLookAgain && !was_sent_away) return found;
  }
}

int lock(Task& self, std::uint64_t* word, AwaitedKind kind, WaitReason reason) noexcept {
  if (take_free_mutex(self, word)) return 0;
  return lock_slow(self, {*self.nursery->runtime, word, holder_bits_of(self), kind}, reason);
}

// Hands the lock over, or frees it and wakes the first waiter. Under the lock of the bucket.
int unlock_for(Task& self, SyncWaiter* first, std::uint64_t* word, std::uint64_t me) noexcept {
  const bool have_others = first != nullptr && SyncBucket::are_behind(*first);
  const bool is_kin = first != nullptr && first->group == group_of(&self);
  const bool is_next = first != nullptr && first->lost >= (is_kin ? 1 : kPatience);
  bool hands_over = false;
  int found = 0;
  std::uint64_t after = 0;
  const int result = update_user(word, [&](std::uint64_t bits) noexcept {
    found = kErrorState;
    if ((bits & Bits::kHolder) != me) return bits;
    found = 0;
    hands_over = is_next || (is_kin && have_all_barged(bits));
    if (hands_over) return after = unlocked(bits, first->holder_bits, have_others ? Bits::kWaiters : 0);
    return after = unlocked(bits, 0, first != nullptr ? Bits::kWaiters | barges(have_others) : 0);
  });
  if (result != 0 || found != 0 || first == nullptr) return result != 0 ? result : found;
  if (!hands_over) {
    wake_waiter(*first);
    return 0;
  }
  SyncBucket& bucket = sync_bucket_of(word);
  const std::uint64_t key = first->key;
  bucket.grant(*first, (after & Bits::kPoisoned) != 0 ? kErrorState : 0);
  see_to_front(bucket.first(key), after);
  return 0;
}

[[gnu::noinline]] int unlock_slow(Task& self, std::uint64_t* word) noexcept {
  SyncBucket& bucket = sync_bucket_of(word);
  LockGuard guard(bucket.lock);
  return unlock_for(self, bucket.first(key_of(word, Queue::kOnly)), word, holder_bits_of(self));
}

}  // namespace

int lock_mutex(Task& self, std::uint64_t* word) noexcept {
  return lock(self, word, AwaitedKind::kMutex, WaitReason::kSync);
}

int relock_mutex(Task& self, std::uint64_t* word) noexcept {
  return lock(self, word, AwaitedKind::kMutex, WaitReason::kRelock);
}

int try_lock_mutex(Task& self, std::uint64_t* word) noexcept {
  if (take_free_mutex(self, word)) return 0;
  const int found =
      look_once(sync_bucket_of(word), {*self.nursery->runtime, word, holder_bits_of(self), AwaitedKind::kMutex});
  return found == kIsHeld || found == kErrorDeadlock || found == kLookAgain ? kErrorWouldBlock : found;
}

int unlock_mutex(Task& self, std::uint64_t* word) noexcept {
  return free_mutex(self, word) ? 0 : unlock_slow(self, word);
}

bool holds_mutex(Task& self, std::uint64_t word) noexcept {
  return (word & Bits::kHolder) == holder_bits_of(self);
}

int heal_mutex(Task& self, std::uint64_t* word) noexcept {
  const std::uint64_t me = holder_bits_of(self);
  int found = 0;
  const int result = update_user(word, [&](std::uint64_t bits) noexcept {
    found = (bits & Bits::kHolder) == me ? 0 : kErrorState;
    return found == 0 ? bits & ~Bits::kPoisoned : bits;
  });
  return result != 0 ? result : found;
}

int begin_once_call(Task& self, std::uint64_t* word) noexcept {
  std::uint64_t seen = 0;
  if (!load_word(word, seen)) return kFaulted;
  if ((seen & Bits::kDone) != 0) return 0;
  const int found = lock(self, word, AwaitedKind::kOnce, WaitReason::kSync);
  if (found == kWasCalled) return 0;
  return is_taken(found) ? kToCall : found;
}

int end_once_call(Task& self, std::uint64_t* word) noexcept {
  const std::uint64_t me = holder_bits_of(self);
  int found = 0;
  bool do_wait = false;
  const auto set_done = [&](std::uint64_t bits) noexcept {
    found = (bits & Bits::kHolder) == me ? 0 : kErrorState;
    return found == 0 ? Bits::kDone | (bits & Bits::kWaiters) : bits;
  };
  const auto is_done = [](std::uint64_t bits) noexcept { return (bits & Bits::kDone) != 0; };
  const int result = release_at_word(word, set_done, is_done, do_wait);
  if (result != 0 || found != 0) return result != 0 ? result : found;
  if (do_wait) grant_all(self, word, Queue::kOnly, word);
  return 0;
}

}  // namespace janus
