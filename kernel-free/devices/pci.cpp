// SPDX-License-Identifier: Apache-2.0
// pci.cpp — virtio devices on PCI: virtual I/O device specification 1.2, 4.1. Configuration space is accessed by the
// two ports that every PC has. Base addresses stay as the firmware has set them.
#include <cstddef>

#include "kernel-free/cpu/instructions.h"
#include "kernel-free/devices/find.h"

namespace janus::bare {
namespace {

class Function {
 public:
  Function(unsigned slot, unsigned number) : select_(1u << 31 | slot << 11 | number << 8) {}

  [[nodiscard]] std::uint32_t read(unsigned offset) const {
    out32(kAddressPort, select_ | (offset & 0xfc));
    return in32(kDataPort);
  }
  void write(unsigned offset, std::uint32_t value) const {
    out32(kAddressPort, select_ | (offset & 0xfc));
    out32(kDataPort, value);
  }

 private:
  static constexpr std::uint16_t kAddressPort = 0xcf8, kDataPort = 0xcfc;
  std::uint32_t select_;
};

constexpr unsigned kIds = 0, kCommand = 4, kHeaderKind = 12, kBars = 16, kCapabilities = 52;

bool is_there(const Function& function) {
  return (function.read(kIds) & 0xffff) != 0xffff;
}

bool is_kind(const Function& function, DeviceKind kind) {
  constexpr std::uint32_t kVendor = 0x1af4, kModern = 0x1040;
  const std::uint32_t ids = function.read(kIds);
  const std::uint32_t transitional = kind == DeviceKind::kDisk      ? 0x1001
                                     : kind == DeviceKind::kConsole ? 0x1003
                                                                    : 0x1005;
  return (ids & 0xffff) == kVendor &&
         (ids >> 16 == kModern + static_cast<std::uint32_t>(kind) || ids >> 16 == transitional);
}

// The address of the memory of one of the six base address registers; 0: it has none.
std::uint64_t base_of(const Function& function, unsigned bar) {
  constexpr std::uint32_t kIsPorts = 1, kWidth = 6, k64Bits = 4;
  if (bar > 5) return 0;
  const std::uint32_t low = function.read(kBars + 4 * bar);
  if ((low & kIsPorts) != 0) return 0;
  const bool is_wide = (low & kWidth) == k64Bits && bar < 5;
  const std::uint64_t high = is_wide ? function.read(kBars + 4 * bar + 4) : 0;
  return high << 32 | (low & ~15u);
}

// The capability that says where the registers of one kind are, as specification 4.1.4 lays it out.
struct Structure {
  enum Kind : std::uint32_t { kCommon = 1, kNotify = 2, kConfig = 4 };
  std::uint64_t begin;
  std::uint32_t bytes, notify_step;
};

// The function's structure of that kind; of 0 bytes if it has none.
Structure find_structure(const Function& function, Structure::Kind kind) {
  constexpr std::uint32_t kVendorSpecific = 9, kHasCapabilities = 1 << 20;
  if ((function.read(kCommand) & kHasCapabilities) == 0) return {};
  unsigned at = function.read(kCapabilities) & 0xfc;
  for (unsigned n = 0; at >= 64 && n < 48; ++n) {  // bounded, since a list may be circular
    const std::uint32_t head = function.read(at);
    if ((head & 0xff) == kVendorSpecific && head >> 24 == kind) {
      const std::uint64_t base = base_of(function, function.read(at + 4) & 0xff);
      if (base != 0) return {base + function.read(at + 8), function.read(at + 12), function.read(at + 16)};
    }
    at = head >> 8 & 0xfc;
  }
  return {};
}

// Maps the first `bytes`; nullptr if it has fewer.
volatile std::uint8_t* map_structure(const Structure& structure, std::uint32_t bytes) {
  if (structure.bytes < bytes) return nullptr;
  return map_registers({structure.begin, structure.begin + bytes});
}

// is_there() of the result is false if the function's registers violate the specification, or cannot be mapped.
Transport map_device(const Function& function, DeviceKind kind) {
  constexpr std::uint32_t kMemory = 2, kMaster = 4, kQueueSelect = 22, kQueueNotify = 30;
  constexpr std::uint32_t kCommonBytes = 56;
  const Structure common = find_structure(function, Structure::kCommon);
  const Structure notify = find_structure(function, Structure::kNotify);
  const Structure config = find_structure(function, Structure::kConfig);
  const bool needs_config = kind == DeviceKind::kDisk;
  if (common.bytes == 0 || notify.bytes == 0 || (needs_config && config.bytes == 0)) return {};
  function.write(kCommand, (function.read(kCommand) & 0xffff) | kMemory | kMaster);
  Transport found{kPciRegisters, map_structure(common, kCommonBytes), nullptr, map_structure(config, 8),
                  queue_of(kind)};
  if (found.registers == nullptr) return {};
  *reinterpret_cast<volatile std::uint16_t*>(found.registers + kQueueSelect) = found.queue;
  const std::uint64_t offset =
      std::uint64_t{*reinterpret_cast<volatile std::uint16_t*>(found.registers + kQueueNotify)} * notify.notify_step;
  if (offset + 2 > notify.bytes) return {};
  found.notify = map_registers({notify.begin + offset, notify.begin + offset + 2});
  if (found.notify == nullptr || (needs_config && found.config == nullptr)) return {};
  return found;
}

}  // namespace

Transport find_on_pci(DeviceKind kind, unsigned& nth) noexcept {
  constexpr std::uint32_t kHasFunctions = 1 << 23;
  for (unsigned slot = 0; slot < 32; ++slot) {
    const Function first(slot, 0);
    if (!is_there(first)) continue;
    const unsigned functions = (first.read(kHeaderKind) & kHasFunctions) != 0 ? 8 : 1;
    for (unsigned number = 0; number < functions; ++number) {
      const Function function(slot, number);
      if (!is_kind(function, kind)) continue;
      const Transport found = map_device(function, kind);
      if (found.is_there() && nth-- == 0) return found;
    }
  }
  return {};
}

}  // namespace janus::bare
