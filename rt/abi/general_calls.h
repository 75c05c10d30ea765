// SPDX-License-Identifier: Apache-2.0
// rt/abi/general_calls.h — calls on their general path, which heeds a deadline of the calling task: for until.cpp.
#pragma once

#include <cstdint>

#include "rt/include/janus/rt.h"

namespace janus {

// janus_channel_send and janus_channel_recv.
int send_in_general(janus_channel* channel, const void* element) noexcept;
int receive_in_general(janus_channel* channel, void* element) noexcept;
// janus_nursery_await. `until_ns`: for a thread outside tasks; platform::kForever: without a deadline.
long await_in_general(janus_nursery* nursery, janus_result* result, std::uint64_t until_ns) noexcept;
// janus_nursery_next, likewise.
int next_in_general(janus_nursery* nursery, janus_result* result, std::uint64_t until_ns) noexcept;

}  // namespace janus
