// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/task_list.h — the list of tasks that SIGQUIT asks for.
#pragma once

#include <atomic>

#include "rt/optional.h"
#include "rt/task/report/describe.h"

namespace janus {

struct TaskList {
  std::atomic<bool> is_in_hand{false};

  // Lists the tasks of the process's runtime. In a signal handler. Returns at once; while one list is being made, no
  // other is begun.
  void print() noexcept;
};

// Appends a line that says where the task that `worker` runs stands, or nothing.
[[JANUS_OPTIONAL]] void append_standing(TaskReport& report, const Worker& worker) noexcept;

}  // namespace janus
