// SPDX-License-Identifier: Apache-2.0
// random.h — virtio's source of random numbers, where the machine has one.
#pragma once

#include <cstdint>

namespace janus::bare {

// Gives a word that was not given out before. False: there is no such device, or it does not work. Any thread,
// interrupts on; may wait for the device.
[[nodiscard]] bool draw_from_device(std::uint64_t& word) noexcept;

}  // namespace janus::bare
