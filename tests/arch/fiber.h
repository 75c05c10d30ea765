// SPDX-License-Identifier: Apache-2.0
// fiber.h — the smallest fiber that a test needs: a stack of its own and a context.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arch/context.h>

namespace janus::test {

// For fibers whose entry function must not return.
[[noreturn]] inline void nobody_finishes(std::int64_t) {
  __builtin_trap();
}

template <std::size_t Bytes = 8192>
struct Fiber {
  alignas(64) std::byte stack[Bytes];
  arch::Context context;

  std::byte* top() { return stack + Bytes; }
  void start(std::int64_t (*entry)(void*), void* arg, void (*finished)(std::int64_t) = nobody_finishes) {
    arch::make_context(context, top(), entry, arg, finished);
  }
};

}  // namespace janus::test
