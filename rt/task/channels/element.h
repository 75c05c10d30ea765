// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/element.h — an element on its way: its slot in the buffer, and copies from and to users' memory, which
// may fail. Under the channel's lock, but for blame_for_own().
#pragma once

#include <cstddef>
#include <cstdint>

#include <arch/user_copy.h>
#include "rt/sched/path.h"
#include "rt/task/channels/channel_wait.h"
#include "rt/task/record/channel.h"
#include "rt/task/wait/user_memory.h"

namespace janus {

// Fast path: requires elements that are words.
template <Path kPath>
[[gnu::always_inline]] inline std::byte* slot_at(Channel& channel, std::size_t at) noexcept {
  return channel.buffer + at * (kPath == Path::kFast ? sizeof(std::uint64_t) : channel.element_bytes);
}
// The slot for the next element. Precondition: the buffer has room.
template <Path kPath>
[[gnu::always_inline]] inline std::byte* free_slot(Channel& channel) noexcept {
  const std::size_t at = channel.first + channel.count;
  return slot_at<kPath>(channel, at >= channel.capacity ? at - channel.capacity : at);
}

// Either side may be a user's memory.
template <Path kPath>
[[gnu::always_inline]] inline arch::UserCopy copy_element(const Channel& channel, void* to, const void* from) noexcept {
  if (kPath == Path::kFast || channel.element_bytes == sizeof(std::uint64_t)) [[likely]] {
    std::uint64_t word;
    if (!arch::load_user(from, word)) return arch::UserCopy::kBadSource;
    return arch::store_user(to, word) ? arch::UserCopy::kDone : arch::UserCopy::kBadTarget;
  }
  return copy_user_bytes(to, from, channel.element_bytes);
}

// Between the caller's memory and that of a task that waits.
template <Direction kDirection, Path kPath>
[[gnu::always_inline]] inline arch::UserCopy copy_between(const Channel& channel, void* own, void* others) noexcept {
  return kDirection == Direction::kSend ? copy_element<kPath>(channel, others, own)
                                        : copy_element<kPath>(channel, own, others);
}

// --- The caller's own memory ---

// Whether it can be accessed.
template <Direction kDirection>
[[gnu::noinline, gnu::cold]] bool is_own_there(const Channel& channel, void* data) noexcept {
  if constexpr (kDirection == Direction::kSend)
    return is_readable(data, channel.element_bytes);
  else
    return is_writable(data, channel.element_bytes);
}

// For threads outside tasks: touches the memory, so that the thread itself faults, as in any code of the host.
template <Direction kDirection>
void touch_own(void* data, std::size_t bytes) noexcept {
  auto* const first = static_cast<volatile char*>(data);
  for (std::size_t at = 0; at < bytes; ++at) {
    const char was = first[at];
    if (kDirection == Direction::kReceive) first[at] = was;
  }
}

// Called with no lock held when the caller's own memory could not be accessed. A task panics here. A thread outside tasks
// accesses the memory once more, and faults as any code of its host would; if the memory has become accessible meanwhile,
// the operation starts again, since nothing has changed so far.
template <Direction kDirection>
[[gnu::noinline, gnu::cold]] void blame_for_own(void* data, std::size_t bytes) noexcept {
  blame_caller();
  touch_own<kDirection>(data, bytes);
}

}  // namespace janus
