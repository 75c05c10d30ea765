// SPDX-License-Identifier: Apache-2.0
// rt/sched/steal_backoff.cpp — see steal_backoff.h.
#include "rt/sched/steal_backoff.h"

namespace janus {

void StealBackoff::record_steal(std::uint32_t victim, std::uint64_t victims_tasks, std::uint64_t began_ns,
                                std::uint64_t ended_ns) noexcept {
  victim_ = victim;
  stolen_at_ns_ = ended_ns;
  victims_tasks_ = victims_tasks;
  const std::uint64_t average = (steal_ns_ * (kAverageOf - 1) + ended_ns - began_ns) / kAverageOf;
  steal_ns_ = average > kMinStealNs ? average : kMinStealNs;
}

bool StealBackoff::judge(bool victim_goes_on, std::uint64_t now_ns) noexcept {
  const bool is_poor = victim_goes_on && now_ns - stolen_at_ns_ < kWorthSteals * steal_ns_;
  poor_steals_ = is_poor ? poor_steals_ + 1 : 0;
  victim_ = kNobody;
  return is_poor;
}

std::uint64_t StealBackoff::backoff_ns() const noexcept {
  return park_ns_of(poor_steals_ - kMaxPoorSteals);
}

std::uint64_t StealBackoff::park_ns_of(std::uint32_t round) noexcept {
  const std::uint64_t ns = kMinTimedParkNs << (round < 5 ? round : 5);
  return ns < kMaxTimedParkNs ? ns : kMaxTimedParkNs;
}

}  // namespace janus
