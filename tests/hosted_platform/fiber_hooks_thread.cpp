// SPDX-License-Identifier: Apache-2.0
// fiber_hooks_thread.cpp — rt/sched/fiber_hooks.h for ThreadSanitizer: each stack is one of its fibers. Built without
// instrumentation: ThreadSanitizer counts the calls and returns of each fiber, so no counted one may lie between its
// switch and the runtime's.
#define JANUS_FIBERS_ARE_WATCHED 1  // the callers of this file are instrumented, the file is not
#include "rt/sched/fiber_hooks.h"

#include <sanitizer/tsan_interface.h>

namespace janus::fiber_hooks {
namespace {

// The low bit marks a thread's own stack, whose fiber must not be destroyed.
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

// Flags 0: the switch orders what both fibers do on this thread, as program order does for the processor.
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
