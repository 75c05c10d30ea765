// SPDX-License-Identifier: Apache-2.0
// traps.h — the handlers of single kinds of traps, which traps.cpp calls. All run on an interrupt stack with interrupts
// off, and without vector registers, which still hold what the interrupted code left there. docs/decisions/0111
#pragma once

#include "kernel-free/cpu/trap_frame.h"

namespace janus::bare {

struct Thread;

// These leave in `frame` the registers of the thread that the CPU is to run now, which may be another one
// (threads.cpp).
void on_timer(TrapFrame& frame) noexcept;
void on_request(TrapFrame& frame) noexcept;
void on_switch(TrapFrame& frame) noexcept;

// Moves the fault to the fault stack of its thread, where interrupts and further page faults may come; or ends the
// machine (faults.cpp).
[[nodiscard]] TrapFrame* begin_fault(TrapFrame& frame, std::uint64_t address) noexcept;

// Prints the reason and, if there is a frame, all registers on the console; then ends the machine with status 134
// (dump.cpp).
[[noreturn]] void die(const char* why, const TrapFrame* frame) noexcept;

}  // namespace janus::bare
