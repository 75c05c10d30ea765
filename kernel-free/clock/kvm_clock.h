// SPDX-License-Identifier: Apache-2.0
// kvm_clock.h — the rate of the time stamp counter as KVM reports it.
#pragma once

#include <cstdint>

namespace janus::bare {

// This register tells the host where to write a KvmTimeRecord; the host keeps updating it until the register is 0.
inline constexpr std::uint32_t kMsrKvmSystemTime = 0x4b564d01;

struct KvmTimeRecord {
  std::uint32_t version, pad;
  std::uint64_t tsc, system_time;
  std::uint32_t multiplier;
  std::int8_t shift;
  std::uint8_t flags, pad2[2];
};
static_assert(sizeof(KvmTimeRecord) == 32);

// Nanoseconds per tick, fixed point with 32 fractional bits; 0: not under KVM, or the rate could not be read.
[[nodiscard]] std::uint64_t rate_from_kvm() noexcept;

}  // namespace janus::bare
