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

// INVARIANT released-once: `life` is kAlive and the number of references while it is a channel, one word, so that who
// gives up a reference takes it from a channel that lives or from none. Who takes the last one makes it 0, and alone
// closes and frees; whoever comes later, with a pointer that has gone stale, finds nothing to give up.
struct alignas(64) Channel {
  Channel* free_next;  // the slab's
  std::atomic<std::uint64_t> life;
  std::size_t element_bytes;
  BiasedLock lock;  // what follows; when free it has no owner
  bool is_closed;
  List<ChannelWait> receivers, senders;  // never both
  std::size_t count;                     // of elements in the buffer
  std::size_t first;
  std::size_t capacity;
  std::byte* buffer;  // capacity elements
  Runtime* runtime;
  Account* payer;  // of the record

  static constexpr std::uint64_t kAlive = std::uint64_t{0x4a43484e} << 32;
  static constexpr std::uint64_t kMostReferences = std::uint64_t{1} << 31;

  static bool is_alive(std::uint64_t life) noexcept { return (life & ~std::uint64_t{0xffffffff}) == kAlive; }
};

inline constexpr std::size_t kMostElementBytes = std::size_t{1} << 20;

Channel* create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes, std::size_t capacity,
                        int* error) noexcept;
// One reference more: JANUS_E_STALE when there is none, JANUS_E_STATE when there are too many.
int retain_channel(Channel& channel) noexcept;
// One less; who gives up the last one closes and frees. JANUS_E_STALE when there is none.
int release_channel(Worker* worker, Channel& channel) noexcept;
int close_channel(Worker* worker, Channel& channel) noexcept;

// Wakes a task that was seen AtChannel, if it still is: to look for a cancel. Holds the lock of its nursery.
bool wake_at_channel(Worker* worker, Task& task) noexcept;

}  // namespace janus
