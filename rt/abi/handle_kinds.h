// SPDX-License-Identifier: Apache-2.0
// rt/abi/handle_kinds.h — handles of what uses a channel's record without being a channel (ChannelKind).
#pragma once

#include "rt/abi/channel_calls.h"
#include "rt/abi/entry/entry.h"

namespace janus {

// The handle by which users know the thing.
template <ChannelKind kKind, typename Named>
Named* named_handle(const Channel& thing) noexcept {
  return reinterpret_cast<Named*>(thing.handle.load(std::memory_order_relaxed) ^ handle_mask(kKind));
}
// The channel's part of a user's handle; nullptr of nullptr.
template <ChannelKind kKind>
janus_channel* channel_handle(const void* named) noexcept {
  return named != nullptr ? reinterpret_cast<janus_channel*>(word_of(named) ^ handle_mask(kKind)) : nullptr;
}
// Its secret, which the functions of the task layer compare.
template <ChannelKind kKind>
std::uint32_t channel_secret(const void* named) noexcept {
  return secret_of_handle(word_of(channel_handle<kKind>(named)));
}

// Finds the thing that a user named; refuses what is no handle of this kind.
template <ChannelKind kKind>
OrError<Channel*> check_named(const Caller& me, const void* named, const char* kind) noexcept {
  const OrError<Channel*> found = find_channel(me, channel_handle<kKind>(named), kKind);
  if (found.error == kNoHandle) [[unlikely]]
    return refuse_handle(me, kind, word_of(named));
  return found;
}

}  // namespace janus
