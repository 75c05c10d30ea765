// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_wait.h — waiting at a channel: entering the queue, and ending the wait, which happens with
// the channel's lock held. docs/decisions/0089
#pragma once

#include "rt/sched/path.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

enum class Direction : bool { kSend, kReceive };

// One wait, on the waiting task's own stack, linked under the channel's lock.
struct ChannelWait : ListLink<> {
  // kBadMemory: the memory at `data` cannot be accessed; `data` is now the address that was touched. kLookAgain:
  // nothing has happened, and the task has to try again.
  enum class Status : std::uint8_t { kWaiting, kServed, kClosed, kBadMemory, kLookAgain };
  Task* task;
  void* data;  // the element to send, or the buffer to receive into
  // Written under the lock. Once it is not kWaiting, only the waiting task looks at this object.
  std::atomic<Status> status;
  bool is_foreign;       // the task is of another runtime than the channel
  bool is_sender;        // valid with kLookAgain
  std::uint32_t secret;  // valid with kLookAgain: of the channel's handle; the channel may have ended
};

// --- For the other side ---

// Whether the task still sleeps in this wait (a cancel has not woken it) and belongs to the channel's runtime.
[[gnu::always_inline]] inline bool is_here(const ChannelWait& wait) noexcept {
  return arch::cmp_relaxed(wait.task->state, waits_for(WaitReason::kChannel));
}

// First half of ending a wait that is out of its queue. True: the task is ready now, and the caller queues it. False:
// the wait is foreign, and the caller wakes its task; or a cancel has woken the task, which may end, so the caller must
// not access it any more. Fast path: requires is_here().
template <Path kPath>
[[gnu::always_inline]] inline bool end_wait(ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  const bool was_here = kPath == Path::kFast || is_here(wait);
  wait.status.store(status, std::memory_order_release);  // pairs with is_over(): it sees what was copied
  if (was_here) turn_ready(task);
  return was_here;
}

// Both halves. A task of another runtime takes the channel's lock before it leaves the wait, so it still exists here.
void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept;

// Wakes up to `most` of the tasks in `leaving_...`. Returns how many.
unsigned wake_leaving(Worker* worker, Channel& channel, unsigned most) noexcept;

// Drops waiters whose memory cannot be accessed, during one hold of the channel's lock. The group of the dropped tasks
// is charged for the time, and the tasks pay the ops before they panic; the caller pays nothing.
class BadWaits {
 public:
  explicit BadWaits(Worker* worker) noexcept : worker_(worker) {}
  BadWaits(const BadWaits&) = delete;
  BadWaits& operator=(const BadWaits&) = delete;

  // Drops the first waiter in this direction. After too many drops, moves the whole queue to `leaving_...`, so that no
  // task waits there any more.
  void drop(Channel& channel, Direction direction) noexcept;

 private:
  Worker* const worker_;  // nullptr: the caller is not on a worker of the channel's runtime
  std::size_t dropped_ = 0;
  std::uint64_t began_ = 0;  // since then the group of the waiter that is dropped next pays
};

// --- For the task that waits ---

// Result of a wait after which the caller begins again by try_again().
inline constexpr int kTryAgain = 1;

// Waits behind all others in `queue` until it is served, the channel is closed or the task is cancelled. The channel's
// lock is held as `hold` says, and is released. Precondition: `self` is published.
int wait_at(Channel& channel, Task& self, List<ChannelWait>& queue, void* data, BiasedLock::Hold hold) noexcept;
// Goes on after a first wait on the fast path, with no lock held.
[[gnu::noinline, gnu::cold]] int wait_on(Channel& channel, Task& self, ChannelWait& wait) noexcept;

}  // namespace janus
