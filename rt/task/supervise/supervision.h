// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/supervision.h — running a supervisor.
//
// The tasks of the children are in a nursery that the runner opens in a shield (rt/task/wait/shield.h). So a cancel of the
// runner does not reach them: the runner sees it, and stops them in order. The runner is never ended by force here: it is
// charged without a check, and starts nothing while an account has no ops left; so what it holds is put in order.
// docs/decisions/0338
#pragma once

#include <cstdint>

#include "rt/task/record/channel.h"

namespace janus {

struct EndOfRun {
  int answer;  // 0, kCancelledCode, kErrorState or why it has not begun
  int error;   // with its Why, for janus_last_error
};

// Runs the supervisor in the running task until it is closed, the task is told to end, or it gives up.
[[nodiscard]] EndOfRun supervise(Task& self, Channel& record, std::uint32_t secret) noexcept;

}  // namespace janus
