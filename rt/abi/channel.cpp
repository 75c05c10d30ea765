// SPDX-License-Identifier: Apache-2.0
// rt/abi/channel.cpp — channels. docs/decisions/0328
#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/general_calls.h"
#include "rt/task/account/charge.h"
#include "rt/task/channels/channel_life.h"
#include "rt/task/channels/transfer.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

namespace {

// The record at a handle's index, whatever channel it holds now; nullptr: there is no such record.
[[gnu::always_inline]] inline Channel* record_of(Runtime* runtime, std::uint64_t handle) noexcept {
  return runtime != nullptr ? static_cast<Channel*>(runtime->channels.at(index_of_handle(handle))) : nullptr;
}

}  // namespace

OrError<Channel*> find_channel(const Caller& me, const janus_channel* named, ChannelKind kind) noexcept {
  const std::uint64_t handle = word_of(named);
  if (handle == 0) return Failed{JANUS_E_INVALID};
  Channel* const channel = record_of(runtime_of_handle(me, handle), handle);
  const std::uint64_t life = channel != nullptr ? channel->life.load(std::memory_order_acquire) : 0;
  if (secret_of_handle(handle) == 0 || Channel::secret_of(life) != secret_of_handle(handle)) return Failed{kNoHandle};
  if (Channel::references_of(life) == 0) return Failed{JANUS_E_STALE};
  if (kind_of(*channel) != kind) return Failed{kNoHandle};  // a forged handle of another kind
  return channel;
}

// As find_channel(), but refuses what is no handle.
OrError<Channel*> check_channel(const Caller& me, const janus_channel* named) noexcept {
  const OrError<Channel*> found = find_channel(me, named);
  if (found.error == kNoHandle) [[unlikely]]
    return refuse_handle(me, "channel", word_of(named));
  return found;
}

namespace {

// Adds to an error of check_channel() the reason that janus_last_error_text shows.
[[gnu::cold]] int with_channel_named(int error) noexcept {
  return error == JANUS_E_INVALID ? with_why(error, Why::kNoChannel) : error;
}

}  // namespace

int pay_for_transfer(Caller& me, std::size_t bytes, bool may_wait) noexcept {
  if (me.task == nullptr) return 0;
  me.worker->counters.channel_ops.add();
  const int answer = charge(*me.task, Component::kChannelOps, 1);
  if (answer != 0) return answer;
  if (bytes >= price::kBytesPerOp) (void)charge_bytes(*me.task, bytes);
  me.worker = &current_worker();
  me.worker->scheduler->sched_point();
  return may_wait && sees_cancel(*me.task) ? JANUS_CANCELLED : 0;
}

// Paying may take long, so the channel may have ended meanwhile, and is looked up again.
OrError<Channel*> find_and_pay(Caller& me, const janus_channel* named, const void* element, bool may_wait) noexcept {
  OrError<Channel*> found = check_channel(me, named);
  if (!found) return found;
  const int answer = pay_for_transfer(me, found.value->element_bytes, may_wait);
  if (answer != 0) return Failed{answer};
  found = check_channel(me, named);
  if (!found) return found;
  Channel* const channel = found.value;
  if (element == nullptr && channel->element_bytes != 0) return Failed{JANUS_E_INVALID};
  if (me.worker != nullptr && me.worker->runtime == channel->runtime)
    me.worker->channels_found.keep(word_of(named), channel);
  return channel;
}

