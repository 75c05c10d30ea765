// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_wait.cpp — waiting at a channel.
#include "rt/task/channels/channel_wait.h"

#include "rt/task/record/panic.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// The other half of a transfer has taken the case, or has not: then its task, which is awake, finds another one.
[[gnu::noinline]] void complete_case(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept {
  wait.status.store(status, std::memory_order_relaxed);
  (void)wake(wait.from == ChannelWait::From::kElsewhere ? nullptr : worker, *wait.task, WaitReason::kSelect);
}

// Ends a wait that was not served. One of a select whose selection is no longer open only learns why it left the queue.
void end_unserved(Worker* worker, ChannelWait& wait, ChannelWait::Status why) noexcept {
  if (Selection* const selection = selection_of(wait)) {
    Claim claim(nullptr, selection);
    if (claim.is_theirs_open())
      claim.take_theirs(why == ChannelWait::Status::kLookAgain ? Selection::kAgain : case_of(wait));
  }
  complete_wait(worker, wait, why);
}

}  // namespace

void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept {
  if (wait.is_select) return complete_case(worker, wait, status);
  Task& task = *wait.task;
  const ChannelWait::From from = wait.from;
  if (end_wait<Path::kGeneral>(wait, status))
    push_ready(worker, task);
  else if (from != ChannelWait::From::kHere)
    (void)wake(from == ChannelWait::From::kApart ? worker : nullptr, task, WaitReason::kChannelApart);
}

namespace {

// Prefetches the next waits ahead of the loop that wakes them: if there are many, they are no longer in the cache.
// Tasks that began to wait one after the other often have stacks at equal distances, so the next addresses can be
// guessed; a wrong guess does no harm.
class WaitScout {
 public:
  explicit WaitScout(List<ChannelWait>& queue) noexcept : queue_(queue), at_(queue.front()) {
    for (int n = 0; n < kTasksAhead && at_ != nullptr; ++n) step();
  }
  void step() noexcept {
    ChannelWait* const next = at_ != nullptr ? queue_.after(at_) : nullptr;
    if (next != nullptr) {
      const auto here = reinterpret_cast<std::uintptr_t>(at_), there = reinterpret_cast<std::uintptr_t>(next);
      __builtin_prefetch(reinterpret_cast<const void*>(there + (there - here) * kWaitsAhead), 1);
      __builtin_prefetch(next->task, 1);
    }
    at_ = next;
  }

 private:
  static constexpr int kTasksAhead = 8;
  static constexpr std::uintptr_t kWaitsAhead = 8;
  List<ChannelWait>& queue_;
  ChannelWait* at_;
};

List<ChannelWait>& leaving_of(Channel& channel, Direction direction) noexcept {
  return direction == Direction::kSend ? channel.leaving_senders : channel.leaving_receivers;
}

unsigned wake_from(Worker* worker, Channel& channel, Direction direction, unsigned most) noexcept {
  using enum ChannelWait::Status;
  List<ChannelWait>& leaving = leaving_of(channel, direction);
  unsigned woken = 0;
  WaitScout scout(leaving);
  for (; woken < most; ++woken) {
    ChannelWait* const wait = leaving.pop_front();
    if (wait == nullptr) break;
    scout.step();
    wait->is_sender = direction == Direction::kSend;
    wait->secret = Channel::secret_of(channel.life.load(std::memory_order_relaxed));
    end_unserved(worker, *wait, channel.state == ChannelState::kClosed ? kClosed : kLookAgain);
  }
  return woken;
}

}  // namespace

unsigned wake_leaving(Worker* worker, Channel& channel, unsigned most) noexcept {
  const unsigned senders = wake_from(worker, channel, Direction::kSend, most);
  return senders + wake_from(worker, channel, Direction::kReceive, most - senders);
}

[[gnu::noinline, gnu::cold]] void BadWaits::drop(Channel& channel, Direction direction, ChannelWait& wait,
                                                 ChannelWait::Status why) noexcept {
  List<ChannelWait>& queue = direction == Direction::kSend ? channel.senders : channel.receivers;
  List<ChannelWait>::remove(&wait);
  const bool is_bad = why == ChannelWait::Status::kBadMemory;
  const std::uint32_t group = wait.from == ChannelWait::From::kElsewhere ? 0 : wait.task->group;
  if (worker_ != nullptr) {
    if (dropped_ == 0) began_ = Scheduler::turn_clock(*worker_);
    // Without a worker of this runtime the faulting address is unknown; then `data` keeps the start of the memory.
    if (is_bad && worker_->user_fault.has_address) wait.data = reinterpret_cast<void*>(worker_->user_fault.address);
  }
  complete_wait(worker_, wait, why);
  if (worker_ != nullptr) began_ = Scheduler::charge_outside_turn(*worker_, group, began_);
  dropped_ += 1 + (is_bad ? channel.element_bytes / price::kBytesPerBadWait : 0);
  if (dropped_ < price::kBadWaitsAtOnce) return;
  leaving_of(channel, direction).splice_back(queue);
  (void)wake_from(worker_, channel, direction, price::kLooksAtOnce);
}

