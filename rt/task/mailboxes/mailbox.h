// SPDX-License-Identifier: Apache-2.0
// rt/task/mailboxes/mailbox.h — mailboxes: bounded, and a receiver may choose a message by a filter. A mailbox is a
// channel's record (ChannelKind::kMailbox), whose life, lock and queues of waiters it uses; its messages are in the
// channel's buffer, in the order in which they were sent. docs/decisions/0337
//
// A report of a task that waits at a mailbox names the filter of the receiver that has waited longest, which has passed over
// what is in there (Channel::first).
//
// INVARIANT full-or-nobody-waits: senders wait only while the mailbox is full. Who makes room copies the message of the first
// that waits from that task's memory, so messages are in the order in which the sends came. Of a sender whose memory
// cannot be accessed the channel's rules hold (rt/task/channels/channel_wait.h).
//
// INVARIANT news-travel: while there are messages and a receiver waits that has not looked at all of them, a receiver is
// awake. Those who wait are in the order in which they came, so the first of them has seen least. Who was woken takes the
// lock next, before any code of users runs, and wakes the next one if there is more for it to see. So a send wakes one
// receiver at most, and each of them pays for itself.
#pragma once

#include "rt/base/biased_lock.h"
#include "rt/base/or_error.h"
#include "rt/task/record/channel.h"

namespace janus {

inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 10;

// What a receiver wants. `wants` is called with a copy of the message, and with no lock held.
struct MailboxFilter {
  int (*wants)(const void* message, void* arg);
  void* arg;
};

// The errors are those of the ABI. `task`: the caller, nullptr outside tasks.
OrError<Channel*> create_mailbox(Runtime& runtime, Worker* worker, Task* task, std::size_t message_bytes,
                                 std::size_t capacity) noexcept;
// `waiter`: the calling task, which waits for room; nullptr: kErrorWouldBlock instead. `worker`: the caller's, or nullptr.
int send_message(Worker* worker, Task* waiter, Channel& mailbox, const void* message, std::uint32_t secret) noexcept;
// Receives the oldest message.
int receive_message(Task& self, Channel& mailbox, void* message, std::uint32_t secret) noexcept;

// Waits in the queue of receivers, as wait_at() does, until `limit_ns`.
using MailboxWait = int (*)(Channel& mailbox, Task& self, void* looked, BiasedLock::Hold hold, std::uint64_t limit_ns);
int wait_for_message(Channel& mailbox, Task& self, void* looked, BiasedLock::Hold hold, std::uint64_t) noexcept;
// Receives the oldest message that the filter wants. The deadline is only for the wait: a filter is a user's function, and
// may wait for other things.
int receive_matching(Task& self, Channel& mailbox, MailboxFilter filter, void* message, std::uint32_t secret,
                     MailboxWait wait, std::uint64_t limit_ns) noexcept;

}  // namespace janus
