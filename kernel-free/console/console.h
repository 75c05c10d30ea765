// SPDX-License-Identifier: Apache-2.0
// console.h — the serial ports: what is said goes to the first, how it ended to the second. What programs write may
// have a faster way (devices/output.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/smp/lock.h"

namespace janus::bare {

inline constexpr std::uint16_t kConsolePort = 0x3f8, kStatusPort = 0x2f8;

// Of all that is said, whichever way it goes: what is said under it stays together.
extern Lock g_console_lock;
// The console. What one call gives stays together.
void print(const char* bytes, std::size_t count) noexcept;
// A port of its own, without the lock: for the end of the machine, when whoever holds it may never go on.
void print_at_last(std::uint16_t port, const char* bytes, std::size_t count) noexcept;

void init_console() noexcept;
// Waits until the port has sent what it was given.
void drain(std::uint16_t port) noexcept;

// The first CPU that wants to end the machine goes on, with interrupts off, here and whenever it calls again. No other
// one returns, so that its last words are whole, and its status is what counts.
void end_alone() noexcept;

}  // namespace janus::bare
