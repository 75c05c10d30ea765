// SPDX-License-Identifier: Apache-2.0
// queue.cpp — see queue.h.
#include "kernel-free/devices/queue.h"

#include <atomic>

namespace janus::bare {
namespace {

struct Descriptor {
  static constexpr std::uint16_t kNext = 1, kFromDevice = 2;

  std::uint64_t address;
  std::uint32_t bytes;
  std::uint16_t flags, next;
};

struct Used {
  std::uint32_t head, bytes;
};

template <class T>
T load(T& shared) {
  return std::atomic_ref<T>(shared).load(std::memory_order_relaxed);
}

}  // namespace

struct Queue::Memory {
  static constexpr std::uint16_t kNoInterrupts = 1;  // the answer is polled for

  Descriptor descriptors[kMax];
  struct {
    std::uint16_t flags, index, ring[kMax];
  } available;
  alignas(4) struct {
    std::uint16_t flags, index;
    Used ring[kMax];
  } used;
};

Queue::Memory& Queue::memory() const noexcept {
  static_assert(sizeof(Memory) <= 4096 && sizeof(Descriptor) == 16 && sizeof(Used) == 8);
  return *at_physical<Memory>(frame_);
}

std::uint64_t Queue::available() const noexcept {
  return frame_ + offsetof(Memory, available);
}

std::uint64_t Queue::used() const noexcept {
  return frame_ + offsetof(Memory, used);
}

void Queue::begin(Frame frame, std::uint16_t size) noexcept {
  BARE_ASSERT(frame != 0 && size != 0 && size <= kMax && (size & (size - 1)) == 0);
  frame_ = frame;
  size_ = size;
  published_ = 0;
#if JANUS_ASSERTIONS
  is_published_ = false;
#endif
  memory().available.flags = Memory::kNoInterrupts;
}

void Queue::publish(const Piece* pieces, unsigned count) noexcept {
  BARE_ASSERT(size_ != 0 && count != 0 && count <= size_);
#if JANUS_ASSERTIONS
  BARE_ASSERT(!is_published_);
  is_published_ = true;
#endif
  Memory& shared = memory();
  room_ = 0;
  for (unsigned n = 0; n < count; ++n) {
    const bool is_from = pieces[n].direction == Direction::kFromDevice;
    BARE_ASSERT(pieces[n].physical % kPage + pieces[n].bytes <= kPage && pieces[n].bytes != 0);
    BARE_ASSERT(is_from || room_ == 0);  // those from the device are the last
    const std::uint16_t flags =
        static_cast<std::uint16_t>((n + 1 < count ? Descriptor::kNext : 0) | (is_from ? Descriptor::kFromDevice : 0));
    shared.descriptors[n] = {pieces[n].physical, pieces[n].bytes, flags, static_cast<std::uint16_t>(n + 1)};
    if (is_from) room_ += pieces[n].bytes;
  }
  shared.available.ring[published_ % size_] = 0;  // every request begins with the first descriptor
  ++published_;
  // Pairs with the device's read of the index, after which it reads the request.
  std::atomic_ref<std::uint16_t>(shared.available.index).store(published_, std::memory_order_release);
}

Queue::Answer Queue::look() noexcept {
#if JANUS_ASSERTIONS
  BARE_ASSERT(is_published_);
#endif
  Memory& shared = memory();
  const std::uint16_t before = static_cast<std::uint16_t>(published_ - 1);
  // Pairs with the device's store of the index, before which it has written everything else.
  const std::uint16_t index = std::atomic_ref<std::uint16_t>(shared.used.index).load(std::memory_order_acquire);
  if (index == before) return {Answer::Kind::kNone, 0};
  Used& entry = shared.used.ring[before % size_];
  const std::uint32_t written = load(entry.bytes);
  const bool is_valid = index == published_ && load(entry.head) == 0 && written <= room_;
#if JANUS_ASSERTIONS
  is_published_ = !is_valid;
#endif
  return {is_valid ? Answer::Kind::kValid : Answer::Kind::kInvalid, written};
}

}  // namespace janus::bare
