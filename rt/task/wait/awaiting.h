// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/awaiting.h — finds a task that waits for itself, over others, before it waits, whatever else runs.
// docs/decisions/0333
//
// INVARIANT last-wait-sees-the-cycle: a task stores what it waits for, and then follows the chain from there; a full fence
// lies between. So of two tasks that close a cycle at once, at least one sees it whole. A task becomes a holder only while
// it runs or is woken, which closes no cycle. tests/api/sync_deadlock_test.cpp
#pragma once

#include "rt/task/record/awaits.h"

namespace janus {

// While it exists, the running task waits for something. Nothing in between may end the task by force.
class Awaiting {
 public:
  Awaiting(Task& self, AwaitedKind kind, const void* what) noexcept;
  Awaiting(Task& self, const Task& other) noexcept;
  ~Awaiting() { std::atomic_ref(self_.awaits).store(0, std::memory_order_relaxed); }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

  // Whether the task waits for itself, over others that all wait and cannot go on before it does. The task pays for a
  // longer walk, which goes up to kMaxChain steps. Called with no lock held.
  [[nodiscard]] bool closes_cycle() const noexcept;
  static constexpr unsigned kMaxChain = 1024;

 private:
  void publish(Awaits what) const noexcept;

  Task& self_;
};

}  // namespace janus