namespace {

// As pay_for_transfer(), with the op of the call. False: the account has too little, and nothing has changed. Precondition:
// goes_fast(), which has checked the fuel.
template <bool kIsCaged>
bool pay_fast(Worker& worker, const Task& task) noexcept {
  if (kIsCaged && !charge_at_once(task, Component::kChannelOps, 1)) [[unlikely]]
    return false;
  worker.counters.channel_ops.add();
  take_fuel_unchecked(worker, price::kCall);
  return true;
}

template <typename Element>
using Transfer = int (*)(Worker*, Task*, Channel&, Element, std::uint32_t) noexcept;

// Called after the entry. `waiter`: the task that waits if the channel is not ready; nullptr: returns an error instead.
template <typename Element>
int transfer(Caller me, Task* waiter, janus_channel* named, Element element,
             Transfer<Element> send_or_receive) noexcept {
  const OrError<Channel*> found = find_and_pay(me, named, element, waiter != nullptr);
  if (!found) return found.error;
  Channel* const channel = found.value;
  const auto go = [&]() noexcept {
    return send_or_receive(worker_in(*channel->runtime, me), waiter, *channel, element,
                           secret_of_handle(word_of(named)));
  };
  if constexpr (!kTasksAreWatched) return go();
  const std::size_t bytes = channel->element_bytes;
  order_before(*channel, element, bytes);
  const int result = go();
  order_after(channel, element, result == 0 ? bytes : 0, result);
  return result;
}

// A whole send or receive on the general path.
template <typename Element, Transfer<Element> kTransfer>
[[gnu::noinline]] int transfer_slow(janus_channel* named, Element element) noexcept {
  const Caller me = enter();
  return me.task != nullptr ? transfer(me, me.task, named, element, kTransfer) : JANUS_E_NO_TASK;
}

// A whole send or receive on the fast path. Precondition: goes_fast().
template <bool kIsCaged, typename Element, Transfer<Element> kFast, Transfer<Element> kGeneral>
[[gnu::always_inline]] inline int transfer_fast(Worker* worker, Task* task, Channel* channel, Element element,
                                                janus_channel* named) noexcept {
  if (!is_clean_at_once<kIsCaged>(*worker->runtime, *task) || !pay_fast<kIsCaged>(*worker, *task)) [[unlikely]]
    return transfer_slow<Element, kGeneral>(named, element);
  return kFast(worker, task, *channel, element, secret_of_handle(word_of(named)));
}

// Not inlined, so that paying takes no registers from tasks in no cage.
template <typename Element, Transfer<Element> kFast, Transfer<Element> kGeneral>
[[gnu::noinline]] int transfer_in_cage(Worker* worker, Task* task, Channel* channel, Element element,
                                       janus_channel* named) noexcept {
  return transfer_fast<true, Element, kFast, kGeneral>(worker, task, channel, element, named);
}

// A task's send or receive by either path.
template <typename Element, Transfer<Element> kFast, Transfer<Element> kGeneral>
[[gnu::always_inline]] inline int transfer_of_task(janus_channel* named, Element element) noexcept {
  const Caller me = enter_yield();  // pay_fast() or transfer_slow() charges
  Channel* const channel = me.task != nullptr ? channel_at_once(*me.worker, named) : nullptr;
  if (kTasksAreWatched || channel == nullptr || element == nullptr || !goes_fast(*me.worker, *channel)) [[unlikely]]
    return transfer_slow<Element, kGeneral>(named, element);
  if (me.task->is_caged()) [[unlikely]]
    return transfer_in_cage<Element, kFast, kGeneral>(me.worker, me.task, channel, element, named);
  return transfer_fast<false, Element, kFast, kGeneral>(me.worker, me.task, channel, element, named);
}

}  // namespace

int send_in_general(janus_channel* named, const void* element) noexcept {
  return transfer_slow<const void*, send<Path::kGeneral>>(named, element);
}
int receive_in_general(janus_channel* named, void* element) noexcept {
  return transfer_slow<void*, receive<Path::kGeneral>>(named, element);
}

}  // namespace janus

using namespace janus;

extern "C" {

janus_channel* janus_channel_create(size_t element_size, size_t capacity) {
  const Caller me = enter();
  Runtime* const runtime = runtime_or_own(nullptr, me);
  const OrError<Channel*> channel =
      runtime != nullptr ? create_channel(*runtime, worker_in(*runtime, me), me.task, element_size, capacity)
                         : Failed{with_why(JANUS_E_STATE, Why::kNoRuntime)};
  if (!channel) {
    set_error_of(me, runtime, me.task != nullptr ? me.task->account : nullptr, channel.error);
    return nullptr;
  }
  return reinterpret_cast<janus_channel*>(channel.value->handle.load(std::memory_order_relaxed));
}

janus_channel* janus_channel_retain(janus_channel* named) {
  const Caller me = enter();
  const OrError<Channel*> channel = check_channel(me, named);
  int error = channel ? retain_channel(*channel.value, secret_of_handle(word_of(named))) : channel.error;
  if (error == 0) return named;
  if (error == JANUS_E_STATE) error = with_why(error, Why::kReferences);
  set_error(me, with_channel_named(error));
  return nullptr;
}

void janus_channel_release(janus_channel* named) {
  const Caller me = enter_free();
  const OrError<Channel*> found = check_channel(me, named);
  int error = found.error;
  if (Channel* const channel = found.value)
    error = release_channel(worker_in(*channel->runtime, me), *channel, secret_of_handle(word_of(named)));
  if (error != 0) set_error(me, with_channel_named(error));
}

[[gnu::flatten]] int janus_channel_send(janus_channel* named, const void* element) {
  return transfer_of_task<const void*, send<Path::kFast>, send<Path::kGeneral>>(named, element);
}

[[gnu::flatten]] int janus_channel_recv(janus_channel* named, void* element) {
  return transfer_of_task<void*, receive<Path::kFast>, receive<Path::kGeneral>>(named, element);
}

int janus_channel_try_send(janus_channel* named, const void* element) {
  return transfer(enter(), nullptr, named, element, send<Path::kGeneral>);
}

int janus_channel_try_recv(janus_channel* named, void* element) {
  return transfer(enter(), nullptr, named, element, receive<Path::kGeneral>);
}

int janus_channel_close(janus_channel* named) {
  const Caller me = enter();
  const OrError<Channel*> found = check_channel(me, named);
  if (!found) return found.error;
  Channel* const channel = found.value;
  order_hooks::release(channel);
  return close_channel(worker_in(*channel->runtime, me), *channel, secret_of_handle(word_of(named)));
}

}  // extern "C"
