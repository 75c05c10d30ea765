// SPDX-License-Identifier: Apache-2.0
// rt/task/channel.cpp — sending, receiving, closing.
#include "rt/task/channel.h"

#include "rt/task/memory.h"

namespace janus {

namespace {

static_assert(sizeof(Channel) <= kChannelBytes);

std::byte* slot(Channel& channel, std::size_t index) noexcept {
  std::size_t at = channel.first + index;
  if (at >= channel.capacity) at -= channel.capacity;
  return channel.buffer + at * channel.element_bytes;
}

void copy(Channel& channel, void* to, const void* from) noexcept {
  if (channel.element_bytes == sizeof(std::uint64_t))
    __builtin_memcpy(to, from, sizeof(std::uint64_t));
  else
    __builtin_memcpy(to, from, channel.element_bytes);
}

// Out of its queue, and no more ours after the store: the task may be gone, or wait elsewhere, where a wake for nothing
// does no harm.
void settle(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  wait.status.store(status, std::memory_order_release);  // pairs with wait_in(): and what was copied
  (void)wake(worker, task, TaskState::kBlocked);
}

// Under the lock. False: would have to wait.
bool try_send(Worker* worker, Channel& channel, const void* element) noexcept {
  if (ChannelWait* const receiver = channel.receivers.pop_front()) {
    copy(channel, receiver->data, element);
    settle(worker, *receiver, ChannelWait::Status::kServed);
    return true;
  }
  if (channel.count == channel.capacity) return false;
  copy(channel, slot(channel, channel.count), element);
  ++channel.count;
  return true;
}

bool try_receive(Worker* worker, Channel& channel, void* element) noexcept {
  if (channel.count != 0) {
    copy(channel, element, slot(channel, 0));
    channel.first = channel.first + 1 == channel.capacity ? 0 : channel.first + 1;
    --channel.count;
    // There is room for the sender that has waited longest.
    if (ChannelWait* const sender = channel.senders.pop_front()) {
      copy(channel, slot(channel, channel.count), sender->data);
      ++channel.count;
      settle(worker, *sender, ChannelWait::Status::kServed);
    }
    return true;
  }
  ChannelWait* const sender = channel.senders.pop_front();
  if (sender == nullptr) return false;
  copy(channel, element, sender->data);
  settle(worker, *sender, ChannelWait::Status::kServed);
  return true;
}

// Under the lock, which it releases. Until served, closed or cancelled.
int wait_in(List<ChannelWait>& queue, Task& self, Channel& channel, void* data) noexcept {
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting};
  queue.push_back(&wait);
  int answer = 0;
  for (;;) {
    if (sees_cancel(self)) {
      answer = kCancelledCode;
      break;
    }
    if (!block_unlocking(self, channel.lock)) {
      answer = kErrorNoMemory;  // still under the lock
      break;
    }
    // Mostly it is settled, and nobody need be kept out to see that.
    const ChannelWait::Status status = wait.status.load(std::memory_order_acquire);
    if (status != ChannelWait::Status::kWaiting) [[likely]]
      return status == ChannelWait::Status::kClosed ? kErrorClosed : 0;
    channel.lock.lock();
    if (wait.status.load(std::memory_order_relaxed) != ChannelWait::Status::kWaiting) break;
  }
  const ChannelWait::Status status = wait.status.load(std::memory_order_relaxed);
  if (status == ChannelWait::Status::kWaiting) List<ChannelWait>::remove(&wait);
  channel.lock.unlock();
  return status == ChannelWait::Status::kClosed ? kErrorClosed : answer;
}

// A bad address faults here, in the caller's name, before anything is held or changed.
void touch_to_read(const void* bytes, std::size_t count) noexcept {
  const auto* const first = static_cast<const volatile char*>(bytes);
  if (count == sizeof(std::uint64_t)) {  // most are a word
    (void)first[0];
    return (void)first[sizeof(std::uint64_t) - 1];
  }
  for (std::size_t at = 0; at < count; at += 4096) (void)first[at];
  if (count != 0) (void)first[count - 1];
}

void touch_to_write(void* bytes, std::size_t count) noexcept {
  auto* const first = static_cast<volatile char*>(bytes);
  if (count == sizeof(std::uint64_t)) {
    first[0] = first[0];
    first[sizeof(std::uint64_t) - 1] = first[sizeof(std::uint64_t) - 1];
    return;
  }
  for (std::size_t at = 0; at < count; at += 4096) first[at] = first[at];
  if (count != 0) first[count - 1] = first[count - 1];
}

}  // namespace

Channel* create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes, std::size_t capacity,
                        int* error) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(element_bytes, capacity, &bytes)) return *error = kErrorInvalid, nullptr;
  std::byte* buffer = nullptr;
  if (bytes != 0) {
    buffer = static_cast<std::byte*>(allocate(runtime, worker, task, bytes, 16, error));
    if (buffer == nullptr) return nullptr;
    if (task != nullptr) worker = &current_worker();
  }
  auto* const channel = static_cast<Channel*>(runtime.channels.take(worker != nullptr ? &worker->channels : nullptr));
  if (channel == nullptr) {
    if (buffer != nullptr) release(runtime, worker, buffer);
    return *error = kErrorNoMemory, nullptr;
  }
  channel->references.store(1, std::memory_order_relaxed);
  channel->runtime = &runtime;
  channel->element_bytes = element_bytes;
  channel->capacity = capacity;
  channel->buffer = buffer;
  channel->is_closed = false;
  channel->first = channel->count = 0;
  channel->senders.reset();
  channel->receivers.reset();
  channel->alive.store(Channel::kAlive, std::memory_order_release);
  return channel;
}

int close_channel(Worker* worker, Channel& channel) noexcept {
  LockGuard guard(channel.lock);
  if (channel.is_closed) return kErrorClosed;
  channel.is_closed = true;
  List<ChannelWait>* const queues[] = {&channel.senders, &channel.receivers};
  for (List<ChannelWait>* queue : queues) {
    while (ChannelWait* const wait = queue->pop_front()) {
      settle(worker, *wait, ChannelWait::Status::kClosed);
    }
  }
  return 0;
}

void release_channel(Worker* worker, Channel& channel) noexcept {
  if (channel.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  (void)close_channel(worker, channel);
  channel.alive.store(0, std::memory_order_relaxed);
  Runtime& runtime = *channel.runtime;
  if (channel.buffer != nullptr) release(runtime, worker, channel.buffer);
  runtime.channels.give(worker != nullptr ? &worker->channels : nullptr, &channel);
}

int send(Worker* worker, Task* self, Channel& channel, const void* element) noexcept {
  touch_to_read(element, channel.element_bytes);
  channel.lock.lock();
  if (channel.is_closed) return channel.lock.unlock(), kErrorClosed;
  if (try_send(worker, channel, element)) return channel.lock.unlock(), 0;
  if (self == nullptr) return channel.lock.unlock(), kErrorWouldBlock;
  return wait_in(channel.senders, *self, channel, const_cast<void*>(element));
}

int receive(Worker* worker, Task* self, Channel& channel, void* element) noexcept {
  touch_to_write(element, channel.element_bytes);
  channel.lock.lock();
  if (try_receive(worker, channel, element)) return channel.lock.unlock(), 0;
  if (channel.is_closed) return channel.lock.unlock(), kErrorClosed;
  if (self == nullptr) return channel.lock.unlock(), kErrorWouldBlock;
  return wait_in(channel.receivers, *self, channel, element);
}

}  // namespace janus
