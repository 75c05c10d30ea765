// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/serve.h — serves a task that waits at a channel, on behalf of a caller that holds the channel's lock,
// goes on holding it, and is no select.
#pragma once

#include <arch/user_copy.h>
#include "rt/task/channels/channel_wait.h"

namespace janus {

enum class Served : std::uint8_t {
  kNobody,    // no task waits there
  kOne,       // the element is copied, and the task woken
  kOwnIsBad,  // the caller's own memory cannot be accessed; no element has moved
};

// Serves the first task that waits in this direction and can be served. copy(data) copies between the caller's side and
// the memory that the task has named. Drops waiters that cannot be served.
template <Direction kDirection>
[[gnu::always_inline]] inline Served serve_first(Worker* worker, Channel& channel, BadWaits& drops,
                                                 const auto& copy) noexcept {
  using enum ChannelWait::Status;
  constexpr arch::UserCopy kOwnIsNot =
      kDirection == Direction::kSend ? arch::UserCopy::kBadTarget : arch::UserCopy::kBadSource;
  List<ChannelWait>& queue = queue_of<kDirection>(channel);
  while (ChannelWait* const wait = queue.front()) {
    Claim claim(nullptr, selection_of(*wait));
    ChannelWait::Status how = kStale;
    if (claim.is_theirs_open()) {
      const arch::UserCopy copied = copy(wait->data);
      if (copied == kOwnIsNot) return Served::kOwnIsBad;
      claim.take_theirs(case_of(*wait));
      how = copied == arch::UserCopy::kDone ? kServed : kBadMemory;
    }
    claim.release();
    if (how == kServed) {
      (void)queue.pop_front();
      complete_wait(worker, *wait, kServed);
      return Served::kOne;
    }
    drops.drop(channel, kDirection, *wait, how);
  }
  return Served::kNobody;
}

}  // namespace janus
