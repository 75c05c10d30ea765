// SPDX-License-Identifier: Apache-2.0
// rt/task/once.h — what is done by one task at a time, once or any number of times. A task that ends in the middle of
// it lets go: the next one may try. More than kMostHeld (rt/task/turn.h) at once are its panic.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/task.h"

namespace janus {

// Not 0 once it is done; the first byte of a guard variable of the C++ ABI.
using OnceFlag = std::atomic<std::uint8_t>;

// 1: the caller is to do it, and says so by end_once(). 0: it is done. kErrorDeadlock: the caller is already at it.
// Another error: there is no memory to remember it, or the budget does not reach. The flag is the user's memory.
[[nodiscard]] int begin_once(Task& task, const OnceFlag* flag) noexcept;
enum class Once : std::uint8_t { kDone, kToBeTriedAgain };
void end_once(Task& task, OnceFlag* flag, Once how) noexcept;

// A lock of something that tasks share, by its address. 1: the caller's until unlock_object(). 0: another task's now,
// or the caller's already. Another error: as for begin_once().
[[nodiscard]] int try_lock_object(Task& task, const void* object) noexcept;
// Nothing happens where the caller does not have it.
void unlock_object(Task& task, const void* object) noexcept;

}  // namespace janus
