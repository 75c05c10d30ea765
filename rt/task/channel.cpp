// SPDX-License-Identifier: Apache-2.0
// rt/task/channel.cpp — sending, receiving, closing.
#include "rt/task/channel.h"

#include <utility>

#include <arch/jump_back.h>
#include "rt/task/cancel.h"
#include "rt/task/charge.h"
#include "rt/task/memory.h"
#include "rt/task/panic.h"
#include "rt/task/user_memory.h"
#include "rt/task/wait.h"

namespace janus {

namespace {

static_assert(sizeof(Channel) <= kChannelBytes);

std::byte* slot(Channel& channel, std::size_t index) noexcept {
  std::size_t at = channel.first + index;
  if (at >= channel.capacity) at -= channel.capacity;
  return channel.buffer + at * channel.element_bytes;
}

using arch::UserCopy;

// Where an attempt ends whose own memory is not there; no answer of the C ABI.
constexpr int kOwnMemoryIsBad = 1;

// Either side may be a user's.
UserCopy copy(const Channel& channel, void* to, const void* from) noexcept {
  if (channel.element_bytes == sizeof(std::uint64_t)) [[likely]] {
    std::uint64_t word;
    if (!arch::load_user(from, word)) return UserCopy::kBadSource;
    return arch::store_user(to, word) ? UserCopy::kDone : UserCopy::kBadTarget;
  }
  return copy_user_bytes(to, from, channel.element_bytes);
}

// `worker` as one whom the lock may be biased to.
LockOwner* owner_in(const Channel& channel, Worker* worker) noexcept {
  return worker != nullptr && worker->runtime == channel.runtime ? &worker->locks : nullptr;
}

class ChannelGuard {
 public:
  ChannelGuard(Worker* worker, Channel& channel) noexcept
      : channel_(channel), me_(owner_in(channel, worker)), hold_(channel.lock.lock(me_)) {}
  ~ChannelGuard() { channel_.lock.unlock(me_, hold_); }
  ChannelGuard(const ChannelGuard&) = delete;
  ChannelGuard& operator=(const ChannelGuard&) = delete;

