// SPDX-License-Identifier: Apache-2.0
// output.h — what programs write: by virtio's console where the machine has one that works, else by the serial port.
// What the machine itself says goes by the serial port in any case (console/console.h).
#pragma once

#include <cstddef>

namespace janus::bare {

// Looks for the device. Once, before anybody writes; interrupts on.
void find_output() noexcept;

// From memory of a caller that may not be there: how many bytes of it were. What one call gives stays together, and is
// on its way when it returns.
[[nodiscard]] std::size_t write_out(const char* bytes, std::size_t count) noexcept;

}  // namespace janus::bare
