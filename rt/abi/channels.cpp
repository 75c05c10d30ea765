// SPDX-License-Identifier: Apache-2.0
// rt/abi/channels.cpp — channels.
#include "rt/abi/door.h"
#include "rt/task/cancel.h"
#include "rt/task/channel.h"
#include "rt/task/charge.h"
#include "rt/task/transfer.h"
#include "rt/task/user_memory.h"
#include "rt/task/yield.h"

namespace janus {

namespace {

JANUS_ANY_POINTER Channel* check_channel(janus_channel* pointer, int* error) noexcept {
  auto* const channel = reinterpret_cast<Channel*>(pointer);
  *error = JANUS_E_INVALID;
  if (channel == nullptr) return nullptr;
  *error = JANUS_E_STALE;
  if (!Channel::is_alive(read_user_word(channel->life))) return nullptr;  // pairs with create_channel()
  *error = 0;
  return channel;
}

// The channel_op, after the op at the door. A task may have to wait for it, so that its worker is another one
// afterwards.
int pay(Caller& me) noexcept {
  if (me.task == nullptr) return 0;
  me.worker->counters.channel_ops.add();
  const int answer = charge(*me.task, Component::kChannelOps, 1);
  if (answer != 0) return answer;
  me.worker = &current_worker();
  me.worker->scheduler->sched_point();
  return sees_cancel(*me.task) ? JANUS_CANCELLED : 0;
}

// The op and the channel_op, after goes_fast().
void pay_fast(Worker& worker) noexcept {
  worker.counters.channel_ops.add();
  worker.fuel -= price::kCall;
}

// From the door on: `waiter` is who waits for it, nullptr: nobody does.
template <typename Element>
int transfer(Caller me, Task* waiter, janus_channel* pointer, Element element,
             int (*send_or_receive)(Worker*, Task*, Channel&, Element) noexcept) noexcept {
  int error = 0;
  Channel* const channel = check_channel(pointer, &error);
  if (channel == nullptr) return error;
  if (element == nullptr && channel->element_bytes != 0) return JANUS_E_INVALID;
  const int answer = pay(me);
  return answer != 0 ? answer : send_or_receive(worker_in(*channel->runtime, me), waiter, *channel, element);
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_channel* janus_channel_create(size_t element_size, size_t capacity) {
  const Caller me = enter();
  Runtime* const runtime = runtime_or_own(nullptr, me);
  int error = runtime == nullptr ? JANUS_E_STATE : 0;
  Channel* channel = nullptr;
  if (error == 0) channel = create_channel(*runtime, worker_in(*runtime, me), me.task, element_size, capacity, &error);
  if (channel == nullptr) set_error(me, error);
  return reinterpret_cast<janus_channel*>(channel);
}

janus_channel* janus_channel_retain(janus_channel* pointer) {
  const Caller me = enter();
  int error = 0;
  Channel* const channel = check_channel(pointer, &error);
  if (channel != nullptr) error = retain_channel(*channel);
  if (error == 0) return pointer;
  set_error(me, error);
  return nullptr;
}

void janus_channel_release(janus_channel* pointer) {
  const Caller me = enter_free();
  int error = 0;
  Channel* const channel = check_channel(pointer, &error);
  if (channel != nullptr) error = release_channel(worker_in(*channel->runtime, me), *channel);
  if (error != 0) set_error(me, error);
}

[[gnu::noinline]] static int send_slow(janus_channel* pointer, const void* element) {
  const Caller me = enter();
  return me.task != nullptr ? transfer(me, me.task, pointer, element, send<Path::kGeneral>) : JANUS_E_NO_TASK;
}

[[gnu::flatten]] int janus_channel_send(janus_channel* pointer, const void* element) {
  const Caller me = enter_yield();  // charged once it is known that it goes fast
  auto* const channel = reinterpret_cast<Channel*>(pointer);
  if (me.task == nullptr || channel == nullptr || element == nullptr || !goes_fast(*me.worker, *me.task, channel))
      [[unlikely]]
    return send_slow(pointer, element);
  pay_fast(*me.worker);
  return send<Path::kFast>(me.worker, me.task, *channel, element);
}

[[gnu::noinline]] static int receive_slow(janus_channel* pointer, void* element) {
  const Caller me = enter();
  return me.task != nullptr ? transfer(me, me.task, pointer, element, receive<Path::kGeneral>) : JANUS_E_NO_TASK;
}

[[gnu::flatten]] int janus_channel_recv(janus_channel* pointer, void* element) {
  const Caller me = enter_yield();  // charged once it is known that it goes fast
  auto* const channel = reinterpret_cast<Channel*>(pointer);
  if (me.task == nullptr || channel == nullptr || element == nullptr || !goes_fast(*me.worker, *me.task, channel))
      [[unlikely]]
    return receive_slow(pointer, element);
  pay_fast(*me.worker);
  return receive<Path::kFast>(me.worker, me.task, *channel, element);
}

int janus_channel_try_send(janus_channel* pointer, const void* element) {
  return transfer(enter(), nullptr, pointer, element, send<Path::kGeneral>);
}

int janus_channel_try_recv(janus_channel* pointer, void* element) {
  return transfer(enter(), nullptr, pointer, element, receive<Path::kGeneral>);
}

int janus_channel_close(janus_channel* pointer) {
  const Caller me = enter();
  int error = 0;
  Channel* const channel = check_channel(pointer, &error);
  return channel == nullptr ? error : close_channel(worker_in(*channel->runtime, me), *channel);
}

}  // extern "C"
