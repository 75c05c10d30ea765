// SPDX-License-Identifier: Apache-2.0
// mmio.cpp — virtio devices without PCI: virtual I/O device specification 1.2, 4.2. Only version 2, which the
// specification describes; QEMU's default is the older one (-global virtio-mmio.force-legacy=false).
#include "kernel-free/devices/find.h"

namespace janus::bare {
namespace {

const char* const* g_words = nullptr;

constexpr std::uint64_t kBytes = 0x200;
constexpr unsigned kNotify = 0x50, kConfig = 0x100;

bool read_number(const char*& text, std::uint64_t& value) {
  const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const unsigned base = is_hex ? 16 : 10;
  if (is_hex) text += 2;
  const char* const begin = text;
  for (value = 0;; ++text) {
    const char c = static_cast<char>(*text | 0x20);
    const unsigned digit = c >= '0' && c <= '9'             ? static_cast<unsigned>(c - '0')
                           : is_hex && c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                                                            : base;
    if (digit == base) return text != begin;
    if (value >> 56 != 0) return false;
    value = value * base + digit;
  }
}

// Reads the address from BYTES (maybe with a K), @ADDRESS and a rest, which is ignored. 0: the text is malformed.
std::uint64_t address_in(const char* text) {
  std::uint64_t bytes, address;
  if (!read_number(text, bytes)) return 0;
  while (*text == 'K' || *text == 'k') ++text;
  if (*text++ != '@' || !read_number(text, address)) return 0;
  return *text == ':' || *text == '\0' ? address : 0;
}

std::uint32_t read(volatile std::uint8_t* registers, unsigned offset) {
  return *reinterpret_cast<volatile std::uint32_t*>(registers + offset);
}

}  // namespace

void use_device_words(const char* const* words) noexcept {
  g_words = words;
}

Transport find_by_words(DeviceKind kind, unsigned& nth) noexcept {
  constexpr std::uint32_t kMagic = 0x74726976, kVersion = 2;
  for (const char* const* word = g_words; *word != nullptr; ++word) {
    const std::uint64_t address = address_in(*word);
    volatile std::uint8_t* const registers = address % 4 != 0 ? nullptr : map_registers({address, address + kBytes});
    if (registers == nullptr || read(registers, 0) != kMagic || read(registers, 4) != kVersion) continue;
    if (read(registers, 8) != static_cast<std::uint32_t>(kind) || nth-- != 0) continue;
    return {kMmioRegisters, registers, registers + kNotify, registers + kConfig, queue_of(kind)};
  }
  return {};
}

}  // namespace janus::bare
