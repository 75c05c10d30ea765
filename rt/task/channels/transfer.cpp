// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/transfer.cpp — sending and receiving: one source for both paths. The fast path is for the lock's
// owner and elements that are words; it is a leaf except for its tail calls. In any other case it changes nothing, and
// starts again on the general path.
#include "rt/task/channels/transfer.h"

#include <arch/jump_back.h>

#include "rt/task/channels/channel_wait.h"
#include "rt/task/channels/element.h"
#include "rt/task/channels/own_case.h"
#include "rt/task/channels/serve.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/block.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

using arch::UserCopy;
using Hold = BiasedLock::Hold;

template <Direction kDirection, Path kPath>
int transfer(Worker* worker, Task* self, Channel& channel, void* data, std::uint32_t secret) noexcept;

// The caller is not on a worker of the channel's runtime: from now on neither that runtime nor the caller's can exclude
// that a thread outside it will wake its tasks (deadlock.cpp). Called before the channel is accessed, since this access
// may be the only one.
[[gnu::noinline, gnu::cold]] void note_stranger(Channel& channel, Task* self) noexcept {
  channel.runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
  if (self != nullptr) self->nursery->runtime->is_fed_from_outside.store(true, std::memory_order_relaxed);
}

}  // namespace

bool lock_alive(Channel& channel, Worker* worker, Task* self, std::uint32_t secret, Hold& hold) noexcept {
  LockOwner* const owner = owner_in(channel, worker);
  if (owner == nullptr) [[unlikely]]
    note_stranger(channel, self);
  hold = channel.lock.lock(owner);
  if (channel.is_alive(secret)) [[likely]]
    return true;
  channel.lock.unlock_for_good(owner, hold);  // this call may have made the worker its owner
  return false;
}

std::size_t refill(Worker* worker, Channel& channel, BadWaits& drops) noexcept {
  const auto copy = [&channel](const void* data) noexcept {
    return copy_element<Path::kGeneral>(channel, free_slot<Path::kGeneral>(channel), data);
  };
  std::size_t served = 0;
  while (channel.count != channel.capacity &&
         serve_first<Direction::kSend>(worker, channel, drops, copy) == Served::kOne) {
    ++channel.count;
    ++served;
  }
  return served;
}

