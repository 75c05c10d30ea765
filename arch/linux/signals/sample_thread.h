// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/sample_thread.h — the receiving end of platform::sample_thread(). docs/decisions/0270
#pragma once

#include "arch/linux/kernel_abi.h"
#include "rt/optional.h"

namespace janus::kernel {

// The question travels as a signal that every thread lets in, since it is a fault's.
inline constexpr int kInterrogation = kSigTrap;

// Called in the handler of kInterrogation, for a signal that was
// sent. True: it was a question, now answered or out of date.
[[nodiscard, JANUS_OPTIONAL]] bool answer(const SignalInfo& info, const SignalFrame& frame) noexcept;

}  // namespace janus::kernel
