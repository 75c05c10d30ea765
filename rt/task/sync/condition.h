// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/condition.h — janus_cond: a word of which only HolderWord::kWaiters is used.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// Releases the mutex, and waits for a signal: 0, or an error of a wait. Then the caller has to lock the mutex again, whatever
// this returned, if `has_released` is set.
[[nodiscard]] int await_signal(Task& self, std::uint64_t* word, std::uint64_t* mutex, bool& has_released) noexcept;
[[nodiscard]] int signal_one(std::uint64_t* word) noexcept;
[[nodiscard]] int signal_all(Task& self, std::uint64_t* word) noexcept;

}  // namespace janus
