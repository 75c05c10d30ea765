// SPDX-License-Identifier: Apache-2.0
// rt/task/report/runtime_text.h — the bounds of the runtime's own text, which the linker script places before the
// program's (linker/runtime-text.ld). Without that script all of these are nullptr, and no text counts as the runtime's
// own.
// docs/decisions/0212
#pragma once

#include <cstdint>

#include "rt/optional.h"

extern "C" {
// The mem* functions begin at janus_memory_text, before the rest: users call them, too, by their C names.
[[JANUS_OF_LINKER]] extern const char janus_memory_text[];
[[JANUS_OF_LINKER]] extern const char janus_text[];
[[JANUS_OF_LINKER]] extern const char janus_text_end[];
[[JANUS_OF_LINKER]] extern const char janus_text_last[];  // the byte before janus_text_end
// The end of all text of the program's file. Linkers define it.
[[JANUS_OF_LINKER]] extern const char etext[];
}

namespace janus {

// Whether a callback that a user gave is in the runtime's own text. A call to it, maybe into the middle of a function,
// would run with registers that the task controls, and a fault there ends the process. The mem* functions are refused,
// too: they return into the runtime's text.
template <class Function>
[[nodiscard]] inline bool is_runtimes_text(Function* function) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(janus_memory_text);
  return reinterpret_cast<std::uintptr_t>(function) - first < reinterpret_cast<std::uintptr_t>(janus_text_end) - first;
}
// One comparison for the fast paths, which also refuses nullptr. False: undecided, so call is_runtimes_text().
template <class Function>
[[nodiscard]] inline bool is_surely_users(Function* function) noexcept {
  return reinterpret_cast<std::uintptr_t>(function) > reinterpret_cast<std::uintptr_t>(janus_text_last);
}

}  // namespace janus
