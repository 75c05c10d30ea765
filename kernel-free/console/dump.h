// SPDX-License-Identifier: Apache-2.0
// dump.h — ends the machine with status 134 and a line that says why, as do failed assertions (cpu/assert.h).
#pragma once

#include "kernel-free/cpu/trap_frame.h"

namespace janus::bare {

// For a machine or a program that cannot be run: prints "janus: " and the reason.
[[noreturn]] void refuse(const char* why) noexcept;

// For a fault that no task has caused: prints the reason and, if there is a frame, all registers.
[[noreturn]] void die(const char* why, const TrapFrame* frame) noexcept;

}  // namespace janus::bare
