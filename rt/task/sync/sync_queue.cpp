// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/sync_queue.cpp — see sync_queue.h.
#include "rt/task/sync/sync_queue.h"

#include "rt/base/order_hooks.h"
#include "rt/task/account/group.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

constexpr unsigned kSyncBucketBits = 8;
SyncBucket sync_buckets[1u << kSyncBucketBits];

// Under the lock of the record.
bool does_live(const Task& task, std::uint64_t word) noexcept {
  return task.secret.load(std::memory_order_relaxed) != 0 && task.has(TaskFlags::kExposed) &&
         !task.has(TaskFlags::kEnded) && is_named(task, word);
}

bool is_of_runtime(const Runtime& runtime, std::uint64_t word) noexcept {
  return word >> (32 + HolderWord::kIndexBits) == runtime.number;
}

}  // namespace

SyncBucket& sync_bucket_of(const void* object) noexcept {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(object);
  return sync_buckets[(address * 0x9e3779b97f4a7c15) >> (64 - kSyncBucketBits)];
}

bool are_waiting(const void* object) noexcept {
  SyncBucket& bucket = sync_bucket_of(object);
  for (const Queue queue : {Queue::kOnly, Queue::kWriters, Queue::kReaders})
    if (bucket.first(key_of(object, queue)) != nullptr) return true;
  return false;
}

SyncWaiter::SyncWaiter(Task& self, const void* object, Queue queue, WaitReason its_reason) noexcept
    : task(self), reason(its_reason) {
  key = key_of(object, queue);
  group = group_of(&self);
}

QueuedWaiter* SyncBucket::oldest_of_group(const SyncWaiter& waiter) noexcept {
  return queue.find(waiter.key, [&waiter](const QueuedWaiter& other) { return other.group == waiter.group; });
}

void SyncBucket::enter(SyncWaiter& waiter) noexcept {
  queue.join_group(waiter, oldest_of_group(waiter));
  waiter.ticket = ++tickets;
  waiter.is_queued = true;
}

namespace {

void has_left(SyncWaiter& waiter) noexcept {
  waiter.is_queued = false;
  unwatch(waiter);
  std::atomic_ref(waiter.task.awaits).store(0, std::memory_order_relaxed);
}

}  // namespace

void SyncBucket::leave(SyncWaiter& waiter) noexcept {
  queue.leave(waiter, *oldest_of_group(waiter));
  has_left(waiter);
}

void SyncBucket::serve(SyncWaiter& waiter) noexcept {
  queue.serve(waiter);
  has_left(waiter);
}

bool SyncBucket::send_stale_away(std::uint64_t key, const std::uint64_t* word) noexcept {
  std::uint64_t bits = 0;
  if (first(key) == nullptr || !load_word(word, bits) || (bits & HolderWord::kWaiters) != 0) return true;
  for (unsigned sent = 0; sent < price::kWakesAtOnce; ++sent) {
    SyncWaiter* const waiter = first(key);
    if (waiter == nullptr) return true;
    if (waiter->task.is_caged()) waiter->task.nursery->runtime->accounts.owe(waiter->task.account, 1);
    grant(*waiter, kErrorStale);
  }
  return first(key) == nullptr;
}

void SyncBucket::grant(SyncWaiter& waiter, int answer) noexcept {
  serve(waiter);
  waiter.is_granted = true;
  waiter.answer = answer;
  wake_waiter(waiter);
}

void wake_waiter(SyncWaiter& waiter) noexcept {
  waiter.was_woken = true;
  (void)wake(worker_of(*waiter.task.nursery->runtime), waiter.task, waiter.reason);
}

std::uint64_t make_holder_bits(Task& self) noexcept {
  Runtime& runtime = *self.nursery->runtime;
  self.mark(TaskMarks::kHoldsLocks);
  (void)own_handle(runtime, self);
  return self.frame->details.holder_bits = holder_bits(runtime, self);
}

