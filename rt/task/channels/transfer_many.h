// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/transfer_many.h — sending and receiving several elements in one call.
#pragma once

#include "rt/task/channels/channel_wait.h"

namespace janus {

// Moves up to `count` elements, at least one, between the running task's memory at `elements` and the channel. Waits only
// while it has moved none; then moves what can be moved at once. Returns how many, or why none. It lets others run after
// every price::kBytesAtOnce, or price::kWakesAtOnce tasks served. The caller has paid for the first element; this pays for
// the others.
template <Direction kDirection>
int transfer_many(Channel& channel, Task& self, void* elements, std::size_t count, std::uint32_t secret) noexcept;

}  // namespace janus
