// SPDX-License-Identifier: Apache-2.0
// traps.h — what the files that handle one kind of trap give to traps.cpp. All run on an interrupt stack with
// interrupts off, and without vector registers, which still hold what the interrupted code left there.
#pragma once

#include "kernel-free/traps/trap_frame.h"

namespace janus::bare {

struct Thread;

// From which frame to leave: `frame`, with whatever thread the CPU is to run now in its place (threads.cpp).
void on_timer(TrapFrame& frame) noexcept;
void on_request(TrapFrame& frame) noexcept;
void on_switch(TrapFrame& frame) noexcept;

// Moves the fault to the fault stack of its thread, where interrupts and further page faults may come; or ends the
// machine (faults.cpp).
[[nodiscard]] TrapFrame* begin_fault(TrapFrame& frame, std::uint64_t address) noexcept;

// All there is to know, on the console; then the end, with status 134 (dump.cpp).
[[noreturn]] void die(const char* why, const TrapFrame* frame) noexcept;

}  // namespace janus::bare
