// SPDX-License-Identifier: Apache-2.0
// kvm_clock.h — the rate of the time stamp counter as KVM tells it.
#pragma once

#include <cstdint>

namespace janus::bare {

// What the host writes where this register says, and goes on writing until it is told not to.
inline constexpr std::uint32_t kMsrKvmSystemTime = 0x4b564d01;

struct KvmTimeRecord {
  std::uint32_t version, pad;
  std::uint64_t tsc, system_time;
  std::uint32_t multiplier;
  std::int8_t shift;
  std::uint8_t flags, pad2[2];
};
static_assert(sizeof(KvmTimeRecord) == 32);

// Nanoseconds a tick, 32 bits behind the point; 0: not under KVM, or it does not say.
[[nodiscard]] std::uint64_t rate_from_kvm() noexcept;

}  // namespace janus::bare
