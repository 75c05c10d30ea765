// SPDX-License-Identifier: Apache-2.0
// deque_alone.h: the scheduler's deque alone. It is compiled under another namespace (-Djanus=deque_alone), with this
// platform below it: one thread, with or without a heavy fence.
#pragma once

#define JANUS_ASSERTIONS 0  // as in what ships
#include "rt/base/spinlock.cpp"
#include "rt/sched/deque.cpp"

#include <stdlib.h>

#include "bench.h"

namespace deque_alone {

inline bool thieves_pay = true;

void assertion_failed(const char*, const char*, unsigned) noexcept {
  abort();
}

namespace platform {
std::byte* map(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(aligned_alloc(4096, bytes));
}
void unmap(std::byte* at, std::size_t) noexcept {
  free(at);
}
bool has_heavy_fence() noexcept {
  return thieves_pay;
}
void heavy_fence() noexcept {}  // nobody steals while the owner pops here
std::uint64_t now_ns() noexcept {
  return janus_now_ns();
}
void wait(std::atomic<std::uint32_t>&, std::uint32_t, std::uint64_t) noexcept {
  __builtin_trap();  // there is no other thread to wait for
}
void wake(std::atomic<std::uint32_t>&, std::uint32_t) noexcept {}
}  // namespace platform

// Any non-null pointer: deques do not dereference it.
inline Entry entry(long number) {
  return Entry::fresh(reinterpret_cast<Runnable*>(16 * (number + 1)));
}

}  // namespace deque_alone
