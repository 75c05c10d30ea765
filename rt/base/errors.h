// SPDX-License-Identifier: Apache-2.0
// rt/base/errors.h — the C ABI's errors as numbers, for the layers that find them; rt/abi/entry/abi_check.cpp compares them.
#pragma once

#include <cstdint>

namespace janus {

inline constexpr int kCancelledCode = -1, kPanicCode = -2, kBudgetCode = -3, kPendingCode = -4;

inline constexpr int kErrorClosed = -4097, kErrorWouldBlock = -4098, kErrorTimeout = -4099, kErrorNoTask = -4100,
                     kErrorNoCap = -4101, kErrorBudget = -4102, kErrorNoMemory = -4103, kErrorStale = -4104,
                     kErrorInvalid = -4105, kErrorState = -4106, kErrorDeadlock = -4107, kErrorUnsupported = -4108;

// The exact reason of an error, for janus_last_error_text (rt/abi/last_error_text.cpp has the texts).
// docs/decisions/0320
enum class Why : std::uint8_t {
  kNothingMore,
  // The component of which an account has too little; in the order of Component.
  kOps,
  kMemory,
  kSpawnCount,
  kChannelOps,
  kSyscalls,
  kBudgetsTooDeep,
  kNoCurrentNursery,
  kNurseryClosed,
  kNurseryCancelled,
  kOtherRuntime,
  kNoRuntime,
  kInTask,
  kReferences,
  kNoNursery,
  kNoChannel,
  kStranger,
  kCap,
  kNoFunction,
  kFunctionOfRuntime,
  kSize,
  kPriority,
  kStackSize,
  kFlags,
  kOnError,
  kOnExhaustion,
  kReclaim,
  kElement,
  kAlign,
  kReserved,
  kNoMailbox,
  kNoSupervisor,
  kMessage,
  kStrategy,
  kDelays,
  kRestarts,
  kStopTime,
  kRestart,
  kRight,
  kCapsTooDeep,
  kTurn,
};

// Packs a Why above the 16 bits of an error, for functions whose error goes to janus_last_error. error_of() gives the
// error that a user gets.
constexpr int with_why(int error, Why why) noexcept {
  return error - (static_cast<int>(why) << 16);
}
constexpr int error_of(int packed) noexcept {
  return static_cast<std::int16_t>(packed);
}
constexpr Why why_of(int packed) noexcept {
  return static_cast<Why>((error_of(packed) - packed) >> 16);
}
static_assert(error_of(with_why(kErrorState, Why::kAlign)) == kErrorState);
static_assert(why_of(with_why(kErrorState, Why::kAlign)) == Why::kAlign && why_of(kErrorState) == Why::kNothingMore);

}  // namespace janus
