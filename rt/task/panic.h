// SPDX-License-Identifier: Apache-2.0
// rt/task/panic.h — the end of the running task by force. Called from everywhere in this layer, and defined at its top
// (rt/task/forced_end.cpp), since a task that ends awaits what it has opened: these calls point upward, and do not come
// back. tests/layers knows them.
#pragma once

#include "rt/task/task.h"

namespace janus {

inline constexpr char kGraceIsGone[] = "it was cancelled, and has used up its grace";
[[noreturn]] void panic(Task& task, const char* why) noexcept;
[[noreturn]] void end_for_budget(Task& task) noexcept;
// A copy of its memory has failed (rt/task/user_memory.h): as if it had touched that itself.
[[noreturn]] void panic_for_access(Task& task, bool has_address, std::uint64_t address) noexcept;

}  // namespace janus
