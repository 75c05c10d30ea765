// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/starts.h — which children of a supervisor are started, when, and how: what follows from a child's death,
// and the queues of those that wait for their start.
#pragma once

#include "rt/task/supervise/runner.h"

namespace janus {

class Starts : protected Runner {
 protected:
  using Runner::Runner;

  // The child whose end is to be acted upon next, or nullptr.
  [[nodiscard]] Child* next_dead() noexcept;
  // Decides what follows from a child's end. 0, or why it gives up.
  [[nodiscard]] int act_on(Child& dead) noexcept;

  // Queues what is due, and returns when the next one will be.
  [[nodiscard]] std::uint64_t queue_due() noexcept;
  // All children of the group that wait for their start.
  void queue_group() noexcept;
  // The child to be started next, or nullptr.
  [[nodiscard]] Child* next_to_start() noexcept;
  // 0, or why it gives up.
  [[nodiscard]] int start(Child& child) noexcept;

 private:
  [[nodiscard]] int restart(Child& dead) noexcept;
  [[nodiscard]] int wait_for_ready(std::uint64_t id, std::uint64_t ready_ns) noexcept;
};

}  // namespace janus
