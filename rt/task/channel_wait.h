// SPDX-License-Identifier: Apache-2.0
// rt/task/channel_wait.h — a task that waits at a channel: how it comes into the queue, and what ends its wait. Whoever
// ends one holds the channel's lock.
#pragma once

#include "rt/sched/path.h"
#include "rt/task/channel.h"
#include "rt/task/runtime.h"
#include "rt/task/wait.h"
#include "rt/task/wake.h"

namespace janus {

enum class Way : bool { kSend, kReceive };

// On the task's own stack, linked under the channel's lock.
struct ChannelWait : ListLink<> {
  // kBadMemory: what `data` points to is not there; `data` is now what was touched. kLookAgain: nothing has happened.
  enum class Status : std::uint8_t { kWaiting, kServed, kClosed, kBadMemory, kLookAgain };
  Task* task;
  void* data;  // what to send, or where to receive
  // Written under the lock. Once it is not kWaiting, nobody but the task looks at this any more.
  std::atomic<Status> status;
  bool is_foreign;       // of another runtime than the channel
  bool is_sender;        // with kLookAgain
  std::uint32_t secret;  // with kLookAgain: of the channel, which may be gone by now
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

// Some of those who are leaving. How many.
unsigned wake_leaving(Worker* worker, Channel& channel, unsigned most) noexcept;

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

  // The first of those who wait to do this: what it named cannot be reached. After many nobody waits there, since all
  // leave.
  void drop(Channel& channel, Way way) noexcept;

 private:
  void end() noexcept;

  Worker* const worker_;  // nullptr: none of the channel's runtime
  std::size_t dropped_ = 0;
};

// --- For the task that waits ---

// What a wait comes to after which the caller begins again, as one that has looked: try_again().
inline constexpr int kTryAgain = 1;

// Behind all others in `queue`, whose lock is held as `hold` says and is released. Until served, closed or cancelled.
// `self` is published.
int wait_at(Channel& channel, Task& self, List<ChannelWait>& queue, void* data, BiasedLock::Hold hold) noexcept;
// After a first wait, with nothing held.
[[gnu::noinline, gnu::cold]] int wait_on(Channel& channel, Task& self, ChannelWait& wait) noexcept;
// Under the lock, which it releases. `reason`.
[[gnu::noinline, gnu::cold]] int give_up_wait(Channel& channel, Task& self, ChannelWait& wait, BiasedLock::Hold hold,
                                              int reason) noexcept;

}  // namespace janus
