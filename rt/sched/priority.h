// SPDX-License-Identifier: Apache-2.0
// rt/sched/priority.h — priorities are weights: while runnables of all three wait at a worker, those of a high priority get
// 64 parts of its time, those of the normal one 8, those of a low one 1. A group's number (Runnable::group) names a cage
// and a priority: the runnables of one cage with one priority take turns as a group of their own, below the cage's
// (groups.h). So who divides a cage gets no more time, and nobody starves. docs/decisions/0352
//
//     outside cages:   0  0-high  0-low  A  B        8, 64, 1, 8, 8 parts: a cage weighs as much as group 0
//     in the cage A:   A  A-high  A-low  C           A's own, and the cage C below it, share A's 8 parts in the same way
#pragma once

#include <cstdint>

namespace janus {

enum class Priority : std::uint8_t { kNormal, kHigh, kLow };  // the numbers are the ABI's JANUS_PRIORITY_*

inline constexpr unsigned kPriorityShift = 30;
inline constexpr std::uint32_t kCageMask = (std::uint32_t{1} << kPriorityShift) - 1;

constexpr std::uint32_t group_with(std::uint32_t cage, Priority priority) noexcept {
  return cage | static_cast<std::uint32_t>(priority) << kPriorityShift;
}
// 0: in no cage.
constexpr std::uint32_t cage_of(std::uint32_t group) noexcept {
  return group & kCageMask;
}
// Another one than the normal.
constexpr bool has_priority(std::uint32_t group) noexcept {
  return group > kCageMask;
}
constexpr bool is_high(std::uint32_t group) noexcept {
  return group >> kPriorityShift == static_cast<std::uint32_t>(Priority::kHigh);
}
// What a unit of time costs the group, as a power of two: the inverse of its weight.
inline constexpr unsigned kNormalCost = 3;
constexpr unsigned cost_of(std::uint32_t group) noexcept {
  constexpr std::uint32_t kHighCost = 0, kLowCost = 6;
  return (kLowCost << 16 | kHighCost << 8 | kNormalCost) >> (group >> kPriorityShift) * 8 & 0xff;
}

}  // namespace janus
