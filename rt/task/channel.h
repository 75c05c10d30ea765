// SPDX-License-Identifier: Apache-2.0
// rt/task/channel.h — bounded and rendezvous channels: first come, first served; what is handed over under the lock is
// committed, so a cancel comes before that or not at all, and no message is lost or doubled.
//
// Elements lie in memory that users named, which may be gone by the time that somebody else comes along: copying one
// may fail (arch/user_copy.h). Then whose memory it was panics, once it is out of the queue and the lock is released,
// and the element goes to, or comes from, whoever is next.
//
// The lock is held until a task that goes to wait has left its stack; it is taken under a nursery's lock, and none
// under it. Tasks of other runtimes may use a channel too, at a lesser pace: they wait as Blocked.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/biased_lock.h"
#include "rt/base/list.h"
#include "rt/task/task.h"

namespace janus {

struct ChannelWait;

enum class ChannelState : std::uint8_t { kOpen, kClosed };

// INVARIANT released-once: `life` is the secret half of the channel's handle and the number of references, one word, so
// that whoever comes with a handle gives up a reference of that channel or none, and whoever takes the last one alone
// closes and frees. The secret stays until the record serves another channel, as does `handle`, the whole of it; under
// `lock` they tell who came too late.
//
// INVARIANT closed-at-once: `state` is kClosed, and all who wait are moved to `leaving_...`, under one hold of the
// lock: from then on nobody is handed anything, and nobody comes to wait. Those in `leaving_...` are woken some at a
// time by who closed the channel; others have the lock in between, and a turn, and one who was cancelled meanwhile may
// leave by himself. Who wakes them cannot end before the last is woken, since it is charged nothing that it could lack.
// If the last reference is given up meanwhile, who gives it up wakes the rest, and the record stays until then.
// tests/task/close_test.cpp
//
// INVARIANT first-come-first-served: senders wait only where there is no room, receivers where there is nothing; but
// behind many whose memory is gone all move to `leaving_...` and come again, so that who found the many waits for none
// of them. Each who is woken from there wakes some others before it does anything else, so all are.
// docs/decisions/0280, tests/task/channel_memory_test.cpp
struct alignas(64) Channel {
  Channel* free_next;  // the slab's
  std::atomic<std::uint64_t> life;
  std::atomic<std::uint64_t> handle;
  BiasedLock lock;  // what follows; when free it has no owner
  ChannelState state;
  std::uint32_t element_bytes;
  List<ChannelWait> receivers, senders;  // never both
  std::size_t count;                     // of elements in the buffer
  std::size_t first;
  std::size_t capacity;
  std::byte* buffer;  // capacity elements
  Runtime* runtime;
  Account* payer;  // of the record
  List<ChannelWait> leaving_receivers, leaving_senders;
  std::uint32_t generation;  // how many channels this record has been

  static constexpr std::uint32_t kMostReferences = std::uint32_t{1} << 31;

  static std::uint32_t secret_of(std::uint64_t life) noexcept { return static_cast<std::uint32_t>(life >> 32); }
  static std::uint32_t references_of(std::uint64_t life) noexcept { return static_cast<std::uint32_t>(life); }
  // Whether this is the channel that was given out with that secret, and there is somebody who may use it.
  [[nodiscard]] bool is_alive(std::uint32_t secret) const noexcept {
    const std::uint64_t seen = life.load(std::memory_order_acquire);  // pairs with create_channel()
    return secret_of(seen) == secret && references_of(seen) != 0;
  }
};

// `worker` as one whom the lock may be biased to.
inline LockOwner* owner_in(const Channel& channel, Worker* worker) noexcept {
  return worker != nullptr && worker->runtime == channel.runtime ? &worker->locks : nullptr;
}

}  // namespace janus
