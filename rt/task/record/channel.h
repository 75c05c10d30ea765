// SPDX-License-Identifier: Apache-2.0
// rt/task/record/channel.h — bounded and rendezvous channels: first come, first served. A hand-over under the lock is
// committed: a cancel comes before that or has no effect, and no message is lost or doubled.
//
// Elements are copied from and to user memory, which may be unmapped by the time that the other side comes: then the
// copy fails (arch/user_copy.h). The task whose memory it was leaves the queue and panics, once the lock is released,
// and the element goes to, or comes from, the next task in the queue.
//
// The lock is held until a task that goes to wait has left its stack. It may be taken under a nursery's lock, never the
// other way round. Tasks of other runtimes may use a channel, too, but more slowly: they wait as Blocked.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/biased_lock.h"
#include "rt/base/list.h"
#include "rt/task/record/task.h"

namespace janus {

struct ChannelWait;

enum class ChannelState : std::uint8_t { kOpen, kClosed };

// What the record serves. Other things than channels that have a handle, references and tasks that wait use the record of
// one, and keep what is theirs in the buffer.
enum class ChannelKind : std::uint8_t { kChannel, kMailbox, kSupervisor };
// By which the users' handles of the others differ from that of the channel, so that no call takes one of another kind.
constexpr std::uint64_t handle_mask(ChannelKind kind) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} * 0x5bd1'e995 << 32;
}

// INVARIANT released-once: `life` holds the secret half of the channel's handle and the number of references in one
// word, so that a caller with a handle gives up a reference of that channel or none, and the caller that gives up the
// last one, and no other, closes and frees the channel. The secret stays until the record serves another channel, as
// does `handle`, the whole of it; under `lock` they show whether a caller's handle is stale.
//
// INVARIANT closed-at-once: `state` becomes kClosed, and all waiting tasks are moved to `leaving_...`, under one hold
// of the lock: from then on no task is handed anything, and no task comes to wait. Those in `leaving_...` are woken
// some at a time by the task that closed the channel; in between, others get the lock and run, and a waiter that was
// cancelled meanwhile may leave by itself. The task that wakes them cannot end before the last is woken, since it is
// charged only ops, which may become a debt. If the last reference is given up meanwhile, the caller that gives it up
// wakes the rest, and the record stays until then.
// tests/api/channel_close_test.cpp
//
// INVARIANT first-come-first-served: senders wait only where there is no room, receivers where there is nothing. But
// after a caller has dropped many waiters with inaccessible memory, the rest of the queue moves to `leaving_...`, to
// queue anew, so that the caller need not handle all of them. Each task that is woken from there first wakes some
// others, so all are woken.
// docs/decisions/0280, tests/task/channel_memory_test.cpp
struct alignas(64) Channel {
  Channel* free_next;  // for the slab
  std::atomic<std::uint64_t> life;
  std::atomic<std::uint64_t> handle;
  BiasedLock lock;  // guards what follows; has no owner in a free record
  ChannelState state;
  ChannelKind kind;
  std::uint32_t element_bytes;
  List<ChannelWait> receivers, senders;  // at least one of them is empty
  std::size_t count;                     // of elements in the buffer
  std::size_t first;                     // of a mailbox: the filter of the receiver that has waited longest, or 0
  std::size_t capacity;
  std::byte* buffer;  // capacity elements
  Runtime* runtime;
  Account* payer;  // pays for the record
  List<ChannelWait> leaving_receivers, leaving_senders;
  std::uint32_t generation;  // how many channels this record has been

  static constexpr std::uint32_t kMaxReferences = std::uint32_t{1} << 31;

  static std::uint32_t secret_of(std::uint64_t life) noexcept { return static_cast<std::uint32_t>(life >> 32); }
  static std::uint32_t references_of(std::uint64_t life) noexcept { return static_cast<std::uint32_t>(life); }
  // Whether the record still holds the channel with that secret, and a reference to it is left.
  [[nodiscard]] bool is_alive(std::uint32_t secret) const noexcept {
    const std::uint64_t seen = life.load(std::memory_order_acquire);  // pairs with create_channel()
    return secret_of(seen) == secret && references_of(seen) != 0;
  }
};

// Also for who has a handle from the record's past.
inline void set_kind(Channel& record, ChannelKind kind) noexcept {
  std::atomic_ref(record.kind).store(kind, std::memory_order_relaxed);
}
inline ChannelKind kind_of(const Channel& record) noexcept {
  return std::atomic_ref(const_cast<ChannelKind&>(record.kind)).load(std::memory_order_relaxed);
}

// `worker` as a possible owner of the lock's bias; nullptr: the worker does not belong to the channel's runtime.
inline LockOwner* owner_in(const Channel& channel, Worker* worker) noexcept {
  return worker != nullptr && worker->runtime == channel.runtime ? &worker->locks : nullptr;
}

}  // namespace janus
