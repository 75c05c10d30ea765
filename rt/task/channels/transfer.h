// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/transfer.h — sending to a channel and receiving from one. docs/decisions/0332
#pragma once

#include "rt/sched/path.h"
#include "rt/task/channels/channel_wait.h"

namespace janus {

// `self` nullptr: does not wait, but returns JANUS_E_WOULD_BLOCK. `worker` nullptr: the caller is on no worker of the
// channel's runtime. Precondition: the channel_op is paid. `secret`: of the handle that named the channel. Fast path:
// requires goes_fast(), for the running task.
template <Path kPath>
int send(Worker* worker, Task* self, Channel& channel, const void* element, std::uint32_t secret) noexcept;
// Sends for no task, what the runtime itself has in its memory; with less stack than send(). Never waits: JANUS_E_WOULD_BLOCK.
int post(Worker* worker, Channel& channel, const void* element, std::uint32_t secret) noexcept;
// The same for the running task, which waits for room, with no frame of this function. The channel is of its runtime. kTryAgain:
// the caller calls it again.
int post_or_wait(Task& self, Channel& channel, const void* element, std::uint32_t secret) noexcept;
template <Path kPath>
int receive(Worker* worker, Task* self, Channel& channel, void* element, std::uint32_t secret) noexcept;

// For the running task, which has waited and was woken to try again: checks first that its own memory can be accessed.
template <Direction kDirection>
int try_again(Channel& channel, Task& self, void* data, std::uint32_t secret) noexcept;

// --- For a select ---

// What take_or_queue() returns, beside 0, kErrorClosed and kErrorStale (the channel has ended), with which it has taken
// the case, and kErrorWouldBlock (without may_queue).
inline constexpr int kQueued = 2;    // the wait is in the channel's queue
inline constexpr int kIsTaken = 3;   // somebody has taken another case
inline constexpr int kOwnIsBad = 4;  // the memory at `data` cannot be accessed; nothing has happened

// Takes the case if it is ready; else, if may_queue, waits in the channel's queue.
template <Direction kDirection>
int take_or_queue(SelectWait& wait) noexcept;

// --- For transfers of many ---

// Locks the channel's lock for a transfer; `self` nullptr: by a thread outside tasks, or one that does not wait. False: the
// channel has ended, and the lock is not held.
[[nodiscard]] bool lock_alive(Channel& channel, Worker* worker, Task* self, std::uint32_t secret,
                              BiasedLock::Hold& hold) noexcept;
// Fills the room in the buffer with the elements of the senders that have waited longest. Under the lock. How many.
std::size_t refill(Worker* worker, Channel& channel, BadWaits& drops) noexcept;

// --- For the fast path ---

// Whether the fast path is open to the running task, unless it was told to end: the element is a word, the worker owns
// the channel's lock (no worker owns the lock of a free record), and the task has fuel.
bool goes_fast(Worker& worker, const Channel& channel) noexcept;

}  // namespace janus
