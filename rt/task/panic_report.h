// SPDX-License-Identifier: Apache-2.0
// rt/task/panic_report.h — what is said of a task that panics.
#pragma once

#include "rt/platform.h"
#include "rt/task/task.h"

namespace janus {

// `fault` nullptr: it called panic(), or what stands for that.
void report_panic(const Task& task, const char* why, const platform::Fault* fault) noexcept;

}  // namespace janus
