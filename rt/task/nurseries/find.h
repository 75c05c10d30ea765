// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/find.h — finds a task by its number. docs/decisions/0350
#pragma once

#include "rt/task/record/task.h"

namespace janus {

// The handle of the task with that number, if it lives and was given a handle or has asked for its number, and if the
// calling task may use its nursery, or is that task; else 0. The calling task pays for the records that are looked at.
[[nodiscard]] std::uint64_t find_task(Task& self, std::uint64_t id) noexcept;

}  // namespace janus
