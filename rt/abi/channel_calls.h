// SPDX-License-Identifier: Apache-2.0
// rt/abi/channel_calls.h — what calls on channels have in common: channel.cpp defines it, channel_many.cpp and select.cpp use
// it, too.
#pragma once

#include <cstdint>
#include <type_traits>

#include <arch/opaque.h>
#include "rt/abi/entry/entry.h"
#include "rt/base/or_error.h"
#include "rt/base/order_hooks.h"
#include "rt/task/record/channel.h"

namespace janus {

// Finds the channel that a user named. JANUS_E_INVALID: NULL; JANUS_E_STALE: the channel has ended; kNoHandle: there never
// was such a channel, and the caller calls refuse_handle().
inline constexpr int kNoHandle = 1;
OrError<Channel*> find_channel(const Caller& me, const janus_channel* named,
                               ChannelKind kind = ChannelKind::kChannel) noexcept;
// The same, with that call made.
OrError<Channel*> check_channel(const Caller& me, const janus_channel* named) noexcept;
// A channel that the worker has looked up before. nullptr: call find_channel().
[[gnu::always_inline]] inline Channel* channel_at_once(const Worker& worker, const janus_channel* named) noexcept {
  const std::uint64_t handle = word_of(named);
  auto* const channel = static_cast<Channel*>(worker.channels_found.find(handle));
  if (channel == nullptr) [[unlikely]]
    return nullptr;
  return arch::cmp_relaxed(channel->handle, handle) ? channel : nullptr;
}

// Charges the channel_op and the ops for an element of `bytes`; the entry has charged the op of the call. A task may
// have to wait for them, and may change workers. A cancelled task may still call functions that never wait (`may_wait`
// false); its grace pays. 0, JANUS_CANCELLED or an error.
int pay_for_transfer(Caller& me, std::size_t bytes, bool may_wait) noexcept;
// Finds the channel that a user named for a transfer, and pays for one element. `element`: the caller's memory.
OrError<Channel*> find_and_pay(Caller& me, const janus_channel* named, const void* element, bool may_wait) noexcept;

// For watched tasks: a send happens before the receive of its element, and a receive before the send that gets its room.
// `Element` is a pointer to const for a send.
template <typename Element>
void order_before(const Channel& channel, Element element, std::size_t bytes) noexcept {
  constexpr bool kSends = std::is_same_v<Element, const void*>;
  if constexpr (kSends) order_hooks::reads(element, bytes);
  order_hooks::release(kSends ? &channel : order_hooks::second(&channel));
}
// `bytes`: how many were moved.
template <typename Element>
void order_after(const Channel* channel, Element element, std::size_t bytes, int result) noexcept {
  constexpr bool kSends = std::is_same_v<Element, const void*>;
  if (result >= 0 || result == JANUS_E_CLOSED) order_hooks::acquire(kSends ? order_hooks::second(channel) : channel);
  if constexpr (!kSends)
    if (bytes != 0) order_hooks::writes(element, bytes);
}

}  // namespace janus
