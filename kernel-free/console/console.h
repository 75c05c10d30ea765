// SPDX-License-Identifier: Apache-2.0
// console.h — the serial ports: what the program says goes to the first, how it ended to the second.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

inline constexpr std::uint16_t kConsolePort = 0x3f8, kStatusPort = 0x2f8;

// The console. What one call gives stays together.
void print(const char* bytes, std::size_t count) noexcept;
// From memory of a caller that may not be there: how many bytes of it were.
[[nodiscard]] std::size_t print_carefully(const char* bytes, std::size_t count) noexcept;
// A port of its own, without the lock: for the end of the machine, when whoever holds it may never go on.
void print_at_last(std::uint16_t port, const char* bytes, std::size_t count) noexcept;

void init_console() noexcept;
// Waits until the port has sent what it was given.
void drain(std::uint16_t port) noexcept;

}  // namespace janus::bare
