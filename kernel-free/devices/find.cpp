// SPDX-License-Identifier: Apache-2.0
// find.cpp — see find.h.
#include "kernel-free/devices/find.h"

#include "kernel-free/devices/device_lock.h"
#include "kernel-free/memory/page_tables.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/smp/requests.h"

namespace janus::bare {
namespace {

DeviceLock g_lock;  // protects PCI's two ports and the mappings of registers

bool map_page(std::uint64_t page) {
  const std::uint64_t address = kDirectMap + page;
  const Entry entry = look_up(address).entry;
  if ((entry & kPresent) != 0) return (entry & kUncached) != 0;
  SharedAccess shared;
  return map_physical(address, {page, page + kPage}, kReadWrite | kUncached);
}

}  // namespace

volatile std::uint8_t* map_registers(Range physical) noexcept {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 46, kMaxBytes = 1 << 20;
  if (physical.is_empty() || physical.end > kMax || physical.end - physical.begin > kMaxBytes) return nullptr;
  for (std::uint64_t page = physical.begin & ~(kPage - 1); page < physical.end; page += kPage)
    if (!map_page(page)) return nullptr;
  return at_physical<volatile std::uint8_t>(physical.begin);
}

Transport find_device(DeviceKind kind, unsigned nth) noexcept {
  DeviceLockGuard guard(g_lock);
  Transport found = find_on_pci(kind, nth);
  if (!found.is_there()) found = find_by_words(kind, nth);
  if (found.is_there()) widen_translations_everywhere();
  return found;
}

}  // namespace janus::bare
