// SPDX-License-Identifier: Apache-2.0
// rt/task/record/cause.h — the cause of the outcome of a task or nursery; the ABI's numbers (JANUS_CAUSE_*).
// docs/decisions/0320
#pragma once

#include <cstdint>

#include "rt/budget/account.h"

namespace janus {

enum class Cause : std::uint8_t {
  kNone,
  // The component that ran out; in the order of Component.
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
  kOther = 31,  // of a cancel, too, if that ends a deadlock
  // The source of a cancel.
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
static_assert(cause_of(Component::kOps) == Cause::kOps && cause_of(Component::kSyscalls) == Cause::kSyscalls);

}  // namespace janus
