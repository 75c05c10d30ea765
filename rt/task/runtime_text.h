// SPDX-License-Identifier: Apache-2.0
// rt/task/runtime_text.h — where the runtime's own text lies, as the linker tells (linker/runtime-text.ld): in front of
// the program's. Without that script all of these are nullptr, and nothing is known to be our own.
#pragma once

#include <cstdint>

extern "C" {
// mem* come first, from janus_memory_text on: users call them, too, by their C names.
[[gnu::weak, gnu::visibility("hidden")]] extern const char janus_memory_text[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char janus_text[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char janus_text_end[];
[[gnu::weak, gnu::visibility("hidden")]] extern const char janus_text_last[];  // the byte before janus_text_end
}

namespace janus {

// Of a function that a user gave, to be called by the runtime: one in its own text, or in the middle of one, would run
// with what a task has in its registers, and a fault there ends the process. mem* are as bad: what they return to is
// ours.
template <class Function>
[[nodiscard]] inline bool is_runtimes_text(Function* function) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(janus_memory_text);
  return reinterpret_cast<std::uintptr_t>(function) - first < reinterpret_cast<std::uintptr_t>(janus_text_end) - first;
}
// One compare for the fast paths, which also refuses nullptr. False says nothing: is_runtimes_text() is to be asked.
template <class Function>
[[nodiscard]] inline bool is_surely_users(Function* function) noexcept {
  return reinterpret_cast<std::uintptr_t>(function) > reinterpret_cast<std::uintptr_t>(janus_text_last);
}

}  // namespace janus
