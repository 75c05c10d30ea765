// SPDX-License-Identifier: Apache-2.0
// transport.cpp — see transport.h.
#include "kernel-free/devices/transport.h"

namespace janus::bare {

const RegisterPlace kPciRegisters[kRegisters] = {{0, 4},  {4, 4},  {8, 4},  {12, 4}, {20, 1}, {22, 2},
                                                 {24, 2}, {24, 2}, {28, 2}, {32, 4}, {40, 4}, {48, 4}};
const RegisterPlace kMmioRegisters[kRegisters] = {{0x14, 4}, {0x10, 4}, {0x24, 4}, {0x20, 4}, {0x70, 4}, {0x30, 4},
                                                  {0x34, 4}, {0x38, 4}, {0x44, 4}, {0x80, 4}, {0x90, 4}, {0xa0, 4}};

namespace {

// Accesses a register in its own width, as devices require.
std::uint32_t read_width(const volatile std::uint8_t* at, unsigned bytes) {
  if (bytes == 1) return *at;
  if (bytes == 2) return *reinterpret_cast<const volatile std::uint16_t*>(at);
  return *reinterpret_cast<const volatile std::uint32_t*>(at);
}

void write_width(volatile std::uint8_t* at, unsigned bytes, std::uint32_t value) {
  if (bytes == 1)
    *at = static_cast<std::uint8_t>(value);
  else if (bytes == 2)
    *reinterpret_cast<volatile std::uint16_t*>(at) = static_cast<std::uint16_t>(value);
  else
    *reinterpret_cast<volatile std::uint32_t*>(at) = value;
}

}  // namespace

std::uint32_t Transport::read(Register which) const noexcept {
  const RegisterPlace place = places[static_cast<unsigned>(which)];
  return read_width(registers + place.offset, place.bytes);
}

void Transport::write(Register which, std::uint32_t value) const noexcept {
  const RegisterPlace place = places[static_cast<unsigned>(which)];
  write_width(registers + place.offset, place.bytes, value);
}

void Transport::write_address(Register which, std::uint64_t address) const noexcept {
  const RegisterPlace place = places[static_cast<unsigned>(which)];
  write_width(registers + place.offset, 4, static_cast<std::uint32_t>(address));
  write_width(registers + place.offset + 4, 4, static_cast<std::uint32_t>(address >> 32));
}

void Transport::notify_queue() const noexcept {
  write_width(notify, places == kPciRegisters ? 2 : 4, queue);
}

bool Transport::offers(unsigned feature) const noexcept {
  write(Register::kDeviceFeaturesSelect, feature / 32);
  return (read(Register::kDeviceFeatures) >> feature % 32 & 1) != 0;
}

std::uint32_t Transport::read_config(unsigned offset) const noexcept {
  return read_width(config + offset, 4);
}

}  // namespace janus::bare
