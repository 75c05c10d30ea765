// SPDX-License-Identifier: Apache-2.0
// rt/abi/task_list.h — the list of tasks that SIGQUIT asks for.
#pragma once

#include <atomic>

#include "rt/task/describe.h"

namespace janus {

struct TaskList {
  std::atomic<bool> is_in_hand{false};

  // In a signal handler. Of the process's runtime. Returns at once; while a list is in hand, another is not begun.
  void print() noexcept;
};

// The line that says where the task that `worker` runs stands, or nothing. nullptr in a stripped program.
[[gnu::weak]] void append_standing(TaskReport& report, const Worker& worker) noexcept;

}  // namespace janus
