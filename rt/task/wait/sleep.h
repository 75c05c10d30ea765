// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/sleep.h — waiting for nothing but a time.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// `at`: now_ns() of the scheduler; platform::kForever: until a cancel. 0, kCancelledCode or kErrorNoMemory.
[[nodiscard]] int sleep_until(Task& task, std::uint64_t at) noexcept;

}  // namespace janus
