// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/task_list.h — the list of tasks for SIGQUIT.
#pragma once

#include <atomic>

#include "rt/optional.h"
#include "rt/task/report/describe.h"

namespace janus {

struct TaskList {
  std::atomic<bool> is_in_hand{false};

  // Starts listing the tasks of the process's runtime, unless a list is being made. Returns at once. Called in a signal
  // handler.
  void print() noexcept;
};

// Appends a line with the code position of the task that `worker` runs, or nothing.
[[JANUS_OPTIONAL]] void append_standing(TaskReport& report, const Worker& worker) noexcept;

}  // namespace janus
