// SPDX-License-Identifier: Apache-2.0
// rt/task/record/cause.h — why a task or nursery came to what it did, in more detail than its outcome; the ABI's numbers
// (JANUS_CAUSE_*).
#pragma once

#include <cstdint>

#include "rt/base/errors.h"
#include "rt/budget/account.h"

namespace janus {

enum class Cause : std::uint8_t {
  kNone,
  // What ran out; in the order of Component.
  kOps,
  kMemory,
  kSpawnCount,
  kChannelOps,
  kSyscalls,
  // A panic.
  kStackOverflow = 16,
  kBadAccess,
  kIllegalInstruction,
  kDivision,
  kAbort,
  kMisuse,
  kGraceOver,
  kNoMemory,
  kTaskPanic,
  kOverrun,
  kOther = 31,
  // Who cancelled it.
  kAsked,
  kParent,
  kSiblingFailed,
  kDeadline,
  kSignal,
  kSupervisor,
};

constexpr Cause cause_of(Component component) noexcept {
  return static_cast<Cause>(static_cast<unsigned>(component) + 1);
}
constexpr bool names_component(Why why) noexcept {
  return why >= Why::kOps && why <= Why::kSyscalls;
}
// Of a Why that names one.
constexpr Component component_of(Why why) noexcept {
  return component_at(static_cast<unsigned>(why) - static_cast<unsigned>(Why::kOps));
}
constexpr Why why_short_of(Component component) noexcept {
  return static_cast<Why>(static_cast<unsigned>(component) + 1);
}
static_assert(why_short_of(Component::kOps) == Why::kOps && why_short_of(Component::kSyscalls) == Why::kSyscalls);
static_assert(cause_of(Component::kOps) == Cause::kOps && cause_of(Component::kSyscalls) == Cause::kSyscalls);

}  // namespace janus
