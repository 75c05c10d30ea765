// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/fault_frame.h — from a signal's frame to a Fault, and from a Fault's answer back into the frame.
#pragma once

#include "arch/linux/kernel_abi.h"
#include "rt/platform.h"

namespace janus::kernel {

[[nodiscard]] platform::Fault describe_fault(const SignalInfo& info, const MachineContext& machine) noexcept;

[[nodiscard]] platform::Registers registers_of(const MachineContext& machine) noexcept;

// Makes sigreturn go on at the Fault's resume_ip as if a function were called there: DF and TF clear, rdi the argument,
// mxcsr, x87 and every vector register as they were when the process began. If it keeps_registers, as if it had jumped.
void edit_frame(SignalFrame& frame, const platform::Fault& fault) noexcept;

}  // namespace janus::kernel
