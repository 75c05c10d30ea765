// SPDX-License-Identifier: Apache-2.0
// rt/task/once.h — what is done by one task while the others that need it wait. A task that ends by force in the middle
// of it lets go: the next one tries again.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/task.h"

namespace janus {

// Not 0 once it is done; the first byte of a guard variable of the C++ ABI.
using OnceFlag = std::atomic<std::uint8_t>;

// 1: the caller is to do it, and says so by end_once(). 0: it is done. kErrorDeadlock: the caller is already at it.
// Another error: there is no memory to remember it, or the budget does not reach.
[[nodiscard]] int begin_once(Task& task, OnceFlag& flag) noexcept;
enum class Once : std::uint8_t { kDone, kToBeTriedAgain };
void end_once(Task& task, OnceFlag& flag, Once how) noexcept;

}  // namespace janus
