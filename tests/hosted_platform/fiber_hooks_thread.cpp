// SPDX-License-Identifier: Apache-2.0
// fiber_hooks_thread.cpp — rt/sched/fiber_hooks.h for ThreadSanitizer: one of its fibers a stack. Built without
// instrumentation: it counts the calls and returns of each fiber, so none may lie between its switch and ours.
#define JANUS_FIBERS_ARE_WATCHED 1  // this file is not instrumented, its callers are
#include "rt/sched/fiber_hooks.h"

#include <sanitizer/tsan_interface.h>

namespace janus::fiber_hooks {
namespace {

// A thread's own stack is marked in the low bit: it is not ours to destroy.
constexpr std::size_t kBorrowed = 1;

void* unmarked(Fiber fiber) {
  return reinterpret_cast<void*>(reinterpret_cast<std::size_t>(fiber) & ~kBorrowed);
}
bool is_borrowed(Fiber fiber) {
  return (reinterpret_cast<std::size_t>(fiber) & kBorrowed) != 0;
}

}  // namespace

Fiber create(const std::byte*, const std::byte*) noexcept {
  return __tsan_create_fiber(0);
}

void destroy(Fiber fiber) noexcept {
  if (fiber != nullptr && !is_borrowed(fiber)) __tsan_destroy_fiber(fiber);
}

Fiber enter(Fiber fiber, const std::byte* limit, const std::byte* top) noexcept {
  destroy(fiber);
  return create(limit, top);
}

Fiber adopt_thread() noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::size_t>(__tsan_get_current_fiber()) | kBorrowed);
}

// The switch itself orders what both fibers do on this thread (flags 0), as program order does for the hardware.
void before_switch(Fiber, Fiber to) noexcept {
  __tsan_switch_to_fiber(unmarked(to), 0);
}

void after_switch(Fiber) noexcept {}

void forget_frames(const std::byte*, const std::byte*) noexcept {}
void* begin_task(Fiber, std::uint64_t) noexcept {
  return nullptr;
}
void end_task(Fiber, void*, bool) noexcept {}

}  // namespace janus::fiber_hooks
