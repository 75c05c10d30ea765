// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/count.h — what many tasks wait for at once: janus_wait_group, janus_event, janus_barrier.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// kErrorState: the count would be negative, or above 2^31 - 1, and nothing has changed.
[[nodiscard]] int add_to_group(Task& self, std::uint64_t* word, std::int64_t count) noexcept;
[[nodiscard]] int await_group(Task& self, std::uint64_t* word) noexcept;

[[nodiscard]] int set_event(Task& self, std::uint64_t* word) noexcept;
[[nodiscard]] int reset_event(std::uint64_t* word) noexcept;
[[nodiscard]] int await_event(Task& self, std::uint64_t* word) noexcept;

// What the second word of a new barrier begins with.
[[nodiscard]] std::uint64_t number_barrier(const void* barrier) noexcept;
// Of two words: how many are there (the lower half) and how many meet, and how often they have met. 1 for the last to come, 0 for the others. kErrorState: it was not initialised.
[[nodiscard]] int await_barrier(Task& self, std::uint64_t* words) noexcept;

}  // namespace janus
