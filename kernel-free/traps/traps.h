// SPDX-License-Identifier: Apache-2.0
// traps.h — the handlers of single kinds of traps, which traps.cpp calls. All run on an interrupt stack with interrupts
// off, and without vector registers, which still hold the interrupted code's values. docs/decisions/0111
#pragma once

#include "kernel-free/cpu/trap_frame.h"

// The entry point of each vector (traps.S).
extern "C" const std::uint64_t janus_trap_entries[janus::bare::kVectors];

namespace janus::bare {

// Moves the fault to the fault stack of its thread, where interrupts and further page faults may occur; or ends the
// machine (faults.cpp).
[[nodiscard]] TrapFrame* begin_fault(TrapFrame& frame, std::uint64_t address) noexcept;

// Called at the end of the timer's interrupt and of a request's, for the thread that `frame` is of now: if its alarm rings, moves the frame
// to the fault stack, where the alarm's handler is called.
[[nodiscard]] TrapFrame* begin_alarm(TrapFrame& frame) noexcept;

}  // namespace janus::bare
