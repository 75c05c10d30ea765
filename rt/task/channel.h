// SPDX-License-Identifier: Apache-2.0
// rt/task/channel.h — bounded and rendezvous channels: first come, first served; what is handed over under the lock is
// committed, so a cancel comes before that or not at all, and no message is lost or doubled.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/list.h"
#include "rt/base/spinlock.h"
#include "rt/task/task.h"

namespace janus {

// A task that waits at a channel; on its own stack, linked under the channel's lock.
struct ChannelWait : ListLink<> {
  enum class Status : std::uint8_t { kWaiting, kServed, kClosed };
  Task* task;
  void* data;  // what to send, or where to receive
  // Written under the lock. Once it is not kWaiting, nobody but the task looks at this any more.
  std::atomic<Status> status;
};

struct alignas(64) Channel {
  Channel* free_next;                // the slab's
  std::atomic<std::uint32_t> alive;  // kAlive while it is one
  std::atomic<std::uint32_t> references;
  Runtime* runtime;
  std::size_t element_bytes;
  std::size_t capacity;
  std::byte* buffer;  // capacity elements
  SpinLock lock;      // what follows
  bool is_closed;
  std::size_t first;  // of the elements in the buffer
  std::size_t count;
  List<ChannelWait> senders, receivers;  // never both

  static constexpr std::uint32_t kAlive = 0x4a43484e;
};

Channel* create_channel(Runtime& runtime, Worker* worker, Task* task, std::size_t element_bytes, std::size_t capacity,
                        int* error) noexcept;
// The last reference is gone: closes and frees.
void release_channel(Worker* worker, Channel& channel) noexcept;
int close_channel(Worker* worker, Channel& channel) noexcept;

// `self` nullptr: does not wait, JANUS_E_WOULD_BLOCK. `worker` nullptr: outside tasks.
int send(Worker* worker, Task* self, Channel& channel, const void* element) noexcept;
int receive(Worker* worker, Task* self, Channel& channel, void* element) noexcept;

}  // namespace janus