namespace {

// The secret of a channel whose lock is held, for use after the lock is released.
std::uint32_t secret_of(const Channel& channel) noexcept {
  return Channel::secret_of(channel.life.load(std::memory_order_relaxed));
}

// --- Last steps of an operation. Each releases the lock, held as `hold` says; on the fast path the caller owns it ---

// The lock was revoked while the owner held it.
[[gnu::noinline, gnu::cold]] int finish_revoked(Worker& worker, Channel& channel) noexcept {
  channel.lock.leave(worker.locks);
  return 0;
}

template <Path kPath>
[[gnu::always_inline]] inline int finish(Worker* worker, Channel& channel, Hold hold) noexcept {
  if constexpr (kPath == Path::kFast)
    return channel.lock.try_exit(worker->locks) ? 0 : finish_revoked(*worker, channel);
  channel.lock.unlock(owner_in(channel, worker), hold);
  return 0;
}

// Starts the operation again on the general path; the fast path has changed nothing.
template <Direction kDirection>
[[gnu::noinline]] int begin_again(Worker* worker, Task* self, Channel& channel, void* data) noexcept {
  const std::uint32_t secret = secret_of(channel);
  channel.lock.unlock_biased(worker->locks);
  return transfer<kDirection, Path::kGeneral>(worker, self, channel, data, secret);
}
template <Direction kDirection>
[[gnu::noinline, gnu::cold]] int begin_again_revoked(Worker* worker, Task* self, Channel& channel, void* data,
                                                     std::uint32_t secret) noexcept {
  channel.lock.leave(worker->locks);
  return transfer<kDirection, Path::kGeneral>(worker, self, channel, data, secret);
}

// Releases the lock without a transfer.
int leave(Worker* worker, Channel& channel, Hold hold, int result) noexcept {
  channel.lock.unlock(owner_in(channel, worker), hold);
  return result;
}

template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline int fail_own_copy(Worker* worker, Task* self, Channel& channel, void* data,
                                                Hold hold) noexcept {
  if constexpr (kPath == Path::kFast) return begin_again<kDirection>(worker, self, channel, data);
  return leave(worker, channel, hold, kOwnIsBad);
}

// The channel is closed, to `mine` as to others.
template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline int refuse_closed(Worker* worker, Task* self, Channel& channel, void* data,
                                                SelectWait* mine, Hold hold) noexcept {
  if constexpr (kPath == Path::kFast) return begin_again<kDirection>(worker, self, channel, data);
  return leave(worker, channel, hold, take_alone(mine) ? kErrorClosed : kIsTaken);
}

// Called by the lock's owner where there is no stack to go on with.
[[gnu::noinline, gnu::cold]] int leave_queue(Channel& channel, ChannelWait& wait) noexcept {
  List<ChannelWait>::remove(&wait);
  channel.lock.unlock(&current_worker().locks, Hold::kBiased);
  return kErrorNoMemory;
}

// wait_at() for the fast path: the caller owns the lock, and the task has checked for a cancel and takes no turns, so
// nothing has to be checked before the first wait. Must be the caller's last action.
[[gnu::flatten]] int wait_at_from_jump(void* self_pointer, void* channel_pointer, void* queue_pointer, void* data,
                                       void*) noexcept {
  Task& self = *static_cast<Task*>(self_pointer);
  Channel& channel = *static_cast<Channel*>(channel_pointer);
  ChannelWait wait{{}, &self, data, ChannelWait::Status::kWaiting, ChannelWait::From::kHere, false, false, 0};
  static_cast<List<ChannelWait>*>(queue_pointer)->push_back(&wait);
  if (!block_at(channel, self)) [[unlikely]]
    return leave_queue(channel, wait);
  if (wait.status.load(std::memory_order_acquire) == ChannelWait::Status::kServed) [[likely]]
    return 0;
  const int result = wait_on(channel, self, wait);
  if (result != kTryAgain) [[likely]]
    return result;
  const auto again = wait.is_sender ? try_again<Direction::kSend> : try_again<Direction::kReceive>;
  return again(channel, self, wait.data, wait.secret);
}

// Publishes the task and starts the operation again: publishing takes the nursery's lock, which must be taken before
// the channel's.
template <Direction kDirection>
[[gnu::noinline]] int publish_and_begin_again(Worker* worker, Task* self, Channel& channel, void* data,
                                              Hold hold) noexcept {
  const std::uint32_t secret = secret_of(channel);
  channel.lock.unlock(owner_in(channel, worker), hold);
  publish_frames(*self->frame);
  return transfer<kDirection, Path::kGeneral>(worker, self, channel, data, secret);
}

// Another case of the caller's select is taken.
int give_up(auto& claim, Worker* worker, Channel& channel, Hold hold) noexcept {
  claim.release();
  return leave(worker, channel, hold, kIsTaken);
}

// `mine` waits in the channel's queue, and its task, which has other cases, not yet.
template <Direction kDirection>
int queue_or_refuse(Worker* worker, Channel& channel, SelectWait* mine, Hold hold) noexcept {
  const bool is_to_wait = mine != nullptr && mine->selection->may_queue;
  if (is_to_wait) queue_of<kDirection>(channel).push_back(mine);
  return leave(worker, channel, hold, is_to_wait ? kQueued : kErrorWouldBlock);
}

template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline int wait_or_refuse(Worker* worker, Task* self, Channel& channel, void* data,
                                                 SelectWait* mine, Hold hold) noexcept {
  if (kPath == Path::kGeneral && self == nullptr) return queue_or_refuse<kDirection>(worker, channel, mine, hold);
  if (!self->is_published) [[unlikely]]
    return publish_and_begin_again<kDirection>(worker, self, channel, data, hold);
  if (kPath == Path::kFast && self->takes_turns()) [[unlikely]]  // its slice has to be settled
    return begin_again<kDirection>(worker, self, channel, data);
  List<ChannelWait>& queue = queue_of<kDirection>(channel);
  if constexpr (kPath == Path::kFast) return janus_jump_back(self, &channel, &queue, data, nullptr, wait_at_from_jump);
  return wait_at(channel, *self, queue, data, hold);
}

// Called when the deque is full.
[[gnu::noinline, gnu::cold]] int queue_and_finish(Worker& worker, Channel& channel, Task& ready) noexcept {
  worker.scheduler->push_woken(worker, &ready);
  channel.lock.unlock_biased(worker.locks);
  return 0;
}
[[gnu::noinline, gnu::cold]] int wake_worker(Worker& worker) noexcept {
  worker.scheduler->wake_one_for(Work::kWoken);
  return 0;
}

// Ends `wait`, which is in `queue`, as served. On the fast path it is the first.
template <Path kPath>
[[gnu::always_inline]] inline int serve(Worker* worker, Channel& channel, List<ChannelWait>& queue, ChannelWait& wait,
                                        Hold hold) noexcept {
  if constexpr (kPath == Path::kGeneral) {
    List<ChannelWait>::remove(&wait);  // it may be behind waits of the caller's own select
    complete_wait(worker, wait, ChannelWait::Status::kServed);
    return finish<kPath>(worker, channel, hold);
  } else {
    queue.drop_front(&wait);
    Task& task = *wait.task;
    (void)end_wait<kPath>(wait, ChannelWait::Status::kServed);
    if (!worker->scheduler->try_push_woken(*worker, &task)) [[unlikely]]
      return queue_and_finish(*worker, channel, task);
    if (!channel.lock.try_exit(worker->locks)) [[unlikely]]
      return finish_revoked(*worker, channel);
    return worker->scheduler->has_sleeper<kPath>() ? wake_worker(*worker) : 0;
  }
}

// --- The operations ---

// Transfers an element to or from the first task that waits on the other side. `is_done` false: no task waits there.
template <Direction kDirection>
[[gnu::always_inline]] inline int meet_at_once(Worker* worker, Task* self, Channel& channel, void* data,
                                               bool& is_done) noexcept {
  List<ChannelWait>& others = queue_of<opposite(kDirection)>(channel);
  ChannelWait* const other = others.front();
  is_done = other != nullptr;
  if (!is_done) return 0;
  if (!is_here(*other)) [[unlikely]]
    return begin_again<kDirection>(worker, self, channel, data);
  if (copy_between<kDirection, Path::kFast>(channel, data, other->data) != UserCopy::kDone) [[unlikely]]
    return begin_again<kDirection>(worker, self, channel, data);
  return serve<Path::kFast>(worker, channel, others, *other, Hold::kBiased);
}

// The same on the general path. Drops waiters that cannot be served.
template <Direction kDirection>
int meet(Worker* worker, Task* self, Channel& channel, void* data, SelectWait* mine, Hold hold,
         bool& is_done) noexcept {
  constexpr UserCopy kOwnIsNot = kDirection == Direction::kSend ? UserCopy::kBadSource : UserCopy::kBadTarget;
  List<ChannelWait>& others = queue_of<opposite(kDirection)>(channel);
  is_done = true;
  BadWaits drops(worker);
  while (ChannelWait* const other = first_of_others(others, mine)) {
    Claim claim(selection_of_own(mine), selection_of(*other));
    if (!claim.is_mine_open()) return give_up(claim, worker, channel, hold);
    ChannelWait::Status why = ChannelWait::Status::kStale;
    if (claim.is_theirs_open()) {
      const UserCopy copied = copy_between<kDirection, Path::kGeneral>(channel, data, other->data);
      if (copied == kOwnIsNot) {
        claim.release();
        return fail_own_copy<kDirection, Path::kGeneral>(worker, self, channel, data, hold);
      }
      claim.take_theirs(case_of(*other));
      if (copied == UserCopy::kDone) {
        claim.take_mine(case_of_own(mine));
        claim.release();
        return serve<Path::kGeneral>(worker, channel, others, *other, hold);
      }
      why = ChannelWait::Status::kBadMemory;
    }
    claim.release();
    drops.drop(channel, opposite(kDirection), *other, why);
  }
  is_done = false;
  return 0;
}

template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline int meet_on(Worker* worker, Task* self, Channel& channel, void* data, SelectWait* mine,
                                          Hold hold, bool& is_done) noexcept {
  if constexpr (kPath == Path::kFast)
    return meet_at_once<kDirection>(worker, self, channel, data, is_done);
  else
    return meet<kDirection>(worker, self, channel, data, mine, hold, is_done);
}

template <Path kPath>
[[gnu::always_inline]] inline int send_held(Worker* worker, Task* self, Channel& channel, void* data, SelectWait* mine,
                                            Hold hold) noexcept {
  bool is_done;
  const int result = meet_on<Direction::kSend, kPath>(worker, self, channel, data, mine, hold, is_done);
  if (is_done) return result;
  if (channel.state == ChannelState::kClosed) [[unlikely]]
    return refuse_closed<Direction::kSend, kPath>(worker, self, channel, data, mine, hold);
  if (channel.count == channel.capacity)
    return wait_or_refuse<Direction::kSend, kPath>(worker, self, channel, data, mine, hold);
  ClaimOn<kPath> claim(selection_of_own(mine), nullptr);
  if (!claim.is_mine_open()) return give_up(claim, worker, channel, hold);
  if (copy_element<kPath>(channel, free_slot<kPath>(channel), data) != UserCopy::kDone) [[unlikely]] {
    claim.release();
    return fail_own_copy<Direction::kSend, kPath>(worker, self, channel, data, hold);
  }
  claim.take_mine(case_of_own(mine));
  claim.release();
  ++channel.count;
  return finish<kPath>(worker, channel, hold);
}

// refill() for a hold of the lock in which nobody else is dropped.
void refill_alone(Worker* worker, Channel& channel) noexcept {
  BadWaits drops(worker);
  (void)refill(worker, channel, drops);
}

// Receives from the buffer before waiting senders. A closed channel still gives its buffered elements.
template <Path kPath>
[[gnu::always_inline]] inline int receive_held(Worker* worker, Task* self, Channel& channel, void* data,
                                               SelectWait* mine, Hold hold) noexcept {
  if (channel.count != 0) {
    if (kPath == Path::kFast && !channel.senders.is_empty()) [[unlikely]]
      return begin_again<Direction::kReceive>(worker, self, channel, data);
    const std::size_t first = channel.first, next = first + 1 == channel.capacity ? 0 : first + 1;
    ClaimOn<kPath> claim(selection_of_own(mine), nullptr);
    if (!claim.is_mine_open()) return give_up(claim, worker, channel, hold);
    if (copy_element<kPath>(channel, data, slot_at<kPath>(channel, first)) != UserCopy::kDone) [[unlikely]] {
      claim.release();
      return fail_own_copy<Direction::kReceive, kPath>(worker, self, channel, data, hold);
    }
    claim.take_mine(case_of_own(mine));
    claim.release();
    channel.first = next;
    --channel.count;
    if constexpr (kPath == Path::kGeneral) {
      if (!channel.senders.is_empty()) refill_alone(worker, channel);
    }
    return finish<kPath>(worker, channel, hold);
  }
  bool is_done;
  const int result = meet_on<Direction::kReceive, kPath>(worker, self, channel, data, mine, hold, is_done);
  if (is_done) return result;
  if (channel.state == ChannelState::kClosed) [[unlikely]]
    return refuse_closed<Direction::kReceive, kPath>(worker, self, channel, data, mine, hold);
  return wait_or_refuse<Direction::kReceive, kPath>(worker, self, channel, data, mine, hold);
}

template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline int transfer_held(Worker* worker, Task* self, Channel& channel, void* data,
                                                SelectWait* mine, Hold hold) noexcept {
  if constexpr (kDirection == Direction::kSend)
    return send_held<kPath>(worker, self, channel, data, mine, hold);
  else
    return receive_held<kPath>(worker, self, channel, data, mine, hold);
}

// `looks_again`: the task has waited before, and has to check that its own memory can be accessed.
template <Direction kDirection>
int transfer_in_general(Worker* worker, Task* self, Channel& channel, void* data, std::uint32_t secret,
                        bool looks_again) noexcept {
  const Runtime& runtime = *channel.runtime;
  for (;;) {
    Hold hold;
    if (!lock_alive(channel, worker, self, secret, hold)) [[unlikely]]
      return looks_again ? kErrorClosed : kErrorStale;
    const std::size_t bytes = channel.element_bytes;
    const int result = looks_again && !is_own_there<kDirection>(channel, data)
                           ? leave(worker, channel, hold, kOwnIsBad)
                           : transfer_held<kDirection, Path::kGeneral>(worker, self, channel, data, nullptr, hold);
    if (result != kTryAgain && result != kOwnIsBad) [[likely]]
      return result;
    if (result == kOwnIsBad)
      blame_for_own<kDirection>(data, bytes);
    else
      looks_again = true;
    worker = self != nullptr ? tasks_worker_of(runtime) : worker_of(runtime);
  }
}

template <Direction kDirection, Path kPath>
int transfer(Worker* worker, Task* self, Channel& channel, void* data, std::uint32_t secret) noexcept {
  if constexpr (kPath == Path::kFast) {
    if (!channel.lock.try_enter(worker->locks)) [[unlikely]]
      return begin_again_revoked<kDirection>(worker, self, channel, data, secret);
    return transfer_held<kDirection, kPath>(worker, self, channel, data, nullptr, Hold::kBiased);
  } else {
    return transfer_in_general<kDirection>(worker, self, channel, data, secret, false);
  }
}

}  // namespace

