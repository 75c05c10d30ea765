// SPDX-License-Identifier: Apache-2.0
// output.h — a program's output: to virtio's console if the machine has one that works, else to the serial port. The
// machine's own messages go to the serial port in any case (console/console.h). docs/decisions/0232
#pragma once

#include <cstddef>

namespace janus::bare {

// Looks for the device. Called once, before the first write; interrupts on.
void find_output() noexcept;

// Writes from a caller's memory, which may not be mapped; returns how many bytes could be read from it. The bytes of
// one call stay together, and the device has them when it returns.
[[nodiscard]] std::size_t write_out(const char* bytes, std::size_t count) noexcept;

}  // namespace janus::bare
