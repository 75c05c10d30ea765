// SPDX-License-Identifier: Apache-2.0
// start_info.h — the record that a PVH loader passes: Xen's public interface, arch-x86/hvm/start_info.h. All addresses
// are physical.
#pragma once

#include <cstdint>

namespace janus::bare {

struct StartInfo {
  static constexpr std::uint32_t kMagic = 0x336ec578;

  std::uint32_t magic;
  std::uint32_t version;  // 1 and later: with a memory map
  std::uint32_t flags;
  std::uint32_t module_count;
  std::uint64_t modules;       // an array of StartModule
  std::uint64_t command_line;  // ends with a zero byte
  std::uint64_t rsdp;          // ACPI's root pointer, or 0
  std::uint64_t memory_map;    // an array of StartMemory
  std::uint32_t memory_map_count;
  std::uint32_t reserved;
};
static_assert(sizeof(StartInfo) == 56);

struct StartModule {
  std::uint64_t address, bytes, command_line, reserved;
};

struct StartMemory {
  static constexpr std::uint32_t kRam = 1;

  std::uint64_t address, bytes;
  std::uint32_t type, reserved;
};

}  // namespace janus::bare
