// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/fault_frame.h — converts a signal's frame to a Fault, and a Fault's result back into the frame.
#pragma once

#include "arch/linux/kernel_abi.h"
#include "rt/platform.h"

namespace janus::kernel {

[[nodiscard]] platform::Fault describe_fault(const SignalInfo& info, const MachineContext& machine) noexcept;

[[nodiscard]] platform::Registers registers_of(const MachineContext& machine) noexcept;

// Makes sigreturn resume at the Fault's resume_ip as after a call: rsp is resume_sp, rdi is resume_arg, rbp is 0; DF, TF
// and AC are clear; mxcsr, x87 and every vector register are as at the start of the process. With keeps_registers only
// rip is changed, as by a jump.
void edit_frame(SignalFrame& frame, const platform::Fault& fault) noexcept;

}  // namespace janus::kernel