 private:
  Channel& channel_;
  LockOwner* const me_;
  const BiasedLock::Hold hold_;
};

// Out of its queue. One that was woken to look is no more ours after the store: it may be gone, or wait elsewhere. One
// of another runtime takes our lock before it goes.
void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  const bool is_foreign = wait.is_foreign;
  const bool is_here = task.state.load(std::memory_order_relaxed) == TaskState::kAtChannel;
  wait.status.store(status, std::memory_order_release);  // pairs with wait_locked(): and what was copied
  if (is_here)
    wake_held(worker, task);
  else if (is_foreign)
    (void)wake(nullptr, task, TaskState::kBlocked);
}

// The first in its queue: what it named cannot be reached. It panics when it goes on.
[[gnu::noinline, gnu::cold]] void drop_wait(Worker* worker, List<ChannelWait>& queue) noexcept {
  ChannelWait& wait = *queue.pop_front();
  // Who is none of our workers is told no address: where it begins is near enough.
  if (worker != nullptr && worker->user_fault.has_address)
    wait.data = reinterpret_cast<void*>(worker->user_fault.address);
  complete_wait(worker, wait, ChannelWait::Status::kBadMemory);
}

// Under the lock; kErrorWouldBlock: would have to wait.
int try_send(Worker* worker, Channel& channel, const void* element) noexcept {
  if (channel.is_closed) return kErrorClosed;
  while (ChannelWait* const receiver = channel.receivers.front()) {
    const UserCopy copied = copy(channel, receiver->data, element);
    if (copied == UserCopy::kBadSource) return kOwnMemoryIsBad;
    if (copied == UserCopy::kBadTarget) {
      drop_wait(worker, channel.receivers);
      continue;
    }
    (void)channel.receivers.pop_front();
    complete_wait(worker, *receiver, ChannelWait::Status::kServed);
    return 0;
  }
  if (channel.count == channel.capacity) return kErrorWouldBlock;
  if (copy(channel, slot(channel, channel.count), element) != UserCopy::kDone) return kOwnMemoryIsBad;
  ++channel.count;
  return 0;
}

// There is room for the sender that has waited longest.
void refill(Worker* worker, Channel& channel) noexcept {
  while (ChannelWait* const sender = channel.senders.front()) {
    if (copy(channel, slot(channel, channel.count), sender->data) != UserCopy::kDone) {
      drop_wait(worker, channel.senders);
      continue;
    }
    ++channel.count;
    (void)channel.senders.pop_front();
    return complete_wait(worker, *sender, ChannelWait::Status::kServed);
  }
}

int try_receive(Worker* worker, Channel& channel, void* element) noexcept {
  if (channel.count != 0) {
    if (copy(channel, element, slot(channel, 0)) != UserCopy::kDone) return kOwnMemoryIsBad;
    channel.first = channel.first + 1 == channel.capacity ? 0 : channel.first + 1;
    --channel.count;
    refill(worker, channel);
    return 0;
  }
  while (ChannelWait* const sender = channel.senders.front()) {
    const UserCopy copied = copy(channel, element, sender->data);
    if (copied == UserCopy::kBadTarget) return kOwnMemoryIsBad;
    if (copied == UserCopy::kBadSource) {
      drop_wait(worker, channel.senders);
      continue;
    }
    (void)channel.senders.pop_front();
    complete_wait(worker, *sender, ChannelWait::Status::kServed);
    return 0;
  }
  return channel.is_closed ? kErrorClosed : kErrorWouldBlock;
}

// Of a wait that is over, with nothing held.
int result_of(const ChannelWait& wait, ChannelWait::Status status) noexcept {
  if (status == ChannelWait::Status::kBadMemory) [[unlikely]]
    panic_for_access(*wait.task, true, reinterpret_cast<std::uint64_t>(wait.data));
  return status == ChannelWait::Status::kClosed ? kErrorClosed : 0;
}

// Leaves the stack, and then the lock. False: there is no stack to go on with.
bool leave(Channel& channel, Task& self, const ChannelWait& wait, BiasedLock::Hold hold) noexcept {
  if (!wait.is_foreign) return block_at(channel, self, hold);
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

// Under the lock, which it releases. Until served, closed or cancelled.
[[gnu::noinline]] int wait_locked(Channel& channel, Task& self, ChannelWait& wait, BiasedLock::Hold hold) noexcept {
  while (wait.status.load(std::memory_order_relaxed) == ChannelWait::Status::kWaiting) {
    if (is_cancelled(self)) return give_up(channel, self, wait, hold, kCancelledCode);
    if (!leave(channel, self, wait, hold)) return give_up(channel, self, wait, hold, kErrorNoMemory);
    // Mostly it is settled, and nobody need be kept out to see that.
    const ChannelWait::Status status = wait.status.load(std::memory_order_acquire);
    if (status != ChannelWait::Status::kWaiting && !wait.is_foreign) [[likely]]
      return result_of(wait, status);
    hold = channel.lock.lock(owner_in(channel, &current_worker()));
  }
  channel.lock.unlock(owner_in(channel, &current_worker()), hold);
  return result_of(wait, wait.status.load(std::memory_order_relaxed));
}

// For threads outside tasks: the fault that comes of the memory is theirs and their host's.
void touch_to_read(const void* bytes, std::size_t count) noexcept {
  const auto* const first = static_cast<const volatile char*>(bytes);
  for (std::size_t at = 0; at < count; ++at) (void)first[at];
}
void touch_to_write(void* bytes, std::size_t count) noexcept {
  auto* const first = static_cast<volatile char*>(bytes);
  for (std::size_t at = 0; at < count; ++at) first[at] = first[at];
}

// Somebody who is no worker of the channel's runtime: from now on neither that runtime nor the stranger's own can know
// that nobody will come and wake its tasks (deadlock.h). Before the channel is touched: it may be all that either does.
[[gnu::noinline, gnu::cold]] void note_stranger(Channel& channel, Task* self) noexcept {
  channel.runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
  if (self != nullptr) self->nursery->runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
}

// `attempt` under the lock, and what is to be done if it would have to wait. `touch_all` faults where the attempt did.
template <typename Attempt, typename Touch>
int do_or_wait(Worker* worker, Task* self, Channel& channel, List<ChannelWait>& queue, void* data, Attempt attempt,
               Touch touch_all) noexcept {
  LockOwner* const me = owner_in(channel, worker);
  if (me == nullptr) [[unlikely]]
    note_stranger(channel, self);
  for (;;) {
    const BiasedLock::Hold hold = channel.lock.lock(me);
    const int answer = attempt();
    if (answer == kErrorWouldBlock && self != nullptr && self->is_published) {
      ChannelWait wait{{}, self, data, ChannelWait::Status::kWaiting, me == nullptr};
      queue.push_back(&wait);
      return wait_locked(channel, *self, wait, hold);
    }
    channel.lock.unlock(me, hold);
    if (answer == kOwnMemoryIsBad) [[unlikely]] {
      blame_caller();
      touch_all();
      continue;
    }
    if (answer != kErrorWouldBlock || self == nullptr) return answer;
    publish_frames(*self->frame);  // takes the nursery's lock, which comes before ours
  }
}

}  // namespace

static Channel* take_record(Runtime& runtime, Worker* worker, Account* payer, int* error) noexcept {
  *error = kErrorBudget;
  if (!pay_for_record(runtime, payer, kChannelBytes)) return nullptr;
  SlabCache* const cache = worker != nullptr ? &worker->channels : nullptr;
  void* record = runtime.channels.take(cache);
  if (record == nullptr) record = alloc_under_pressure(runtime, runtime.channels, cache, false, error);
  if (record == nullptr) refund_record(runtime, payer, kChannelBytes);
  return static_cast<Channel*>(record);
}

Channel* create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes, std::size_t capacity,
                        int* error) noexcept {
  std::size_t bytes = 0;
  *error = kErrorInvalid;
  if (element_bytes > kMostElementBytes || __builtin_mul_overflow(element_bytes, capacity, &bytes)) return nullptr;
  std::byte* buffer = nullptr;
  if (bytes != 0) {
    buffer = static_cast<std::byte*>(allocate_own(runtime, worker, task, bytes, error));
    if (buffer == nullptr) return nullptr;
    if (task != nullptr) worker = &current_worker();
  }
  Account* const payer = task != nullptr ? task->account : runtime.root_account;
  auto* const channel = take_record(runtime, worker, payer, error);
  if (channel == nullptr) {
    if (buffer != nullptr) release_own(runtime, worker, buffer);
    return nullptr;
  }
  // Somebody with a stale pointer may be at the lock of what this was before.
  const BiasedLock::Hold hold = channel->lock.lock_as_guest(nullptr);
  channel->lock.init(!runtime.scheduler.is_deterministic());
  channel->runtime = &runtime;
  channel->payer = payer;
  if (task == nullptr) runtime.is_fed_from_outside.store(true, std::memory_order_relaxed);
  channel->element_bytes = element_bytes;
  channel->capacity = capacity;
  channel->buffer = buffer;
  channel->is_closed = false;
  channel->first = channel->count = 0;
  channel->senders.reset();
  channel->receivers.reset();
  channel->life.store(Channel::kAlive + 1, std::memory_order_release);  // pairs with who checks a pointer
  channel->lock.unlock(nullptr, hold);
  return channel;
}

