// SPDX-License-Identifier: Apache-2.0
// queue.h — a split virtqueue (virtual I/O device specification 1.2, 2.7) with one request at a time, so that the valid
// answers of a device are known beforehand.
// INVARIANT devices-are-not-believed: each value that a device has written is read once, and accepted only if it is the
// one answer to the one request, for no more bytes than were offered. The queue never uses it as an index or
// address. docs/decisions/0230
#pragma once

#include <cstdint>

#include "kernel-free/cpu/assert.h"
#include "kernel-free/memory/frames.h"

namespace janus::bare {

enum class Direction : std::uint8_t { kToDevice, kFromDevice };

// A part of a request, within one frame.
struct Piece {
  std::uint64_t physical;
  std::uint32_t bytes;
  Direction direction;
};

// The state of its one request:
//     none --publish--> published --look: kValid--> none
// After any other answer the device is reset and the queue never used again.
class Queue {
 public:
  static constexpr std::uint16_t kMax = 32;

  // Places the queue in a zeroed frame, which the device keeps for ever. `size`: a power of two up to kMax.
  void begin(Frame frame, std::uint16_t size) noexcept;
  [[nodiscard]] std::uint16_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t descriptors() const noexcept { return frame_; }
  [[nodiscard]] std::uint64_t available() const noexcept;
  [[nodiscard]] std::uint64_t used() const noexcept;

  // Publishes a request of up to size() pieces, those from the device last. The previous request must have been
  // answered.
  void publish(const Piece* pieces, unsigned count) noexcept;

  struct Answer {
    // kInvalid: a working device does not answer so.
    enum class Kind : std::uint8_t { kNone, kValid, kInvalid } kind;
    std::uint32_t written;  // on kValid: how many bytes the device wrote, no more than there was room for
  };
  // Returns the device's answer to the published request so far.
  [[nodiscard]] Answer look() noexcept;

 private:
  struct Memory;
  [[nodiscard]] Memory& memory() const noexcept;

  Frame frame_ = 0;
  std::uint16_t size_ = 0, published_ = 0;
  std::uint32_t room_ = 0;
#if JANUS_ASSERTIONS
  bool is_published_ = false;  // for assertions only
#endif
};

}  // namespace janus::bare
