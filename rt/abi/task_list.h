// SPDX-License-Identifier: Apache-2.0
// rt/abi/task_list.h — the list of tasks that SIGQUIT asks for.
#pragma once

#include <atomic>

namespace janus {

struct TaskList {
  std::atomic<bool> is_in_hand{false};

  // In a signal handler. Of the process's runtime. Returns at once; while a list is in hand, another is not begun.
  void print() noexcept;
};

}  // namespace janus
