// SPDX-License-Identifier: Apache-2.0
// mp_table.cpp — Intel's MultiProcessor specification 1.4, chapter 4, for machines without ACPI.
#include "kernel-free/firmware/processors.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kPointerBytes = 16, kHeaderBytes = 44;

bool is_pointer(std::uint64_t address) {
  return adds_up(address, kPointerBytes);
}

}  // namespace

Told processors_from_mp_table(ProcessorList& list) noexcept {
  constexpr std::uint8_t kProcessor = 0, kEnabled = 1;
  constexpr std::uint64_t kProcessorBytes = 20, kOtherBytes = 8;
  const std::uint64_t pointer = search_firmware("_MP_", 4, is_pointer);
  if (pointer == 0) return Told::kNothing;
  const std::uint64_t table = read_physical<std::uint32_t>(pointer + 4);
  if (table == 0 || table > kReachable - kHeaderBytes || !begins_with(table, "PCMP", 4)) return Told::kDamaged;
  const std::uint64_t bytes = read_physical<std::uint16_t>(table + 4);
  if (bytes < kHeaderBytes || !adds_up(table, bytes)) return Told::kDamaged;
  for (std::uint64_t at = table + kHeaderBytes; at < table + bytes;) {
    const bool is_processor = read_physical<std::uint8_t>(at) == kProcessor;
    const std::uint64_t length = is_processor ? kProcessorBytes : kOtherBytes;
    if (at + length > table + bytes) {  // the entries do not fill the table exactly
      list.count = list.announced = 0;
      return Told::kDamaged;
    }
    if (is_processor && (read_physical<std::uint8_t>(at + 3) & kEnabled) != 0)
      add_processor(list, read_physical<std::uint8_t>(at + 1));
    at += length;
  }
  return Told::kAll;
}

}  // namespace janus::bare
