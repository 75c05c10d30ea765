// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/semaphore.h — janus_semaphore: a word of a count of permits and HolderWord::kWaiters. While tasks wait, permits
// are handed to them in their turn.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

[[nodiscard]] int acquire_permit(Task& self, std::uint64_t* word) noexcept;
[[nodiscard]] int try_acquire_permit(std::uint64_t* word) noexcept;
// kErrorState: there would be 2^32 permits or more, and nothing has changed.
[[nodiscard]] int release_permits(Task& self, std::uint64_t* word, std::uint32_t permits) noexcept;

}  // namespace janus
