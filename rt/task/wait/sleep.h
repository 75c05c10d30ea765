// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/sleep.h — waiting for nothing but a time.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// `at`, `now_ns`: as for Deadline; platform::kForever: until a cancel. 0, kCancelledCode or kErrorNoMemory.
[[nodiscard]] int sleep_until(Task& task, std::uint64_t at, std::uint64_t now_ns) noexcept;

}  // namespace janus