// Under the lock.
// Of many waits nothing is left in the cache. Those who went to sleep one after the other lie on stacks that went out
// so, at equal distances: where the next ones are is a good guess, and does no harm if it is wrong. Goes before the
// others.
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

static void close_locked(Worker* worker, Channel& channel) noexcept {
  channel.is_closed = true;
  List<ChannelWait>* const queues[] = {&channel.senders, &channel.receivers};
  for (List<ChannelWait>* queue : queues) {
    WaitScout scout(*queue);
    while (ChannelWait* const wait = queue->pop_front()) {
      scout.step();
      complete_wait(worker, *wait, ChannelWait::Status::kClosed);
    }
  }
}

int close_channel(Worker* worker, Channel& channel) noexcept {
  const ChannelGuard guard(worker, channel);
  if (channel.is_closed) return kErrorClosed;
  close_locked(worker, channel);
  return 0;
}

int retain_channel(Channel& channel) noexcept {
  std::uint64_t life = channel.life.load(std::memory_order_relaxed);
  do {
    if (!Channel::is_alive(life)) return kErrorStale;
    if (life == Channel::kAlive + Channel::kMostReferences) return kErrorState;
  } while (!channel.life.compare_exchange_weak(life, life + 1, std::memory_order_relaxed));
  return 0;
}

