// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/sleep.cpp — waiting for nothing but a time.
#include "rt/task/wait/sleep.h"

#include "rt/task/wait/deadline.h"
#include "rt/task/wait/wait.h"

namespace janus {

namespace {

struct AwaitedTime : AwaitedUnlocked {
  static constexpr WaitReason reason() noexcept { return WaitReason::kTime; }
  static constexpr bool is_over() noexcept { return false; }
  static constexpr void* key() noexcept { return nullptr; }
  static void publish(Task&, void*) noexcept {}
};

}  // namespace

int sleep_until(Task& task, std::uint64_t at, std::uint64_t now_ns) noexcept {
  const Deadline deadline(task, at, now_ns);
  AwaitedTime time;
  const WaitEnd end = wait(task, time);
  return end == WaitEnd::kTimedOut ? 0 : result_of(end, task);
}

}  // namespace janus
