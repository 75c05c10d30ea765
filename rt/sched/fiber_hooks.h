// SPDX-License-Identifier: Apache-2.0
// rt/sched/fiber_hooks.h — tells a watching sanitizer on which stack a thread stands. In what ships nothing watches and
// every hook is empty; hosted builds link arch/hosted/fiber_hooks.cpp, and where the runtime itself is watched for
// races, tests/hosted_platform/fiber_hooks_thread.cpp. The one place that asks which.
//
// Around a switch, in the very function that calls janus_context_switch (or janus_run_on_stack):
//   before_switch(mine, theirs);  janus_context_switch(...);  after_switch(mine);     // back on my stack
// and where a stack is entered at its top, first of all: after_switch(its fiber).
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

// What the sanitizer knows of one stack; nullptr where none watches. ThreadSanitizer bears some 8,000 at once.
using Fiber = void*;

#ifdef JANUS_FIBERS_ARE_WATCHED

inline constexpr bool kAreWatched = true;

// A stack [limit, top) is about to be stood on for the first time (since destroy). Any thread.
Fiber create(const std::byte* limit, const std::byte* top) noexcept;
// The same stack is about to be entered at its top once more: what was left on it without returning is forgotten. Gives
// back what to keep instead of `fiber`; nullptr for `fiber` is create().
Fiber enter(Fiber fiber, const std::byte* limit, const std::byte* top) noexcept;
// Nobody stands on it, and nobody will.
void destroy(Fiber fiber) noexcept;
// The stack on which the calling thread was born; it must be standing there. destroy() it as the thread ends.
Fiber adopt_thread() noexcept;
// Last thing on `from`. nullptr for `from`: its frames are never returned to.
void before_switch(Fiber from, Fiber to) noexcept;
// First thing on `self`, fresh or resumed.
void after_switch(Fiber self) noexcept;
// The frames in [low, high) of the current stack, or of one that nobody stands on, were left without returning.
void forget_frames(const std::byte* low, const std::byte* high) noexcept;
// A task is about to begin on the stack of `here`, on which another one may wait by calling it; gives back what
// end_task() wants. It has ended there; `was_left`: its frames were left without returning.
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