void end_holdings(Task& self) noexcept {
  if (self.frame->details.holder_bits == 0) return;  // it has held statics and descriptors only
  order_hooks::release(&order_hooks::kHolderEnd);
  LockGuard guard(self.lock);
  self.holdings.store(1, std::memory_order_relaxed);
  self.frame->details.holder_bits = 0;  // what its destructors lock is its own again
  for (Join* join = self.waiters; join != nullptr;) {
    Join* const next = join->next;
    if (join->reason != WaitReason::kTask) {
      unlink_join(self, *join);
      Task* const joiner = join->joiner;
      const WaitReason reason = join->reason;
      set_over(*join);
      (void)wake(&current_worker(), *joiner, reason);
    }
    join = next;
  }
}

bool has_holder_ended(const Runtime& runtime, std::uint64_t word) noexcept {
  if (!is_of_runtime(runtime, word)) return false;
  Task* const holder = find_holder(runtime, word);
  if (holder == nullptr) return true;
  LockGuard guard(holder->lock);
  return !does_live(*holder, word);
}

bool watch(SyncWaiter& waiter, std::uint64_t word) noexcept {
  unwatch(waiter);
  const Runtime& runtime = *waiter.task.nursery->runtime;
  if (!is_of_runtime(runtime, word)) return true;
  Task* const holder = find_holder(runtime, word);
  if (holder == nullptr) return false;
  LockGuard guard(holder->lock);
  if (!does_live(*holder, word)) return false;
  waiter.watch = {nullptr, nullptr, &waiter.task, 0, false, waiter.reason};
  link_join(*holder, waiter.watch);
  waiter.watched = holder;
  return true;
}

void unwatch(SyncWaiter& waiter) noexcept {
  Task* const holder = waiter.watched;
  if (holder == nullptr) return;
  LockGuard guard(holder->lock);
  unlink_join(*holder, waiter.watch);
  waiter.watched = nullptr;
}

void wake_if_unwatched(SyncWaiter& waiter) noexcept {
  arch::full_fence();  // the partner is the compare-and-swap of a wake after set_over()
  if (is_over(waiter.watch)) (void)wake(&current_worker(), waiter.task, waiter.reason);
}

void see_to_front(SyncWaiter* front, std::uint64_t word) noexcept {
  if (front == nullptr) return;
  if ((word & HolderWord::kHolder) == 0 || !watch(*front, word)) wake_waiter(*front);
}

int wait_for_grant(SyncBucket& bucket, SyncWaiter& waiter) noexcept {
  struct AwaitedGrant : AwaitedSync {
    using AwaitedSync::AwaitedSync;
    bool is_over() const noexcept { return waiter.is_granted; }
    void leave() const noexcept {
      if (waiter.is_queued) bucket.leave(waiter);
    }
  };
  AwaitedGrant awaited(bucket, waiter);
  const WaitEnd end = wait(waiter.task, awaited);
  return end == WaitEnd::kOver ? waiter.answer : result_of(end, waiter.task);
}

void clear_waiters(std::uint64_t* word) noexcept {
  if (word != nullptr) (void)update_user(word, [](std::uint64_t seen) { return seen & ~HolderWord::kWaiters; });
}

namespace {

// Returns how many waits it has ended.
unsigned grant_part(SyncBucket& bucket, std::uint64_t key, std::uint64_t& until, std::uint64_t* word) noexcept {
  LockGuard guard(bucket.lock);
  if (until == 0) until = bucket.tickets;
  unsigned granted = 0;
  for (; granted < price::kWakesAtOnce; ++granted) {
    SyncWaiter* const waiter = bucket.first_until(key, until);
    if (waiter == nullptr) break;
    bucket.grant(*waiter, 0);
  }
  if (granted != 0 && bucket.first(key) == nullptr) clear_waiters(word);
  return granted;
}

}  // namespace

void grant_all(Task& self, const void* object, Queue queue, std::uint64_t* word) noexcept {
  SyncBucket& bucket = sync_bucket_of(object);
  const std::uint64_t key = key_of(object, queue);
  std::uint64_t until = 0;
  std::int64_t free_ones = 1;
  for (;;) {
    const unsigned granted = grant_part(bucket, key, until, word);
    if (granted > free_ones) take_fuel_unchecked(current_worker(), granted - free_ones);
    free_ones = 0;
    if (granted < price::kWakesAtOnce) return;
    let_others_run(self);
  }
}

}  // namespace janus
