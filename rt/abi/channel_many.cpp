// SPDX-License-Identifier: Apache-2.0
// rt/abi/channel_many.cpp — several elements in one call. Apart from channel.cpp, so that programs that move elements one by
// one are linked without it.
#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/entry.h"
#include "rt/task/channels/transfer_many.h"
#include "rt/task/wait/cancel.h"

using namespace janus;

namespace {

// Moves nothing, but answers for the channel and for a cancel as with elements.
int move_none(const Caller& me, janus_channel* named) noexcept {
  const OrError<Channel*> found = check_channel(me, named);
  if (!found) return found.error;
  return sees_cancel(*me.task) ? JANUS_CANCELLED : 0;
}

// A channel that the worker has looked up before need not be looked up again after paying: whether it has ended meanwhile
// shows under its lock.
OrError<Channel*> find_at_once_and_pay(Caller& me, janus_channel* named, const void* elements) noexcept {
  Channel* const channel = channel_at_once(*me.worker, named);
  if (channel == nullptr || elements == nullptr) return find_and_pay(me, named, elements, true);
  const int answer = pay_for_transfer(me, channel->element_bytes, true);
  if (answer != 0) return Failed{answer};
  return channel;
}

template <Direction kDirection, typename Elements>
int move_many(janus_channel* named, Elements elements, std::size_t n) noexcept {
  Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (n > INT32_MAX) return JANUS_E_INVALID;
  if (n == 0) return move_none(me, named);
  const OrError<Channel*> found = find_at_once_and_pay(me, named, elements);
  if (!found) return found.error;
  Channel& channel = *found.value;
  const std::size_t bytes = channel.element_bytes;
  if constexpr (kTasksAreWatched) order_before(channel, elements, n * bytes);
  const int result = transfer_many<kDirection>(channel, *me.task, const_cast<void*>(static_cast<const void*>(elements)),
                                               n, secret_of_handle(word_of(named)));
  if constexpr (kTasksAreWatched)
    order_after(&channel, elements, result > 0 ? static_cast<std::size_t>(result) * bytes : 0, result);
  return result;
}

}  // namespace

extern "C" {

int janus_channel_send_many(janus_channel* channel, const void* elements, size_t n) {
  return move_many<Direction::kSend>(channel, elements, n);
}

int janus_channel_recv_many(janus_channel* channel, void* elements, size_t n) {
  return move_many<Direction::kReceive>(channel, elements, n);
}

}  // extern "C"
