// SPDX-License-Identifier: Apache-2.0
// make_thread.h — makes and frees threads, each with a stack of its own.
#pragma once

#include <cstddef>

#include "kernel-free/smp/thread.h"

namespace janus::bare {

inline constexpr std::size_t kTaskThreadStack = 256 * 1024, kFirstThreadStack = 1024 * 1024;

// Makes a thread with a stack of `stack_bytes`, ready to run entry(arg) on `cpu` after add_thread(); nullptr: no
// memory.
[[nodiscard]] Thread* make_thread(std::size_t stack_bytes, platform::ThreadEntry entry, void* arg, Cpu& cpu,
                                  const char* name) noexcept;
void free_thread(Thread& thread) noexcept;

}  // namespace janus::bare
