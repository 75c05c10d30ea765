// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/channel_wait.h — waiting at a channel: entering the queue, and ending the wait, which happens with
// the channel's lock held. docs/decisions/0089, 0332
#pragma once

#include "rt/sched/path.h"
#include "rt/task/channels/selection.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

enum class Direction : bool { kSend, kReceive };
constexpr Direction opposite(Direction direction) noexcept {
  return direction == Direction::kSend ? Direction::kReceive : Direction::kSend;
}

// One wait, on the waiting task's own stack, linked under the channel's lock.
struct ChannelWait : ListLink<> {
  // kBadMemory: the memory at `data` cannot be accessed; `data` is now the address that was touched. kLookAgain:
  // nothing has happened, and the task has to try again. kStale: its select has taken another case.
  enum class Status : std::uint8_t { kWaiting, kServed, kClosed, kBadMemory, kLookAgain, kStale };
  // Where the task is: kApart if it is pinned or has a priority, and so in no deque; kElsewhere if it is of another runtime than
  // the channel. The fast path wakes those of kHere alone.
  enum class From : std::uint8_t { kHere, kApart, kElsewhere };
  Task* task;
  void* data;  // the element to send, or the buffer to receive into
  // Written under the lock. Once it is not kWaiting, only the waiting task looks at this object.
  std::atomic<Status> status;
  From from;
  bool is_select;        // this is a SelectWait
  bool is_sender;        // valid with kLookAgain
  std::uint32_t secret;  // valid with kLookAgain: of the channel's handle; the channel may have ended
};

// A case of a select, as a wait in its channel's queue. Links, `status` and `data` are under the channel's lock. Once the
// status is not kWaiting, the wait is in no queue.
struct SelectWait : ChannelWait {
  Channel* channel;
  Selection* selection;
  std::uint16_t index;  // in the array of the select's waits
  std::uint16_t named;  // the number of the case for the user
  // The cases are tried in this order: the entry at place n is the index of the case that is tried at n.
  std::uint16_t order;
  std::uint16_t ops;  // what an element costs besides the call
};
static_assert(sizeof(SelectWait) == 64, "eight of them are on a stack");

// The selection on the other side of a transfer; nullptr: `wait` is no case of a select.
inline Selection* selection_of(const ChannelWait& wait) noexcept {
  return wait.is_select ? static_cast<const SelectWait&>(wait).selection : nullptr;
}
inline std::int32_t case_of(const ChannelWait& wait) noexcept {
  return wait.is_select ? static_cast<const SelectWait&>(wait).index : 0;
}

// The queue of those that wait in this direction.
template <Direction kDirection>
[[gnu::always_inline]] inline List<ChannelWait>& queue_of(Channel& channel) noexcept {
  return kDirection == Direction::kSend ? channel.senders : channel.receivers;
}

// --- For the other side ---

// Whether the task still sleeps in this wait (a cancel has not woken it), belongs to the channel's runtime and is not pinned.
[[gnu::always_inline]] inline bool is_here(const ChannelWait& wait) noexcept {
  return arch::cmp_relaxed(wait.task->state, waits_for(WaitReason::kChannel));
}

// First half of ending a wait that is out of its queue. True: the task is ready now, and the caller queues it. False:
// the wait is not from here, and the caller wakes its task; or a cancel has woken the task, which may end, so the caller must
// not access it any more. Fast path: requires is_here().
template <Path kPath>
[[gnu::always_inline]] inline bool end_wait(ChannelWait& wait, ChannelWait::Status status) noexcept {
  Task& task = *wait.task;
  const bool was_here = kPath == Path::kFast || is_here(wait);
  wait.status.store(status, std::memory_order_release);  // pairs with is_over(): it sees what was copied
  if (was_here) turn_ready(task);
  return was_here;
}

// Both halves. A task of another runtime, a pinned one, and one that selects, takes the channel's lock before it leaves the wait, so it
// still exists here. Its selection is no longer open.
void complete_wait(Worker* worker, ChannelWait& wait, ChannelWait::Status status) noexcept;

// Wakes up to `most` of the tasks in `leaving_...`. Returns how many.
unsigned wake_leaving(Worker* worker, Channel& channel, unsigned most) noexcept;

// Drops waiters that cannot be served, during one hold of the channel's lock: their memory cannot be accessed, or their
// select has taken another case. The group of the dropped tasks is charged for the time, and the tasks pay the ops before
// they panic; the caller pays nothing.
class BadWaits {
 public:
  explicit BadWaits(Worker* worker) noexcept : worker_(worker) {}
  BadWaits(const BadWaits&) = delete;
  BadWaits& operator=(const BadWaits&) = delete;

  // Drops a waiter in this direction, with kBadMemory or kStale. After too many drops, moves the whole queue to
  // `leaving_...`, so that no task waits there any more.
  void drop(Channel& channel, Direction direction, ChannelWait& wait, ChannelWait::Status why) noexcept;

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
// Called by a task one of whose waits has ended with kLookAgain: wakes some of the other waiters.
[[gnu::noinline, gnu::cold]] void wake_others(Channel& channel, std::uint32_t secret) noexcept;
// Panics the running task, whose memory at `data` could not be accessed: it is in no queue, and no lock is held.
[[noreturn, gnu::cold]] void panic_for_bad_wait(Task& self, const void* data) noexcept;
// Goes on after a first wait on the fast path, with no lock held.
[[gnu::noinline, gnu::cold]] int wait_on(Channel& channel, Task& self, ChannelWait& wait) noexcept;

}  // namespace janus