template <Path kPath>
int send(Worker* worker, Task* self, Channel& channel, const void* element, std::uint32_t secret) noexcept {
  return transfer<Direction::kSend, kPath>(worker, self, channel, const_cast<void*>(element), secret);
}
template int send<Path::kGeneral>(Worker*, Task*, Channel&, const void*, std::uint32_t) noexcept;
template int send<Path::kFast>(Worker*, Task*, Channel&, const void*, std::uint32_t) noexcept;

int post(Worker* worker, Channel& channel, const void* element, std::uint32_t secret) noexcept {
  Hold hold;
  if (!lock_alive(channel, worker, nullptr, secret, hold)) [[unlikely]]
    return kErrorStale;
  return send_held<Path::kGeneral>(worker, nullptr, channel, const_cast<void*>(element), nullptr, hold);
}

namespace {

// Waits with the element, unless post() may succeed now.
[[gnu::noinline]] int wait_with(Task& self, Channel& channel, const void* element, std::uint32_t secret) noexcept {
  if (!self.is_published) publish_frames(*self.frame);
  Worker& worker = current_worker();
  const Hold hold = channel.lock.lock(owner_in(channel, &worker));
  const bool is_full = channel.state != ChannelState::kClosed && channel.count == channel.capacity;
  if (!channel.is_alive(secret) || !is_full || !channel.receivers.is_empty())
    return leave(&worker, channel, hold, kTryAgain);
  return wait_at(channel, self, queue_of<Direction::kSend>(channel), const_cast<void*>(element), hold);
}

}  // namespace

