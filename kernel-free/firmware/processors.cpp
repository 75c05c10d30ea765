// SPDX-License-Identifier: Apache-2.0
// processors.cpp — code shared by both methods of finding CPUs.
#include "kernel-free/firmware/processors.h"

#include "kernel-free/smp/apic.h"

namespace janus::bare {
namespace {

struct Place {
  std::uint64_t begin, end;
};

std::uint64_t search(Place place, const char* mark, std::uint64_t bytes, bool (*is_good)(std::uint64_t)) {
  for (std::uint64_t at = place.begin; at + 16 <= place.end; at += 16)
    if (begins_with(at, mark, bytes) && is_good(at)) return at;
  return 0;
}

}  // namespace

void add_processor(ProcessorList& list, std::uint32_t apic_id) noexcept {
  if (apic_id == list.own_id) return;
  for (unsigned n = 0; n < list.count; ++n)
    if (list.ids[n] == apic_id) return;
  ++list.announced;
  if (list.count == platform::kMaxCpus || (apic_id > kMaxXapicId && !has_x2apic())) return;
  list.ids[list.count++] = apic_id;
}

bool begins_with(std::uint64_t address, const char* mark, std::uint64_t mark_bytes) noexcept {
  const char* const text = at_physical<const char>(address);
  for (std::uint64_t n = 0; n < mark_bytes; ++n)
    if (text[n] != mark[n]) return false;
  return true;
}

bool adds_up(std::uint64_t address, std::uint64_t bytes) noexcept {
  if (address >= kReachable || bytes > kReachable - address) return false;
  const auto* const byte = at_physical<const std::uint8_t>(address);
  std::uint8_t sum = 0;
  for (std::uint64_t n = 0; n < bytes; ++n) sum = static_cast<std::uint8_t>(sum + byte[n]);
  return sum == 0;
}

std::uint64_t search_firmware(const char* mark, std::uint64_t mark_bytes, bool (*is_good)(std::uint64_t)) noexcept {
  // Searches low memory from the extended BIOS data area on, or else its last KiB; then the BIOS itself.
  constexpr std::uint64_t kSegmentOfData = 0x40e, kLowEnd = 0xa0000;
  const std::uint64_t data = std::uint64_t{read_physical<std::uint16_t>(kSegmentOfData)} * 16;
  const Place places[] = {{data >= 0x400 && data < kLowEnd ? data : kLowEnd - 1024, kLowEnd}, {0xe0000, 0x100000}};
  for (const Place& place : places)
    if (const std::uint64_t found = search(place, mark, mark_bytes, is_good); found != 0) return found;
  return 0;
}

}  // namespace janus::bare
