// SPDX-License-Identifier: Apache-2.0
// rt/task/slice.h — the part of its ops that a running task holds as fuel.
#pragma once

#include "rt/task/task.h"

namespace janus {

void begin_slice(Worker& worker, Task& task) noexcept;
void commit_slice(Worker& worker) noexcept;

}  // namespace janus
