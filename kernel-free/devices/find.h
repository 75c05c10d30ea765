// SPDX-License-Identifier: Apache-2.0
// find.h — which virtio devices there are: on bus 0 of PCI, and where words `virtio_mmio.device=BYTES@ADDRESS:IRQ` at
// the end of the command line say (the parameter of Linux that QEMU's microvm and Firecracker pass).
#pragma once

#include "kernel-free/devices/device.h"
#include "kernel-free/devices/transport.h"
#include "kernel-free/memory/frames.h"

namespace janus::bare {

// The nth of its kind, with its registers mapped; in the order of PCI's slots, then of the words. False: there are not
// so many. Any thread, interrupts on.
[[nodiscard]] bool find_device(DeviceKind kind, unsigned nth, Transport& found) noexcept;

// Which of its queues is used: of a console what is transmitted by its first port.
[[nodiscard]] constexpr std::uint16_t queue_of(DeviceKind kind) noexcept {
  return kind == DeviceKind::kConsole ? 1 : 0;
}

// --- For find.cpp. One thread at a time. `nth` counts down at each one that is found. ---

[[nodiscard]] bool find_on_pci(DeviceKind kind, unsigned& nth, Transport& found) noexcept;
[[nodiscard]] bool find_by_words(DeviceKind kind, unsigned& nth, Transport& found) noexcept;
// Makes device registers reachable, uncached; nullptr where that is no place for any: memory of ours, or beyond what
// can be mapped.
[[nodiscard]] volatile std::uint8_t* map_registers(Range physical) noexcept;

}  // namespace janus::bare
