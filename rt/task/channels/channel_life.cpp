// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_life.cpp — making a channel, its references, closing it. docs/decisions/0215
#include "rt/task/channels/channel_life.h"

#include <utility>

#include "rt/task/account/memory.h"
#include "rt/task/channels/channel_hold.h"
#include "rt/task/channels/channel_wait.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/records.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

static_assert(sizeof(Channel) <= kChannelBytes);

OrError<Channel*> take_record(Runtime& runtime, Worker* worker, Account* payer) noexcept {
  if (!pay_for_record(runtime, payer, kChannelBytes)) return Failed{with_why(kErrorBudget, Why::kMemory)};
  SlabCache* const cache = worker != nullptr ? &worker->channels : nullptr;
  OrError<void*> record = runtime.channels.take(cache);
  if (record.value == nullptr) record = alloc_under_pressure(runtime, runtime.channels, cache, false);
  if (record && runtime.channels.index_of(record.value) >= kIndexMask) {  // handles have no more indices
    runtime.channels.give(cache, record.value);
    record = Failed{kErrorNoMemory};
  }
  if (record) return static_cast<Channel*>(record.value);
  refund_record(runtime, payer, kChannelBytes);
  return Failed{record.error};
}

// Under the channel's lock.
void close_to_all(Channel& channel) noexcept {
  channel.state = ChannelState::kClosed;
  channel.leaving_senders.splice_back(channel.senders);
  channel.leaving_receivers.splice_back(channel.receivers);
}

// Called with no lock held, after `woken` tasks were woken: the calling task pays for them, and after a full batch lets
// others run. Returns the worker that the caller is on then, or nullptr if that is no worker of the channel's runtime.
Worker* pause_between_wakes(const Runtime& runtime, unsigned woken) noexcept {
  if (Task* const task = calling_task()) {
    take_fuel_unchecked(current_worker(), woken);
    if (woken == price::kWakesAtOnce) let_others_run(*task);
  }
  return worker_of(runtime);
}

// Frees the buffer in parts, so that others can run meanwhile. Returns the worker that the caller is on afterwards.
Worker* release_buffer(Runtime& runtime, Worker* worker, std::byte* buffer) noexcept {
  Task* const task = worker != nullptr ? calling_task() : nullptr;
  if (task == nullptr) {
    release_own(runtime, worker, buffer);
    return worker;
  }
  release_in_parts(runtime, *task, buffer);
  return worker_of(runtime);
}

}  // namespace

OrError<Channel*> create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes,
                                 std::size_t capacity) noexcept {
  std::size_t bytes = 0;
  if (element_bytes > kMaxElementBytes || __builtin_mul_overflow(element_bytes, capacity, &bytes))
    return Failed{with_why(kErrorInvalid, Why::kElement)};
  std::byte* buffer = nullptr;
  if (bytes != 0) {
    const OrError<void*> block = allocate_own(runtime, worker, task, bytes);
    if (!block) return Failed{block.error};
    buffer = static_cast<std::byte*>(block.value);
    if (task != nullptr) worker = &current_worker();
  }
  Account* const payer = task != nullptr ? task->account : runtime.root_account;
  const OrError<Channel*> taken = take_record(runtime, worker, payer);
  if (!taken) {
    if (buffer != nullptr) release_own(runtime, worker, buffer);
    return taken;
  }
  Channel* const channel = taken.value;
  // A caller with a stale pointer to the record's previous channel may hold the lock.
  const BiasedLock::Hold hold = channel->lock.lock_as_guest(nullptr);
  channel->lock.init(!runtime.scheduler.is_deterministic());
  channel->runtime = &runtime;
  channel->payer = payer;
  if (task == nullptr) runtime.is_fed_from_outside.store(true, std::memory_order_relaxed);
  channel->element_bytes = static_cast<std::uint32_t>(element_bytes);
  channel->capacity = capacity;
  channel->buffer = buffer;
  channel->state = ChannelState::kOpen;
  set_kind(*channel, ChannelKind::kChannel);
  channel->first = channel->count = 0;
  channel->senders.reset();
  channel->receivers.reset();
  channel->leaving_senders.reset();
  channel->leaving_receivers.reset();
  const std::uint32_t index = runtime.channels.index_of(channel);
  const std::uint64_t number = std::uint64_t{++channel->generation} << kIndexBits | index;
  const std::uint64_t handle = make_handle(runtime, HandleKind::kChannel, number, index);
  channel->handle.store(handle, std::memory_order_relaxed);
  channel->life.store(handle >> 32 << 32 | 1, std::memory_order_release);  // pairs with is_alive()
  channel->lock.unlock(nullptr, hold);
  return channel;
}

int close_channel(Worker* worker, Channel& channel, std::uint32_t secret) noexcept {
  const Runtime* runtime;
  unsigned woken;
  {
    const ChannelHold hold(worker, channel);
    if (!channel.is_alive(secret)) return kErrorStale;
    if (channel.state == ChannelState::kClosed) return kErrorClosed;
    runtime = channel.runtime;
    close_to_all(channel);
    woken = wake_leaving(worker, channel, price::kWakesAtOnce);
  }
  while (woken != 0) {
    worker = pause_between_wakes(*runtime, woken);
    if (woken < price::kWakesAtOnce) break;
    // If the last reference was given up meanwhile, release_channel() wakes the rest, and may have unlocked the lock
    // for good.
    LockOwner* const me = owner_in(channel, worker);
    const BiasedLock::Hold hold = channel.lock.lock_as_guest(me);
    woken = channel.is_alive(secret) ? wake_leaving(worker, channel, price::kWakesAtOnce) : 0;
    channel.lock.unlock(me, hold);
  }
  return 0;
}

int retain_channel(Channel& channel, std::uint32_t secret) noexcept {
  std::uint64_t life = channel.life.load(std::memory_order_relaxed);
  do {
    if (Channel::secret_of(life) != secret || Channel::references_of(life) == 0) return kErrorStale;
    if (Channel::references_of(life) == Channel::kMaxReferences) return kErrorState;
  } while (!channel.life.compare_exchange_weak(life, life + 1, std::memory_order_relaxed));
  return 0;
}

int release_channel(Worker* worker, Channel& channel, std::uint32_t secret) noexcept {
  std::uint64_t life = channel.life.load(std::memory_order_relaxed);
  do {
    if (Channel::secret_of(life) != secret || Channel::references_of(life) == 0) return kErrorStale;
    // Acquire and release: all uses of the channel by former holders of references happen before its end.
  } while (!channel.life.compare_exchange_weak(life, life - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (Channel::references_of(life) != 1) return 0;
  Runtime& runtime = *channel.runtime;
  LockOwner* me = owner_in(channel, worker);
  BiasedLock::Hold hold = channel.lock.lock(me);
  close_to_all(channel);
  while (const unsigned woken = wake_leaving(worker, channel, price::kWakesAtOnce)) {
    channel.lock.unlock(me, hold);
    worker = pause_between_wakes(runtime, woken);
    me = owner_in(channel, worker);
    hold = channel.lock.lock(me);
  }
  std::byte* const buffer = std::exchange(channel.buffer, nullptr);
  channel.lock.unlock_for_good(me, hold);
  if (buffer != nullptr) worker = release_buffer(runtime, worker, buffer);
  Account* const payer = channel.payer;
  runtime.channels.give(worker != nullptr ? &worker->channels : nullptr, &channel);
  refund_record(runtime, payer, kChannelBytes);
  return 0;
}

}  // namespace janus
