// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/sync_queue.h — those who wait for a lock or a condition of janus/sync.h, by the address of the object. The
// objects lie in users' memory and hold no pointer; the queues are the runtime's, and their nodes lie on the stacks of
// those who wait. So whatever becomes of an object, the queues stay right. docs/decisions/0333
//
// INVARIANT committed-under-the-lock: who ends a wait takes the waiter out of the queue, and says so, under the lock of
// its bucket. A cancel or a deadline that comes later has no effect; one that came before takes the waiter out itself.
// So what was given is never lost. tests/api/sync_stress_test.cpp
//
// INVARIANT front-looks: while a lock is free and tasks wait for it, the first of them is awake and will look; while it is
// held, the first of them watches the holder, or will look. Whoever changes the holder, or the first waiter, sees to
// that under the bucket's lock (see_to_front()). So nobody waits for a task that has ended.
//
// INVARIANT waiters-bit: HolderWord::kWaiters is set before a task waits, and cleared only when nobody does, both under the
// bucket's lock. So if a task that comes to wait finds it clear, those in the queue wait for an object whose memory serves
// another one by now: they are sent away (kErrorStale). Who leaves the queue early writes nothing, as the memory may not be
// the object's any more; the bit is cleared by who finds later that nobody waits.
//
// INVARIANT last-touch: who gives back what others wait for touches the object for the last time by the step that gives it
// back, unless tasks wait; while they do, under the bucket's lock. For who sees that step may destroy the object
// (release_at_word()). tests/api/sync_reuse_test.cpp
#pragma once

#include "rt/base/lock_rank.h"
#include "rt/optional.h"
#include "rt/task/locks/keyed_queue.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/record/awaits.h"
#include "rt/task/sync/user_word.h"
#include "rt/task/wait/awaiting.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/yield.h"

namespace janus {

// An object can have several queues.
enum class Queue : std::uint8_t { kOnly, kWriters, kReaders };

// All of it is read and written under the lock of the bucket, but for what never changes.
struct SyncWaiter : QueuedWaiter {
  SyncWaiter(Task& self, const void* object, Queue queue, WaitReason reason = WaitReason::kSync) noexcept;

  Task& task;
  const WaitReason reason;
  std::uint64_t holder_bits = 0;  // of a lock: what a HolderWord contains once the task holds it
  std::uint64_t ticket = 0;       // grows from waiter to waiter
  bool is_queued = false;
  bool is_granted = false;  // the wait is over, and `answer` is in place
  bool was_woken = false;   // since it last looked
  std::uint8_t lost = 0;    // how often it was woken, and others had the lock
  int answer = 0;
  Task* watched = nullptr;
  Join watch;  // in `watched`
};

struct alignas(64) SyncBucket {
  RankedLock<LockRank::kKeyedLock> lock;
  KeyedQueue queue;
  std::uint64_t tickets = 0;

  [[nodiscard]] SyncWaiter* first(std::uint64_t key) noexcept { return static_cast<SyncWaiter*>(queue.first(key)); }
  // The one that comes next and waits since a ticket up to `until`.
  [[nodiscard]] SyncWaiter* first_until(std::uint64_t key, std::uint64_t until) noexcept {
    return static_cast<SyncWaiter*>(queue.find(
        key, [until](const QueuedWaiter& other) { return static_cast<const SyncWaiter&>(other).ticket <= until; }));
  }
  // Whether others wait besides `waiter`, the first.
  [[nodiscard]] static bool are_behind(const SyncWaiter& first) noexcept {
    return first.next != nullptr || first.behind != nullptr;
  }
  // Called before a task comes to wait at the object of `word`: sends those away who wait although the bit is not set,
  // price::kWakesAtOnce of them at most. False: there are more; the caller lets others run and tries again.
  [[nodiscard]] bool send_stale_away(std::uint64_t key, const std::uint64_t* word) noexcept;
  void enter(SyncWaiter& waiter) noexcept;
  // Takes the waiter out: it watches nobody any more, and awaits nothing.
  void leave(SyncWaiter& waiter) noexcept;
  // The same for one that gets what it waits for, the oldest of its group: others have their turn before its group.
  void serve(SyncWaiter& waiter) noexcept;
  // Ends its wait.
  void grant(SyncWaiter& waiter, int answer) noexcept;