// If the channel's last reference is gone already, it wakes none: release_channel() wakes them. The lock may then have
// been unlocked for good, hence lock_as_guest().
void wake_others(Channel& channel, std::uint32_t secret) noexcept {
  LockOwner* const me = owner_in(channel, &current_worker());
  const BiasedLock::Hold hold = channel.lock.lock_as_guest(me);
  if (channel.is_alive(secret)) (void)wake_leaving(worker_of(*channel.runtime), channel, price::kLooksAtOnce);
  channel.lock.unlock(me, hold);
}

void panic_for_bad_wait(Task& self, const void* data) noexcept {
  take_fuel_unchecked(current_worker(), price::kBadWait);
  panic_for_access(self, true, reinterpret_cast<std::uint64_t>(data));
}

namespace {

// The result of a wait that is over. Called with no lock held.
int result_of(Channel& channel, const ChannelWait& wait, ChannelWait::Status status) noexcept {
  if (status == ChannelWait::Status::kBadMemory) [[unlikely]]
    panic_for_bad_wait(*wait.task, wait.data);
  if (status == ChannelWait::Status::kLookAgain) [[unlikely]] {
    wake_others(channel, wait.secret);
    return kTryAgain;
  }
  return status == ChannelWait::Status::kClosed ? kErrorClosed : 0;
}

struct AwaitedPartner : Awaited {
  Channel& channel;
  ChannelWait& its;
  BiasedLock::Hold hold;

  AwaitedPartner(Channel& at, ChannelWait& own, BiasedLock::Hold held) noexcept : channel(at), its(own), hold(held) {}
  WaitReason reason() const noexcept { return is_here() ? WaitReason::kChannel : WaitReason::kChannelApart; }
  bool is_here() const noexcept { return its.from == ChannelWait::From::kHere; }
  bool is_over() const noexcept { return its.status.load(std::memory_order_acquire) != ChannelWait::Status::kWaiting; }
  // Who is not from here is woken under the lock, by a thread that goes on to read the task.
  bool is_over_at_a_glance() const noexcept { return is_here() && is_over(); }
  LockOwner* owner() const noexcept { return owner_in(channel, &current_worker()); }
  void lock() noexcept { hold = channel.lock.lock_as_guest(owner()); }  // the channel may have ended
  void unlock() const noexcept { channel.lock.unlock(owner(), hold); }
  void leave() const noexcept {
    if (!is_over()) List<ChannelWait>::remove(&its);
  }
};

// Called under the lock, which it releases. Waits until served, closed or cancelled.
[[gnu::noinline]] int wait_locked(Channel& channel, Task& self, ChannelWait& its, BiasedLock::Hold hold) noexcept {
  // A channel of another runtime may be unmapped while a canceller still reads this.
  if (its.from == ChannelWait::From::kHere) std::atomic_ref(self.waits_at).store(&channel, std::memory_order_relaxed);
  AwaitedPartner awaited(channel, its, hold);
  const WaitEnd end = wait(self, awaited);
  if (end != WaitEnd::kOver) [[unlikely]]
    return result_of(end, self);
  return result_of(channel, its, its.status.load(std::memory_order_relaxed));
}

}  // namespace

namespace {

[[gnu::noinline]] bool is_in_no_deque(const Task& self) noexcept {
  return is_pinned(self) || self.has_priority();
}

}  // namespace

int wait_at(Channel& channel, Task& self, List<ChannelWait>& queue, void* data, BiasedLock::Hold hold) noexcept {
  using enum ChannelWait::From;
  const bool is_elsewhere = owner_in(channel, &current_worker()) == nullptr;
  const ChannelWait::From from = is_elsewhere ? kElsewhere : is_in_no_deque(self) ? kApart : kHere;
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting, from, false, false, 0};
  queue.push_back(&wait);
  return wait_locked(channel, self, wait, hold);
}

int wait_on(Channel& channel, Task& self, ChannelWait& wait) noexcept {
  const ChannelWait::Status status = wait.status.load(std::memory_order_acquire);
  if (status != ChannelWait::Status::kWaiting) return result_of(channel, wait, status);
  return wait_locked(channel, self, wait, channel.lock.lock_as_guest(owner_in(channel, &current_worker())));
}

}  // namespace janus
