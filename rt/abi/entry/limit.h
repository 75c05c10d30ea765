// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/limit.h — until when a call waits, from what users pass.
#pragma once

#include <cstdint>

#include "rt/abi/entry/entry.h"
#include "rt/platform.h"

namespace janus {

struct Limit {
  std::uint64_t at;      // of now_ns() of the scheduler; platform::kForever: no limit
  std::uint64_t now_ns;  // when the limit was set; 0: not known
};

// A `deadline_ns`; 0 is none.
inline std::uint64_t limit_at(std::uint64_t deadline_ns) noexcept {
  return deadline_ns != 0 ? deadline_ns : platform::kForever;
}

// `ns` from now; so far away that the clock does not reach it: never.
inline Limit after(const Caller& me, std::uint64_t ns) noexcept {
  const std::uint64_t now_ns = me.worker->scheduler->now_ns();
  return {ns < platform::kForever - now_ns ? now_ns + ns : platform::kForever, now_ns};
}

// A `timeout_ns`; below 0 is none.
inline Limit limit_after(const Caller& me, std::int64_t timeout_ns) noexcept {
  return timeout_ns < 0 ? Limit{platform::kForever, 0} : after(me, static_cast<std::uint64_t>(timeout_ns));
}

}  // namespace janus
