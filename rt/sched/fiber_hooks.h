// SPDX-License-Identifier: Apache-2.0
// rt/sched/fiber_hooks.h — tells a sanitizer on which stack a thread runs. The runtime that ships is not built with
// one, and every hook is empty. Hosted builds link arch/hosted/fiber_hooks.cpp, and builds that watch the runtime
// itself for races link tests/hosted_platform/fiber_hooks_thread.cpp. Only this file decides whether fibers are watched.
//
// Around a switch, in the very function that calls janus_context_switch (or janus_run_on_stack):
//   before_switch(mine, theirs);  janus_context_switch(...);  after_switch(mine);     // back on my stack
// A function that is entered at the top of a stack calls after_switch(that stack's fiber) before anything else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/watched.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(JANUS_TASKS_ARE_WATCHED)
#define JANUS_FIBERS_ARE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define JANUS_FIBERS_ARE_WATCHED 1
#endif
#endif

namespace janus::fiber_hooks {

// The sanitizer's identifier of one stack; nullptr in a build without one. ThreadSanitizer supports some 8,000.
using Fiber = void*;

#ifdef JANUS_FIBERS_ARE_WATCHED

inline constexpr bool kAreWatched = true;

// Registers the stack [limit, top), which is about to be used for the first time (since destroy()). Any thread.
Fiber create(const std::byte* limit, const std::byte* top) noexcept;
// A registered stack is about to be entered at its top again: frames left on it without returning are forgotten.
// Returns the identifier to keep instead of `fiber`. If `fiber` is nullptr, the same as create().
Fiber enter(Fiber fiber, const std::byte* limit, const std::byte* top) noexcept;
// Precondition: no thread runs on the stack, and none will.
void destroy(Fiber fiber) noexcept;
// The identifier of the calling thread's own stack, on which it must be running. destroy() it as the thread ends.
Fiber adopt_thread() noexcept;
// Called last before a switch away from `from`.
void before_switch(Fiber from, Fiber to) noexcept;
// The first call on the stack of `self`, whether it is fresh or resumed.
void after_switch(Fiber self) noexcept;
// The frames in [low, high) of the current stack, or of one that no thread runs on, were left without returning.
void forget_frames(const std::byte* low, const std::byte* high) noexcept;
// begin_task(): a task is about to begin on the stack of `here`, on which another task may be waiting for it. Returns
// the `outer` for end_task(), which is called when it has ended; `was_left`: its frames were left without returning.
void* begin_task(Fiber here, std::uint64_t id) noexcept;
void end_task(Fiber here, void* outer, bool was_left) noexcept;

#else

inline constexpr bool kAreWatched = false;

inline Fiber create(const std::byte*, const std::byte*) noexcept {
  return nullptr;
}
inline Fiber enter(Fiber, const std::byte*, const std::byte*) noexcept {
  return nullptr;
}
inline void destroy(Fiber) noexcept {}
inline Fiber adopt_thread() noexcept {
  return nullptr;
}
inline void before_switch(Fiber, Fiber) noexcept {}
inline void after_switch(Fiber) noexcept {}
inline void forget_frames(const std::byte*, const std::byte*) noexcept {}
inline void* begin_task(Fiber, std::uint64_t) noexcept {
  return nullptr;
}
inline void end_task(Fiber, void*, bool) noexcept {}

#endif

}  // namespace janus::fiber_hooks
