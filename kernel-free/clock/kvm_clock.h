// SPDX-License-Identifier: Apache-2.0
// kvm_clock.h — the rate of the time stamp counter as KVM tells it.
#pragma once

#include <cstdint>

namespace janus::bare {

// Nanoseconds a tick, 32 bits behind the point; 0: not under KVM, or it does not say.
[[nodiscard]] std::uint64_t rate_from_kvm() noexcept;

}  // namespace janus::bare
