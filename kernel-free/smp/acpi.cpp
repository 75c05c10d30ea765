// SPDX-License-Identifier: Apache-2.0
// acpi.cpp — the ACPI specification, chapter 5.2: from the root pointer to the table of interrupt controllers (MADT).
#include "kernel-free/smp/processors.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kRootBytes = 20, kExtendedRootBytes = 36, kHeaderBytes = 36, kMostTableBytes = 1 << 20;

bool is_root(std::uint64_t address) {
  return address < kReachable - kExtendedRootBytes && begins_with(address, "RSD PTR ", 8) &&
         adds_up(address, kRootBytes);
}

// The length of a table that is where it is said to be, and whole; 0 for any other.
std::uint64_t table_bytes(std::uint64_t address) {
  if (address == 0 || address > kReachable - kHeaderBytes) return 0;
  const std::uint64_t bytes = read_physical<std::uint32_t>(address + 4);
  return bytes >= kHeaderBytes && bytes <= kMostTableBytes && adds_up(address, bytes) ? bytes : 0;
}

std::uint64_t find_in(std::uint64_t directory, std::uint64_t entry_bytes, const char* name) {
  const std::uint64_t bytes = table_bytes(directory);
  for (std::uint64_t at = kHeaderBytes; at + entry_bytes <= bytes; at += entry_bytes) {
    const std::uint64_t table =
        entry_bytes == 8 ? read_physical<std::uint64_t>(directory + at) : read_physical<std::uint32_t>(directory + at);
    if (table_bytes(table) != 0 && begins_with(table, name, 4)) return table;
  }
  return 0;
}

std::uint64_t find_table(std::uint64_t root, const char* name) {
  const bool is_extended = read_physical<std::uint8_t>(root + 15) >= 2 && adds_up(root, kExtendedRootBytes);
  const std::uint64_t extended = is_extended ? read_physical<std::uint64_t>(root + 24) : 0;
  if (const std::uint64_t table = find_in(extended, 8, name); table != 0) return table;
  return find_in(read_physical<std::uint32_t>(root + 16), 4, name);
}

void read_controllers(std::uint64_t table, std::uint64_t bytes, ProcessorList& list) {
  constexpr std::uint64_t kFirstEntry = 44;
  constexpr std::uint8_t kLocalApic = 0, kLocalX2apic = 9;
  constexpr std::uint32_t kEnabled = 1;
  for (std::uint64_t at = table + kFirstEntry; at + 2 <= table + bytes;) {
    const std::uint8_t kind = read_physical<std::uint8_t>(at), length = read_physical<std::uint8_t>(at + 1);
    if (length < 2 || at + length > table + bytes) return;
    if (kind == kLocalApic && length >= 8 && (read_physical<std::uint32_t>(at + 4) & kEnabled) != 0)
      add_processor(list, read_physical<std::uint8_t>(at + 3));
    if (kind == kLocalX2apic && length >= 16 && (read_physical<std::uint32_t>(at + 8) & kEnabled) != 0)
      add_processor(list, read_physical<std::uint32_t>(at + 4));
    at += length;
  }
}

}  // namespace

bool processors_from_acpi(std::uint64_t rsdp, ProcessorList& list) noexcept {
  const std::uint64_t root = rsdp != 0 && is_root(rsdp) ? rsdp : search_firmware("RSD PTR ", 8, is_root);
  if (root == 0) return false;
  const std::uint64_t controllers = find_table(root, "APIC");
  if (controllers == 0) return false;
  read_controllers(controllers, table_bytes(controllers), list);
  return true;
}

}  // namespace janus::bare
