// SPDX-License-Identifier: Apache-2.0
// device.h — a virtio device that gets one request at a time; the answer is polled for. A device that gives an invalid
// answer, or none, is reset and never used again; the frames that it knows are never reused.
#pragma once

#include <cstdint>

#include "kernel-free/devices/queue.h"
#include "kernel-free/devices/transport.h"

namespace janus::bare {

enum class DeviceKind : std::uint16_t { kDisk = 2, kConsole = 3, kRandom = 4 };

class Device {
 public:
  // Initializes the device. False: it lacks version 1 of the specification, or there is no memory for its queue.
  [[nodiscard]] bool begin(const Transport& transport) noexcept;

  // How many pieces a request may have.
  [[nodiscard]] unsigned most_pieces() const noexcept { return queue_.size(); }

  enum class Outcome : std::uint8_t { kDone, kInvalid, kTimedOut, kNotInUse };
  struct Result {
    Outcome outcome;
    std::uint32_t written;  // on kDone: how many bytes the device wrote
  };
  // Sends a request and waits for the answer, no longer than timeout_ns. The caller holds the device's lock, and no other.
  // With interrupts on or off.
  [[nodiscard]] Result request(const Piece* pieces, unsigned count, std::uint64_t timeout_ns) noexcept;

  [[nodiscard]] const Transport& transport() const noexcept { return transport_; }

 private:
  [[nodiscard]] bool agree_on_features() const noexcept;
  [[nodiscard]] bool begin_queue() noexcept;
  void give_up() noexcept;

  Transport transport_{};
  Queue queue_;
  bool works_ = false;
};

}  // namespace janus::bare
