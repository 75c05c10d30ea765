// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/select.h — waiting at several channels until one of them is ready. docs/decisions/0332
#pragma once

#include <cstdint>

#include "rt/base/or_error.h"
#include "rt/task/channels/channel_wait.h"

namespace janus {

// One select of the running task, on its stack. No queue knows the cases unless run() is running.
class Select {
 public:
  static constexpr std::uint32_t kMaxCases = 1024;

  // `waits` has room for all cases. `block`: of allocate_own(), where they are; nullptr: they are on the stack.
  Select(Task& self, SelectWait* waits, void* block) noexcept : self_(self), waits_(waits), block_(block) {}
  ~Select() { release(); }
  Select(const Select&) = delete;
  Select& operator=(const Select&) = delete;

  // `named`: what run() returns if it takes this case. `secret`: of the handle that named the channel.
  void add(Channel& channel, std::uint32_t secret, Direction direction, void* data, std::uint32_t named) noexcept;
  // Gives back the block: before the task ends by force.
  void release() noexcept;

  // Takes a ready case, any of them with equal probability, or else waits until there is one. The number of the case,
  // with its `status`: 0 or kErrorClosed. Or an error: kErrorTimeout, also if `may_wait` is false and none is ready;
  // kCancelledCode; kErrorStale: a channel has ended before the call; kErrorNoMemory.
  // If it may wait, the caller calls sees_cancel() afterwards.
  int run(bool may_wait, int& status) noexcept;

 private:
  SelectWait& next_at_random(std::uint32_t at) noexcept;
  int look(bool is_first) noexcept;
  WaitEnd wait_in_queues() noexcept;
  void leave_queues() noexcept;
  [[noreturn]] void panic_for_own() noexcept;

  Task& self_;
  SelectWait* const waits_;
  void* block_;
  std::uint32_t count_ = 0;
  std::uint32_t entered_ = 0;  // the cases at the places before this one may be in queues
  Selection selection_;
};

}  // namespace janus
