// SPDX-License-Identifier: Apache-2.0
// rt/task/channel_wait.h — a task that waits at a channel: how it comes into the queue, and what ends its wait. Whoever
// ends one holds the channel's lock.
#pragma once

#include <arch/jump_back.h>
#include "rt/sched/path.h"
#include "rt/task/channel.h"
#include "rt/task/runtime.h"
#include "rt/task/wait.h"
#include "rt/task/wake.h"

namespace janus {

// On the task's own stack, linked under the channel's lock.
struct ChannelWait : ListLink<> {
  // kBadMemory: what `data` points to is not there; `data` is now what was touched.
  enum class Status : std::uint8_t { kWaiting, kServed, kClosed, kBadMemory };
  Task* task;
  void* data;  // what to send, or where to receive
  // Written under the lock. Once it is not kWaiting, nobody but the task looks at this any more.
  std::atomic<Status> status;
  bool is_foreign;  // of another runtime than the channel
};

// --- For whoever comes by ---

// Whether it is waiting indeed, rather than woken to look, or of another runtime.
[[gnu::always_inline]] inline bool is_here(const ChannelWait& wait) noexcept {
  return arch::cmp_relaxed(wait.task->state, TaskState::kAtChannel);
}

// First half of its end; it is out of its queue. True: the task is ready now, and the caller queues it. False: it was
// woken to look, and is no more ours after the store: it may be gone, or wait elsewhere. kFast: is_here().
template <Path kPath>
[[gnu::always_inline]] inline bool end_wait(ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  const bool was_here = kPath == Path::kFast || is_here(wait);
  wait.status.store(status, std::memory_order_release);  // pairs with wait_locked(): and what was copied
  if (was_here) turn_ready(task);
  return was_here;
}

// Both halves. One of another runtime takes our lock before it goes.
void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept;

// While the lock is held once: whoever comes by drops some of those whose memory is not there. The time that takes is
// their party's, and they pay for it when they go on, in a panic; the caller has other things to do.
class BadWaits {
 public:
  explicit BadWaits(Worker* worker) noexcept : worker_(worker) {}
  ~BadWaits() {
    if (dropped_ != 0) [[unlikely]]
      end();
  }
  BadWaits(const BadWaits&) = delete;
  BadWaits& operator=(const BadWaits&) = delete;

  // The first in its queue: what it named cannot be reached. False: that is enough for one hold of the lock.
  [[nodiscard]] bool drop(List<ChannelWait>& queue, std::size_t element_bytes) noexcept;

 private:
  void end() noexcept;

  Worker* const worker_;  // nullptr: none of the channel's runtime
  std::size_t dropped_ = 0;
};

// --- For the task that waits ---

// Behind all others in `queue`, whose lock is held as `hold` says and is released. Until served, closed or cancelled.
// `self` is published.
int wait_at(Channel& channel, Task& self, List<ChannelWait>& queue, void* data, BiasedLock::Hold hold) noexcept;
// For the owner of the lock, and a task that has looked for a cancel and that nobody is charged for. To be called last.
int wait_at_from_jump(void* self, void* channel, void* queue, void* data, void*) noexcept;
[[gnu::always_inline]] inline int wait_at_fast(Channel& channel, Task& self, List<ChannelWait>& queue,
                                               void* data) noexcept {
  return janus_jump_back(&self, &channel, &queue, data, nullptr, wait_at_from_jump);
}

}  // namespace janus
