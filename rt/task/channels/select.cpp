// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/select.cpp — waiting at several channels: it looks at all of them, in a random order; if none is ready,
// it enters all queues, sleeps until a partner or a close has taken a case, and leaves all queues. It holds the lock of one
// channel at a time. docs/decisions/0332
#include "rt/task/channels/select.h"

#include <utility>

#include "rt/base/order_hooks.h"
#include "rt/task/account/memory.h"
#include "rt/task/channels/transfer.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/user_memory.h"
#include "rt/task/wait/wait.h"

namespace janus {

namespace {

using Status = ChannelWait::Status;

struct AwaitedCase : Awaited {
  Selection& selection;

  explicit AwaitedCase(Selection& of) noexcept : selection(of) {}
  static constexpr bool kPassesCancelOn = false;
  static constexpr WaitReason reason() noexcept { return WaitReason::kSelect; }
  bool is_over() const noexcept { return !selection.is_open(); }
  void lock() const noexcept { selection.lock(); }
  void unlock() const noexcept { selection.unlock(); }
  void leave() const noexcept {
    if (selection.is_open()) selection.take(Selection::kGivenUp);
  }
};

int try_case(SelectWait& wait) noexcept {
  return wait.is_sender ? take_or_queue<Direction::kSend>(wait) : take_or_queue<Direction::kReceive>(wait);
}

// Of a case that was tried.
Status status_of(int result) noexcept {
  if (result == kQueued) return Status::kWaiting;
  if (result == 0) return Status::kServed;
  return result == kErrorClosed || result == kErrorStale ? Status::kClosed : Status::kStale;
}

void leave_queue(SelectWait& wait) noexcept {
  Channel& channel = *wait.channel;
  LockOwner* const me = owner_in(channel, &current_worker());
  const BiasedLock::Hold hold = channel.lock.lock_as_guest(me);  // the channel may have ended
  if (wait.status.load(std::memory_order_relaxed) == Status::kWaiting) List<ChannelWait>::remove(&wait);
  channel.lock.unlock(me, hold);
}

// A send happens before the receive of its element, and a receive before the send that gets its room.
[[maybe_unused]] void order_before(const SelectWait& wait) noexcept {
  if (wait.is_sender) order_hooks::reads(wait.data, wait.channel->element_bytes);
  order_hooks::release(wait.is_sender ? wait.channel : order_hooks::second(wait.channel));
}
[[maybe_unused]] void order_after(const SelectWait& wait, int status) noexcept {
  order_hooks::acquire(wait.is_sender ? order_hooks::second(wait.channel) : wait.channel);
  if (!wait.is_sender && status == 0) order_hooks::writes(wait.data, wait.channel->element_bytes);
}

}  // namespace

void Select::release() noexcept {
  if (block_ == nullptr) return;
  Worker& worker = current_worker();
  release_own(runtime_of(worker), &worker, std::exchange(block_, nullptr));
}

void Select::add(Channel& channel, std::uint32_t secret, Direction direction, void* data,
                 std::uint32_t named) noexcept {
  SelectWait& wait = *new (&waits_[count_]) SelectWait;
  wait.task = &self_;
  wait.data = data;
  const bool is_elsewhere = channel.runtime != self_.nursery->runtime;
  wait.from = is_elsewhere ? ChannelWait::From::kElsewhere : ChannelWait::From::kHere;
  wait.is_select = true;
  wait.is_sender = direction == Direction::kSend;
  wait.secret = secret;
  wait.channel = &channel;
  wait.selection = &selection_;
  wait.index = wait.order = static_cast<std::uint16_t>(count_++);
  wait.named = static_cast<std::uint16_t>(named);
  wait.ops = static_cast<std::uint16_t>(channel.element_bytes / price::kBytesPerOp);
}

// Chooses the case at the place `at` of the order among those that have no place yet (Fisher and Yates, 1938).
SelectWait& Select::next_at_random(std::uint32_t at) noexcept {
  const auto other = at + static_cast<std::uint32_t>(current_worker().rng.below(count_ - at));
  std::swap(waits_[at].order, waits_[other].order);
  return waits_[waits_[at].order];
}

// The index of a case that was taken, kErrorWouldBlock or kErrorStale.
int Select::look(bool is_first) noexcept {
  selection_.may_queue = false;
  for (std::uint32_t at = 0; at < count_; ++at) {
    SelectWait& wait = next_at_random(at);
    const int result = try_case(wait);
    if (result == kErrorWouldBlock) continue;
    if (result == kOwnIsBad) panic_for_own();
    if (result == kErrorStale && is_first) return kErrorStale;
    wait.status.store(status_of(result), std::memory_order_relaxed);
    return wait.index;
  }
  return kErrorWouldBlock;
}

// Afterwards a case is taken, or the select has given up, and no other thread uses this object.
[[gnu::always_inline]] inline WaitEnd Select::wait_in_queues() noexcept {
  publish_before_wait(self_);  // takes the nursery's lock, which comes before those of channels
  selection_.open();
  selection_.may_queue = true;
  int result = kQueued;
  for (entered_ = 0; entered_ < count_ && result == kQueued; ++entered_) {
    SelectWait& wait = waits_[waits_[entered_].order];
    wait.status.store(Status::kWaiting, std::memory_order_relaxed);
    result = try_case(wait);
    if (result != kQueued) wait.status.store(status_of(result), std::memory_order_relaxed);
  }
  AwaitedCase awaited(selection_);
  awaited.lock();
  WaitEnd end = WaitEnd::kOver;
  if (result == kQueued) {
    end = wait(self_, awaited);
  } else {
    awaited.leave();
    awaited.unlock();
  }
  leave_queues();
  if (result == kOwnIsBad) [[unlikely]]
    panic_for_own();
  return end;
}

void Select::leave_queues() noexcept {
  for (std::uint32_t at = 0; at < entered_; ++at) leave_queue(waits_[waits_[at].order]);
  for (std::uint32_t at = 0; at < entered_; ++at) {
    const SelectWait& wait = waits_[waits_[at].order];
    if (wait.status.load(std::memory_order_relaxed) == Status::kLookAgain) [[unlikely]]
      wake_others(*wait.channel, wait.secret);
  }
}

void Select::panic_for_own() noexcept {
  release();
  blame_caller();
  __builtin_trap();
}

int Select::run(bool may_wait, int& status) noexcept {
  if constexpr (kTasksAreWatched)
    for (std::uint32_t at = 0; at < count_; ++at) order_before(waits_[at]);
  int taken = look(true);
  while (taken == kErrorWouldBlock) {
    if (!may_wait) return kErrorTimeout;
    const WaitEnd end = wait_in_queues();
    taken = selection_.taken();
    if (taken == Selection::kGivenUp) return code_of(end);
    if (taken != Selection::kAgain) break;
    take_fuel_unchecked(current_worker(), price::kCall + count_ / price::kCasesPerOp);
    taken = look(false);
  }
  if (taken == kErrorStale) return kErrorStale;
  const SelectWait& wait = waits_[taken];
  const Status how = wait.status.load(std::memory_order_relaxed);
  if (how == Status::kBadMemory) [[unlikely]] {
    void* const data = wait.data;
    release();
    panic_for_bad_wait(self_, data);
  }
  status = how == Status::kServed ? 0 : kErrorClosed;
  if constexpr (kTasksAreWatched) order_after(wait, status);
  if (status == 0) take_fuel_unchecked(current_worker(), wait.ops);
  return static_cast<int>(wait.named);
}

}  // namespace janus
