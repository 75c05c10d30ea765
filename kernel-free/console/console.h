// SPDX-License-Identifier: Apache-2.0
// console.h — the serial ports: output goes to the first, the exit status to the second. A program's output may have a
// faster way (devices/output.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel-free/smp/lock.h"

namespace janus::bare {

inline constexpr std::uint16_t kConsolePort = 0x3f8, kStatusPort = 0x2f8;

// Protects all output, by any device: output under one hold of it stays together.
extern Lock g_console_lock;
// Prints on the console; the bytes of one call stay together.
void print(const char* bytes, std::size_t count) noexcept;
// Prints on `port` without taking the lock: for a caller that holds it, and for the end of the machine, when the lock's
// holder may never continue.
void print_at_last(std::uint16_t port, const char* bytes, std::size_t count) noexcept;

// Has the line `janus: no memory is left` printed before the next output, the first time that it is called. Takes no
// lock, since the calling trap may have interrupted the lock's holder.
void report_out_of_memory() noexcept;
// Prints that line if it is due. Called by the lock's holder before its own output, and at the end of the machine.
void print_due_report() noexcept;

void init_console() noexcept;
// Waits until the port has sent all its bytes.
void drain(std::uint16_t port) noexcept;

// Called before the machine is ended. Returns, with interrupts off, only on the CPU that calls it first; there it
// returns at every call. On other CPUs it never returns, so that the last output of the first CPU is complete and the
// status of that CPU is the reported one.
void end_alone() noexcept;

}  // namespace janus::bare