 private:
  [[nodiscard]] QueuedWaiter* oldest_of_group(const SyncWaiter& waiter) noexcept;
};

inline std::uint64_t key_of(const void* object, Queue queue) noexcept {
  return std::uint64_t{reinterpret_cast<std::uintptr_t>(object)} | static_cast<std::uint64_t>(queue);
}
// All queues of an object are in one bucket.
[[nodiscard]] SyncBucket& sync_bucket_of(const void* object) noexcept;
// In any of its queues. Under the lock of the bucket.
[[nodiscard]] bool are_waiting(const void* object) noexcept;

// Wakes the waiter to look. Under the lock of the bucket.
void wake_waiter(SyncWaiter& waiter) noexcept;

// --- Holders. Under the lock of the bucket. --------------------------------------------------------------------------

// HolderWord::kHolder for the running task, whose end others may watch from now on.
[[nodiscard]] std::uint64_t make_holder_bits(Task& self) noexcept;
[[nodiscard]] inline std::uint64_t holder_bits_of(Task& self) noexcept {
  const std::uint64_t bits = self.is_marked(TaskMarks::kHoldsLocks) ? self.frame->details.holder_bits : 0;
  return bits != 0 ? bits : make_holder_bits(self);
}
// Called with no lock held, when the function of a task with TaskMarks::kHoldsLocks has ended: what it has not unlocked
// is nobody's. Its nurseries have not ended yet, and its children may wait for these locks.
[[JANUS_OPTIONAL]] void end_holdings(Task& self) noexcept;
// Whether the holder that the word names has ended, or there never was such a task. Of a task of another runtime nobody
// can tell: false.
[[nodiscard]] bool has_holder_ended(const Runtime& runtime, std::uint64_t word) noexcept;
// Lets the waiter be woken when the holder ends. False: it has ended.
[[nodiscard]] bool watch(SyncWaiter& waiter, std::uint64_t word) noexcept;
void unwatch(SyncWaiter& waiter) noexcept;
// Wakes the waiter if the holder has ended.
void wake_if_unwatched(SyncWaiter& waiter) noexcept;
// `front` may be nullptr. `word`: the holder, or none.
void see_to_front(SyncWaiter* front, std::uint64_t word) noexcept;

// --- Waits that others end -------------------------------------------------------------------------------------------

struct AwaitedSync : Awaited {
  SyncBucket& bucket;
  SyncWaiter& waiter;

  AwaitedSync(SyncBucket& its_bucket, SyncWaiter& its_waiter) noexcept : bucket(its_bucket), waiter(its_waiter) {}
  WaitReason reason() const noexcept { return waiter.reason; }
  // A holder that has ended is not watched any more, whatever the waiter makes of that: unlock() would wake it again and
  // again, and no op is spent on that.
  void lock() const noexcept {
    bucket.lock.lock();
    if (waiter.watched != nullptr && is_over(waiter.watch)) unwatch(waiter);
  }
  // Also called on the next stack, once the state says that the task waits: the holder that the waiter watches may have
  // ended without seeing the state.
  void unlock() const noexcept {
    if (waiter.watched != nullptr) wake_if_unwatched(waiter);
    bucket.lock.unlock();
  }
};

// Lets the waiter wait until it is granted. Called with the bucket's lock held, and the waiter in its queue; releases it.
// Returns the answer, or that of result_of().
[[nodiscard]] int wait_for_grant(SyncBucket& bucket, SyncWaiter& waiter) noexcept;

// Waits at a word that `change(bits, waits)` changes: to what it returns, unless it sets `waits`. Who makes that happen
// ends the waits. Returns also what update_user() returns.
template <typename Change>
[[nodiscard]] int wait_at_word(Task& self, std::uint64_t* word, AwaitedKind kind, Change change) noexcept {
  bool waits = false;
  int result = update_user(word, [&](std::uint64_t bits) noexcept {
    const std::uint64_t after = change(bits, waits);
    return waits ? bits : after;
  });
  if (result != 0 || !waits) return result;
  const Awaiting awaiting(self, kind, word);
  SyncBucket& bucket = sync_bucket_of(word);
  SyncWaiter waiter(self, word, Queue::kOnly);
  for (;; let_others_run(self)) {
    bucket.lock.lock();
    const bool are_right = bucket.send_stale_away(waiter.key, word);
    if (are_right) {
      result = update_user(word, [&](std::uint64_t bits) noexcept {
        const std::uint64_t after = change(bits, waits);
        return waits ? bits | HolderWord::kWaiters : after;
      });
      if (result == 0 && waits) {
        bucket.enter(waiter);
        return wait_for_grant(bucket, waiter);
      }
    }
    bucket.lock.unlock();
    if (are_right) return result;
  }
}

// Changes a word to next(bits), for which tasks may wait. `ends(after)`: whether their waits are over then. `do_wait`: if
// so, whether any wait; if none does, the step clears HolderWord::kWaiters, too. Returns also what update_user() returns.
template <typename Next, typename Ends>
[[nodiscard]] int release_at_word(std::uint64_t* word, Next next, Ends ends, bool& do_wait) noexcept {
  do_wait = false;
  const int result = update_user(word, [&](std::uint64_t bits) noexcept {
    const std::uint64_t after = next(bits);
    do_wait = (bits & HolderWord::kWaiters) != 0 && ends(after);
    return do_wait ? bits : after;
  });
  if (result != 0 || !do_wait) return result;
  LockGuard guard(sync_bucket_of(word).lock);
  const bool is_empty = !are_waiting(word);
  return update_user(word, [&](std::uint64_t bits) noexcept {
    const std::uint64_t after = next(bits);
    do_wait = !is_empty && ends(after);
    return is_empty ? after & ~HolderWord::kWaiters : after;
  });
}

// Ends the waits of those in a queue that wait when this is called. In parts of price::kWakesAtOnce, between which others
// run; the calling task pays 1 op for each but the first. Who ends the last one clears the bit of `word` (a word with
// HolderWord::kWaiters), unless that is nullptr; memory that is gone is nobody's fault. Called with no lock held.
void grant_all(Task& self, const void* object, Queue queue, std::uint64_t* word) noexcept;
// Clears HolderWord::kWaiters. Under the lock of the bucket, once nobody waits: by who has just ended the last wait, or by who
// may touch the object anyway.
void clear_waiters(std::uint64_t* word) noexcept;

}  // namespace janus
