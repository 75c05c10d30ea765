// SPDX-License-Identifier: Apache-2.0
// rt/task/channel_wait.cpp — waiting at a channel.
#include "rt/task/channel_wait.h"

#include "rt/task/cancel.h"
#include "rt/task/panic.h"
#include "rt/task/price.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"

namespace janus {

void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  const bool is_foreign = wait.is_foreign;
  if (end_wait<Path::kGeneral>(wait, status))
    push_ready(worker, task);
  else if (is_foreign)
    (void)wake(nullptr, task, TaskState::kBlocked);
}

[[gnu::noinline, gnu::cold]] bool BadWaits::drop(List<ChannelWait>& queue, std::size_t element_bytes) noexcept {
  ChannelWait& wait = *queue.pop_front();
  if (worker_ != nullptr) {
    if (!wait.is_foreign) Scheduler::begin_slice_of_party(*worker_, wait.task->party);
    // Who is none of our workers is told no address: where it begins is near enough.
    if (worker_->user_fault.has_address) wait.data = reinterpret_cast<void*>(worker_->user_fault.address);
  }
  complete_wait(worker_, wait, ChannelWait::Status::kBadMemory);
  dropped_ += 1 + element_bytes / price::kBytesPerBadWait;
  return dropped_ < price::kBadWaitsAtOnce;
}

[[gnu::noinline, gnu::cold]] void BadWaits::end() noexcept {
  if (worker_ == nullptr) return;
  const Task* const task = current_task(*worker_);
  Scheduler::begin_slice_of_party(*worker_, task != nullptr ? task->party : 0);
}

namespace {

// Of a wait that is over, with nothing held.
int result_of(const ChannelWait& wait, ChannelWait::Status status) noexcept {
  if (status == ChannelWait::Status::kBadMemory) [[unlikely]] {
    take_fuel_unchecked(current_worker(), price::kBadWait);
    panic_for_access(*wait.task, true, reinterpret_cast<std::uint64_t>(wait.data));
  }
  return status == ChannelWait::Status::kClosed ? kErrorClosed : 0;
}

// Leaves the stack, and then the lock. False: there is no stack to go on with.
bool leave(Channel& channel, Task& self, const ChannelWait& wait, BiasedLock::Hold hold) noexcept {
  if (!wait.is_foreign) return block_at<Path::kGeneral>(channel, self, hold);
  return block(
      self, TaskState::kBlocked,
      [](Task&, void* what) { static_cast<Channel*>(what)->lock.unlock(nullptr, BiasedLock::Hold::kPlain); }, &channel);
}

// Under the lock, which it releases.
[[gnu::noinline, gnu::cold]] int give_up(Channel& channel, Task& self, ChannelWait& wait, BiasedLock::Hold hold,
                                         int reason) noexcept {
  List<ChannelWait>::remove(&wait);
  channel.lock.unlock(owner_in(channel, &current_worker()), hold);
  if (reason == kCancelledCode) (void)sees_cancel(self);  // learns it, and passes it on, with nothing held
  return reason;
}

// Whether the wait is over, with nothing held; mostly it is, and nobody need be kept out to see that.
bool is_over(const ChannelWait& wait, int& result) noexcept {
  const ChannelWait::Status status = wait.status.load(std::memory_order_acquire);
  if (status == ChannelWait::Status::kWaiting || wait.is_foreign) return false;
  result = result_of(wait, status);
  return true;
}

// Under the lock, which it releases. Until served, closed or cancelled.
[[gnu::noinline]] int wait_locked(Channel& channel, Task& self, ChannelWait& wait, BiasedLock::Hold hold) noexcept {
  int result = 0;
  while (wait.status.load(std::memory_order_relaxed) == ChannelWait::Status::kWaiting) {
    if (is_cancelled(self)) return give_up(channel, self, wait, hold, kCancelledCode);
    if (!leave(channel, self, wait, hold)) return give_up(channel, self, wait, hold, kErrorNoMemory);
    if (is_over(wait, result)) [[likely]]
      return result;
    hold = channel.lock.lock(owner_in(channel, &current_worker()));
  }
  channel.lock.unlock(owner_in(channel, &current_worker()), hold);
  return result_of(wait, wait.status.load(std::memory_order_relaxed));
}

// After a first wait that was not served.
[[gnu::noinline, gnu::cold]] int wait_on(Channel& channel, Task& self, ChannelWait& wait) noexcept {
  int result = 0;
  if (is_over(wait, result)) return result;
  return wait_locked(channel, self, wait, channel.lock.lock(owner_in(channel, &current_worker())));
}

}  // namespace

int wait_at(Channel& channel, Task& self, List<ChannelWait>& queue, void* data, BiasedLock::Hold hold) noexcept {
  const bool is_foreign = owner_in(channel, &current_worker()) == nullptr;
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting, is_foreign};
  queue.push_back(&wait);
  return wait_locked(channel, self, wait, hold);
}

// What differs from wait_at() is that nothing need be looked at before the first wait.
[[gnu::flatten]] int wait_at_from_jump(void* self_pointer, void* channel_pointer, void* queue_pointer, void* data,
                                       void*) noexcept {
  Task& self = *static_cast<Task*>(self_pointer);
  Channel& channel = *static_cast<Channel*>(channel_pointer);
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting, false};
  static_cast<List<ChannelWait>*>(queue_pointer)->push_back(&wait);
  if (!block_at<Path::kFast>(channel, self, BiasedLock::Hold::kBiased)) [[unlikely]]
    return give_up(channel, self, wait, BiasedLock::Hold::kBiased, kErrorNoMemory);
  if (wait.status.load(std::memory_order_acquire) == ChannelWait::Status::kServed) [[likely]]
    return 0;
  return wait_on(channel, self, wait);
}

}  // namespace janus
