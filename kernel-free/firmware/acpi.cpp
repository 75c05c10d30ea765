// SPDX-License-Identifier: Apache-2.0
// acpi.cpp — the ACPI specification, chapter 5.2: from the root pointer to the table of interrupt controllers (MADT).
#include "kernel-free/firmware/processors.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kRootBytes = 20, kExtendedRootBytes = 36, kHeaderBytes = 36, kMaxTableBytes = 1 << 20;
constexpr std::uint64_t kMaxTables = 512;  // tables that a directory lists; machines have about ten

bool is_root(std::uint64_t address) {
  return address < kReachable - kExtendedRootBytes && begins_with(address, "RSD PTR ", 8) &&
         adds_up(address, kRootBytes);
}

// The length of the table at `address`; 0 if it is unreachable or damaged.
std::uint64_t table_bytes(std::uint64_t address) {
  if (address == 0 || address > kReachable - kHeaderBytes) return 0;
  const std::uint64_t bytes = read_physical<std::uint32_t>(address + 4);
  return bytes >= kHeaderBytes && bytes <= kMaxTableBytes && adds_up(address, bytes) ? bytes : 0;
}

bool is_named(std::uint64_t table, const char* name) {
  return table != 0 && table <= kReachable - kHeaderBytes && begins_with(table, name, 4);
}

// The first table of that name in the directory; 0 if there is none or it is damaged. Computes only two checksums, the
// directory's and the table's, whatever the directory lists.
std::uint64_t find_in(std::uint64_t directory, std::uint64_t entry_bytes, const char* name) {
  std::uint64_t bytes = table_bytes(directory);
  if (bytes > kHeaderBytes + kMaxTables * entry_bytes) bytes = kHeaderBytes + kMaxTables * entry_bytes;
  for (std::uint64_t at = kHeaderBytes; at + entry_bytes <= bytes; at += entry_bytes) {
    const std::uint64_t table =
        entry_bytes == 8 ? read_physical<std::uint64_t>(directory + at) : read_physical<std::uint32_t>(directory + at);
    if (is_named(table, name)) return table_bytes(table) != 0 ? table : 0;
  }
  return 0;
}

std::uint64_t find_table(std::uint64_t root, const char* name) {
  const bool is_extended = read_physical<std::uint8_t>(root + 15) >= 2 && adds_up(root, kExtendedRootBytes);
  const std::uint64_t extended = is_extended ? read_physical<std::uint64_t>(root + 24) : 0;
  if (const std::uint64_t table = find_in(extended, 8, name); table != 0) return table;
  return find_in(read_physical<std::uint32_t>(root + 16), 4, name);
}

// Adds the CPUs that the MADT lists as enabled. False: its entries do not fill it exactly.
bool read_controllers(std::uint64_t table, std::uint64_t bytes, ProcessorList& list) {
  constexpr std::uint64_t kFirstEntry = 44;
  constexpr std::uint8_t kLocalApic = 0, kLocalX2apic = 9;
  constexpr std::uint32_t kEnabled = 1;
  const std::uint64_t end = table + bytes;
  for (std::uint64_t at = table + kFirstEntry; at < end;) {
    const std::uint64_t left = end - at;
    const std::uint8_t length = left < 2 ? 0 : read_physical<std::uint8_t>(at + 1);
    if (length < 2 || length > left) return false;
    const std::uint8_t kind = read_physical<std::uint8_t>(at);
    if (kind == kLocalApic && length >= 8 && (read_physical<std::uint32_t>(at + 4) & kEnabled) != 0)
      add_processor(list, read_physical<std::uint8_t>(at + 3));
    if (kind == kLocalX2apic && length >= 16 && (read_physical<std::uint32_t>(at + 8) & kEnabled) != 0)
      add_processor(list, read_physical<std::uint32_t>(at + 4));
    at += length;
  }
  return true;
}

}  // namespace

Told processors_from_acpi(std::uint64_t rsdp, ProcessorList& list) noexcept {
  const std::uint64_t root = rsdp != 0 && is_root(rsdp) ? rsdp : search_firmware("RSD PTR ", 8, is_root);
  if (root == 0) return Told::kNothing;
  const std::uint64_t controllers = find_table(root, "APIC");
  if (controllers != 0 && read_controllers(controllers, table_bytes(controllers), list)) return Told::kAll;
  list.count = list.announced = 0;
  return Told::kDamaged;
}

}  // namespace janus::bare
