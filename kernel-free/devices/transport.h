// SPDX-License-Identifier: Apache-2.0
// transport.h — where a virtio device's registers are: the virtual I/O device specification 1.2, 4.1 (PCI) and 4.2
// (memory mapped). Both have the same registers, with different offsets and widths, which a table for each defines.
#pragma once

#include <cstdint>

namespace janus::bare {

enum class Register : std::uint8_t {
  kDeviceFeaturesSelect,
  kDeviceFeatures,
  kDriverFeaturesSelect,
  kDriverFeatures,
  kStatus,
  kQueueSelect,
  kQueueMax,
  kQueueSize,
  kQueueEnable,
  kDescriptors,  // this and the next two have 64 bits, written in two halves
  kAvailable,
  kUsed,
};
struct RegisterPlace {
  std::uint8_t offset, bytes;
};
inline constexpr unsigned kRegisters = 12;
extern const RegisterPlace kPciRegisters[kRegisters], kMmioRegisters[kRegisters];

struct Transport {
  const RegisterPlace* places;  // kPciRegisters or kMmioRegisters; nullptr: there is no device
  volatile std::uint8_t* registers;
  volatile std::uint8_t* notify;  // where the queue is notified
  volatile std::uint8_t* config;  // the configuration of this kind of device
  std::uint16_t queue;            // the only one that we use

  [[nodiscard]] bool is_there() const noexcept { return places != nullptr; }
  [[nodiscard]] std::uint32_t read(Register which) const noexcept;
  void write(Register which, std::uint32_t value) const noexcept;
  void write_address(Register which, std::uint64_t address) const noexcept;
  void notify_queue() const noexcept;
  // Whether the device has this feature, of the first 64.
  [[nodiscard]] bool offers(unsigned feature) const noexcept;
  [[nodiscard]] std::uint32_t read_config(unsigned offset) const noexcept;
};

}  // namespace janus::bare
