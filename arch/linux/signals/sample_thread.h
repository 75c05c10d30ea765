// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/sample_thread.h — the receiving end of platform::sample_thread(). docs/decisions/0270
#pragma once

#include "arch/linux/kernel_abi.h"
#include "rt/optional.h"

namespace janus::kernel {

// The request is a signal that no thread blocks, since it is also the signal of a fault.
inline constexpr int kInterrogation = kSigTrap;

// Called in the handler of kInterrogation, for a signal that was sent. True: it was a request, which is now answered or
// out of date.
[[nodiscard, JANUS_OPTIONAL]] bool answer(const SignalInfo& info, const SignalFrame& frame) noexcept;

}  // namespace janus::kernel
