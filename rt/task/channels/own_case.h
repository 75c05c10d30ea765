// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/own_case.h — the caller's side of a transfer, if that is a case of its select (`mine`; nullptr: it is a
// plain send or receive). On the fast path there is none: it leaves them to the general path. docs/decisions/0332
#pragma once

#include <cstdint>
#include <type_traits>

#include "rt/sched/path.h"
#include "rt/task/channels/channel_wait.h"

namespace janus {

struct NoClaim {
  NoClaim(const Selection*, const Selection*) noexcept {}
  static constexpr bool is_mine_open() noexcept { return true; }
  static constexpr void take_mine(std::int32_t) noexcept {}
  static constexpr void release() noexcept {}
};
template <Path kPath>
using ClaimOn = std::conditional_t<kPath == Path::kFast, NoClaim, Claim>;

// nullptr also while the select only looks: nobody else knows it then.
inline Selection* selection_of_own(const SelectWait* mine) noexcept {
  return mine != nullptr && mine->selection->may_queue ? mine->selection : nullptr;
}
inline std::int32_t case_of_own(const SelectWait* mine) noexcept {
  return mine != nullptr ? mine->index : 0;
}

// Takes a case that needs no other side. False: another one is taken.
inline bool take_alone(SelectWait* mine) noexcept {
  Claim claim(selection_of_own(mine), nullptr);
  if (!claim.is_mine_open()) return false;
  claim.take_mine(case_of_own(mine));
  return true;
}

// The first wait in `queue` that is none of the select of `mine`.
inline ChannelWait* first_of_others(List<ChannelWait>& queue, const SelectWait* mine) noexcept {
  ChannelWait* wait = queue.front();
  if (mine == nullptr) [[likely]]
    return wait;
  while (wait != nullptr && selection_of(*wait) == mine->selection) wait = queue.after(wait);
  return wait;
}

}  // namespace janus
