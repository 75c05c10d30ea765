// SPDX-License-Identifier: Apache-2.0
// rt/base/errors.h — the C ABI's errors as numbers, for the layers that find them; rt/abi/entry/abi_check.cpp compares them.
#pragma once

namespace janus {

inline constexpr int kCancelledCode = -1, kPanicCode = -2, kBudgetCode = -3, kPendingCode = -4;

inline constexpr int kErrorClosed = -4097, kErrorWouldBlock = -4098, kErrorTimeout = -4099, kErrorNoTask = -4100,
                     kErrorNoCap = -4101, kErrorBudget = -4102, kErrorNoMemory = -4103, kErrorStale = -4104,
                     kErrorInvalid = -4105, kErrorState = -4106, kErrorDeadlock = -4107, kErrorUnsupported = -4108;

}  // namespace janus
