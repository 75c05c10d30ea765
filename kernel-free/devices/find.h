// SPDX-License-Identifier: Apache-2.0
// find.h — finds virtio devices: on bus 0 of PCI, and at the addresses in words `virtio_mmio.device=BYTES@ADDRESS:IRQ`
// at the end of the command line (the parameter of Linux that QEMU's microvm and Firecracker pass).
#pragma once

#include "kernel-free/devices/device.h"
#include "kernel-free/devices/transport.h"
#include "kernel-free/memory/frames.h"

namespace janus::bare {

// Sets the places of devices without PCI: a list of the texts behind the '=' of such words, which ends with nullptr and
// must stay valid. Called once, before the first find_device().
void use_device_words(const char* const* words) noexcept;

// Finds the nth device of its kind, in the order of PCI's slots, then of the words, and maps its registers. If there
// are fewer devices, is_there() of the result is false. Any thread, interrupts on.
[[nodiscard]] Transport find_device(DeviceKind kind, unsigned nth) noexcept;

// The queue that is used: for a console the one from which its first port transmits.
[[nodiscard]] constexpr std::uint16_t queue_of(DeviceKind kind) noexcept {
  return kind == DeviceKind::kConsole ? 1 : 0;
}

// --- For find.cpp, by one thread at a time. `nth` counts down at each device that is found. ---

[[nodiscard]] Transport find_on_pci(DeviceKind kind, unsigned& nth) noexcept;
[[nodiscard]] Transport find_by_words(DeviceKind kind, unsigned& nth) noexcept;
// Maps device registers uncached. nullptr: no registers can be there, because it is memory of ours or beyond what can
// be mapped; or there is no memory for page tables.
[[nodiscard]] volatile std::uint8_t* map_registers(Range physical) noexcept;

}  // namespace janus::bare
