// SPDX-License-Identifier: Apache-2.0
// rt/abi/until.h — makes a call with a deadline. docs/decisions/0330
#pragma once

#include "rt/abi/entry/limit.h"
#include "rt/task/wait/deadline.h"

namespace janus {

// The call charges for itself, and answers threads outside tasks.
template <typename Call>
auto until(std::uint64_t deadline_ns, Call call) noexcept {
  const Caller me = enter_free();
  if (me.task == nullptr) return call();
  const Deadline deadline(*me.task, limit_at(deadline_ns));
  return call();
}

}  // namespace janus
