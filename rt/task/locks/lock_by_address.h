// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/lock_by_address.h — locks by address, for code that one task at a time may run, once or any number of
// times. The end of a task releases its locks, and the next task may try. A task that takes more than kMaxHeld
// (rt/task/locks/keyed_lock.h) at once panics.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// Nonzero once the initialisation is done; the first byte of a guard variable of the C++ ABI.
using OnceFlag = std::atomic<std::uint8_t>;

// 1: the caller has to initialise, and then calls end_once(). 0: the object is initialised. kErrorDeadlock: the caller
// is already initialising. Another error: no memory or budget for the lock's record. The flag is in user memory.
[[nodiscard]] int begin_once(Task& task, const OnceFlag* flag) noexcept;
enum class Once : std::uint8_t { kDone, kToBeTriedAgain };
void end_once(Task& task, OnceFlag* flag, Once how) noexcept;

// A lock of something that tasks share, by its address. 1: the caller has it until unlock_object(). 0: another task has
// it, or the caller already does. Another error: as for begin_once().
[[nodiscard]] int try_lock_object(Task& task, const void* object) noexcept;
// Does nothing where the caller does not have the lock.
void unlock_object(Task& task, const void* object) noexcept;

}  // namespace janus