int post_or_wait(Task& self, Channel& channel, const void* element, std::uint32_t secret) noexcept {
  const int result = post(&current_worker(), channel, element, secret);
  return result == kErrorWouldBlock ? wait_with(self, channel, element, secret) : result;
}

template <Path kPath>
int receive(Worker* worker, Task* self, Channel& channel, void* element, std::uint32_t secret) noexcept {
  return transfer<Direction::kReceive, kPath>(worker, self, channel, element, secret);
}
template int receive<Path::kGeneral>(Worker*, Task*, Channel&, void*, std::uint32_t) noexcept;
template int receive<Path::kFast>(Worker*, Task*, Channel&, void*, std::uint32_t) noexcept;

template <Direction kDirection>
int try_again(Channel& channel, Task& self, void* data, std::uint32_t secret) noexcept {
  return transfer_in_general<kDirection>(worker_of(*channel.runtime), &self, channel, data, secret, true);
}
template int try_again<Direction::kSend>(Channel&, Task&, void*, std::uint32_t) noexcept;
template int try_again<Direction::kReceive>(Channel&, Task&, void*, std::uint32_t) noexcept;

template <Direction kDirection>
int take_or_queue(SelectWait& wait) noexcept {
  Channel& channel = *wait.channel;
  Worker* const worker = worker_of(*channel.runtime);
  Hold hold;
  if (!lock_alive(channel, worker, wait.task, wait.secret, hold)) [[unlikely]]
    return take_alone(&wait) ? kErrorStale : kIsTaken;
  return transfer_held<kDirection, Path::kGeneral>(worker, nullptr, channel, wait.data, &wait, hold);
}
template int take_or_queue<Direction::kSend>(SelectWait&) noexcept;
template int take_or_queue<Direction::kReceive>(SelectWait&) noexcept;

// A worker owns the lock only if the mode is not deterministic and the machine has a heavy fence; the channel is then
// alive and of this runtime.
bool goes_fast(Worker& worker, const Channel& channel) noexcept {
  return channel.lock.is_owned_by(worker.locks) && channel.element_bytes == sizeof(std::uint64_t) && worker.fuel > 0;
}

}  // namespace janus
