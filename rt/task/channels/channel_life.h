// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_life.h — making a channel, its references, closing it. docs/decisions/0131
#pragma once

#include "rt/base/or_error.h"
#include "rt/task/record/channel.h"

namespace janus {

inline constexpr std::size_t kMaxElementBytes = std::size_t{1} << 20;

OrError<Channel*> create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes,
                                 std::size_t capacity) noexcept;
// These three return JANUS_E_STALE if the channel has ended. `secret`: of the handle that named the channel.
// Adds a reference; JANUS_E_STATE when there are too many.
int retain_channel(Channel& channel, std::uint32_t secret) noexcept;
// Gives up a reference; giving up the last one closes and frees the channel. If many tasks wait, this and
// close_channel() let others run in between, so the calling task may be on another worker afterwards; it pays one op
// for each task that it wakes.
int release_channel(Worker* worker, Channel& channel, std::uint32_t secret) noexcept;
int close_channel(Worker* worker, Channel& channel, std::uint32_t secret) noexcept;

}  // namespace janus
