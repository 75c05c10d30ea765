// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/signal_action.h — rt_sigaction, with the return path that a program without a libc has to provide.
#pragma once

#include "arch/linux/kernel_abi.h"

namespace janus::kernel {

using SignalHandler = void (*)(int signal, SignalInfo* info, SignalFrame* frame);

[[nodiscard]] SignalAction get_action(int signal) noexcept;
// False: a filter of system calls refuses it.
bool set_action(int signal, const SignalAction& action) noexcept;

// An action that calls `handler` on the thread's alternate stack.
[[nodiscard]] SignalAction action_for(SignalHandler handler, std::uint64_t flags) noexcept;

[[nodiscard]] bool calls(const SignalAction& action, SignalHandler handler) noexcept;

void raise_here(int signal) noexcept;

}  // namespace janus::kernel