int release_channel(Worker* worker, Channel& channel) noexcept {
  std::uint64_t life = channel.life.load(std::memory_order_relaxed);
  bool is_last = false;
  do {
    if (!Channel::is_alive(life)) return kErrorStale;
    is_last = life == Channel::kAlive + 1;
    // Acquire and release: what others did before they gave up theirs comes before the end of it.
  } while (!channel.life.compare_exchange_weak(life, is_last ? 0 : life - 1, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
  if (!is_last) return 0;
  LockOwner* const me = owner_in(channel, worker);
  const BiasedLock::Hold hold = channel.lock.lock(me);
  close_locked(worker, channel);
  std::byte* const buffer = std::exchange(channel.buffer, nullptr);
  channel.lock.unlock_for_good(me, hold);
  Runtime& runtime = *channel.runtime;
  if (buffer != nullptr) release_own(runtime, worker, buffer);
  Account* const payer = channel.payer;
  runtime.channels.give(worker != nullptr ? &worker->channels : nullptr, &channel);
  refund_record(runtime, payer, kChannelBytes);
  return 0;
}

int send(Worker* worker, Task* self, Channel& channel, const void* element) noexcept {
  return do_or_wait(
      worker, self, channel, channel.senders, const_cast<void*>(element),
      [&] { return try_send(worker, channel, element); }, [&] { touch_to_read(element, channel.element_bytes); });
}

int receive(Worker* worker, Task* self, Channel& channel, void* element) noexcept {
  return do_or_wait(
      worker, self, channel, channel.receivers, element, [&] { return try_receive(worker, channel, element); },
      [&] { touch_to_write(element, channel.element_bytes); });
}

// --- At hand --------------------------------------------------------------------------------------------------------
// Leaf functions but for what they end with. Who owns the lock is in its own program, free of determinism, with a heavy
// fence, and the channel is alive and of this runtime.

namespace {

using Word = std::uint64_t;

[[gnu::always_inline]] inline void pay_at_hand(Worker& worker, Task& task) noexcept {
  worker.counters.channel_ops.add();
  worker.fuel -= price::kCall;
  task.yielded_free = false;
}

// Whether the first in a queue is waiting indeed, rather than woken to look, or of another runtime.
[[gnu::always_inline]] inline bool is_here(const ChannelWait& wait) noexcept {
  return arch::cmp_relaxed(wait.task->state, TaskState::kAtChannel);
}

// --- What does not happen often. Each has the lock as its owner but for the first ---

[[gnu::noinline, gnu::cold]] int send_backing_off(Worker& worker, Task& self, Channel& channel,
                                                  const void* element) noexcept {
  channel.lock.leave(worker.locks);
  pay_at_hand(worker, self);
  return send(&worker, &self, channel, element);
}
[[gnu::noinline, gnu::cold]] int receive_backing_off(Worker& worker, Task& self, Channel& channel,
                                                     void* element) noexcept {
  channel.lock.leave(worker.locks);
  pay_at_hand(worker, self);
  return receive(&worker, &self, channel, element);
}
[[gnu::noinline]] int send_unlocking(Worker& worker, Task& self, Channel& channel, const void* element) noexcept {
  channel.lock.unlock_at_hand(worker.locks);
  pay_at_hand(worker, self);
  return send(&worker, &self, channel, element);
}
[[gnu::noinline]] int receive_unlocking(Worker& worker, Task& self, Channel& channel, void* element) noexcept {
  channel.lock.unlock_at_hand(worker.locks);
  pay_at_hand(worker, self);
  return receive(&worker, &self, channel, element);
}
[[gnu::noinline, gnu::cold]] int unlock_noticing(Worker& worker, Channel& channel) noexcept {
  channel.lock.leave(worker.locks);
  return 0;
}

// --- What does ---

[[gnu::always_inline]] inline int done(Worker& worker, Task& self, Channel& channel) noexcept {
  pay_at_hand(worker, self);
  return channel.lock.left_at_hand(worker.locks) ? 0 : unlock_noticing(worker, channel);
}

// What `wait` waited for has happened.
[[gnu::always_inline]] inline int serve(Worker& worker, Task& self, Channel& channel, List<ChannelWait>& queue,
                                        ChannelWait& wait) noexcept {
  queue.drop_front(&wait);
  Task& task = *wait.task;
  wait.status.store(ChannelWait::Status::kServed, std::memory_order_relaxed);  // the push tells it
  JANUS_ASSERT(state_of(task) == TaskState::kAtChannel);
  task.state.store(TaskState::kReady, std::memory_order_relaxed);
  pay_at_hand(worker, self);
  worker.scheduler->push_woken<Path::kFast>(worker, &task);
  return channel.lock.left_at_hand(worker.locks) ? 0 : unlock_noticing(worker, channel);
}

// The rest of a wait that has ended before it was served.
[[gnu::noinline, gnu::cold]] int go_on_waiting(Channel& channel, Task& self, ChannelWait& wait) noexcept {
  const ChannelWait::Status status = wait.status.load(std::memory_order_acquire);
  if (status != ChannelWait::Status::kWaiting) return result_of(wait, status);
  return wait_locked(channel, self, wait, channel.lock.lock(owner_in(channel, &current_worker())));
}

// Called by janus_jump_back.
[[gnu::flatten]] int wait_at_hand(void* on, void* whom, void* where, void* line, void* data) noexcept {
  Worker& worker = *static_cast<Worker*>(on);
  Task& self = *static_cast<Task*>(whom);
  Channel& channel = *static_cast<Channel*>(where);
  auto& queue = *static_cast<List<ChannelWait>*>(line);
  pay_at_hand(worker, self);
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting, false};
  queue.push_back(&wait);
  if (!block_at_hand(channel, worker, self)) [[unlikely]]
    return give_up(channel, self, wait, BiasedLock::Hold::kBiased, kErrorNoMemory);
  if (wait.status.load(std::memory_order_acquire) == ChannelWait::Status::kServed) [[likely]]
    return 0;
  return go_on_waiting(channel, self, wait);
}

}  // namespace

JANUS_ANY_POINTER bool is_at_hand(Worker& worker, const Task& self, const Channel* channel) noexcept {
  const Runtime& runtime = *static_cast<const Runtime*>(worker.runtime);
  return channel->lock.is_owned_wherever(worker.locks) && channel->element_bytes == sizeof(Word) && worker.fuel > 0 &&
         self.account == runtime.root_account && arch::cmp_relaxed(self.cancel, std::uint8_t{0}) &&
         arch::cmp_relaxed(self.nursery->clean_epoch, runtime.cancel_epoch.load(std::memory_order_acquire));
}

int send_at_hand(Worker& worker, Task& self, Channel& channel, const void* element) noexcept {
  Word word;
  if (!channel.lock.entered_at_hand(worker.locks)) [[unlikely]]
    return send_backing_off(worker, self, channel, element);
  if (ChannelWait* const receiver = channel.receivers.front()) {
    if (!is_here(*receiver) || !arch::load_user(element, word) || !arch::store_user(receiver->data, word)) [[unlikely]]
      return send_unlocking(worker, self, channel, element);
    return serve(worker, self, channel, channel.receivers, *receiver);
  }
  if (channel.is_closed) [[unlikely]]
    return send_unlocking(worker, self, channel, element);
  if (channel.count == channel.capacity) {
    if (!self.is_published) [[unlikely]]
      return send_unlocking(worker, self, channel, element);
    return janus_jump_back(&worker, &self, &channel, &channel.senders, const_cast<void*>(element), wait_at_hand);
  }
  if (!arch::load_user(element, word)) [[unlikely]]
    return send_unlocking(worker, self, channel, element);
  __builtin_memcpy(slot(channel, channel.count), &word, sizeof word);
  ++channel.count;
  return done(worker, self, channel);
}

int receive_at_hand(Worker& worker, Task& self, Channel& channel, void* element) noexcept {
  Word word;
  if (!channel.lock.entered_at_hand(worker.locks)) [[unlikely]]
    return receive_backing_off(worker, self, channel, element);
  ChannelWait* const sender = channel.senders.front();
  if (channel.count == 0) {
    if (sender != nullptr) {
      if (!is_here(*sender) || !arch::load_user(sender->data, word) || !arch::store_user(element, word)) [[unlikely]]
        return receive_unlocking(worker, self, channel, element);
      return serve(worker, self, channel, channel.senders, *sender);
    }
    if (channel.is_closed || !self.is_published) [[unlikely]]
      return receive_unlocking(worker, self, channel, element);
    return janus_jump_back(&worker, &self, &channel, &channel.receivers, element, wait_at_hand);
  }
  __builtin_memcpy(&word, slot(channel, 0), sizeof word);
  if (sender != nullptr || !arch::store_user(element, word)) [[unlikely]]
    return receive_unlocking(worker, self, channel, element);
  channel.first = channel.first + 1 == channel.capacity ? 0 : channel.first + 1;
  --channel.count;
  return done(worker, self, channel);
}

bool wake_at_channel(Worker* worker, Task& task) noexcept {
  Channel& channel = *std::atomic_ref(task.waits_at).load(std::memory_order_relaxed);
  LockOwner* const me = owner_in(channel, worker);
  const BiasedLock::Hold hold = channel.lock.lock_as_guest(me);
  // Neither changes while it waits here. If it waits elsewhere by now, it has looked since.
  const bool is_here = task.state.load(std::memory_order_acquire) == TaskState::kAtChannel &&
                       std::atomic_ref(task.waits_at).load(std::memory_order_relaxed) == &channel;
  if (is_here) wake_held(worker, task);
  channel.lock.unlock(me, hold);
  return is_here;
}

}  // namespace janus
