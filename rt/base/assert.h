// SPDX-License-Identifier: Apache-2.0
// rt/base/assert.h — assertions. A claim that does not hold is a bug of the runtime: one line is written to stderr, and
// platform::abort() ends the process. docs/decisions/0147
//
//   JANUS_ASSERT(claim)   checked in debug builds and in everything that is built for tests on a libc; in other builds
//                         the claim is compiled, but not executed, and costs no instruction
//   JANUS_CHECK(claim)    always checked: for claims whose check costs only a cycle or two
//
// A claim must have no side effects. May be used in any context that may write to a descriptor, with any lock held:
// nothing is allocated or locked.
#pragma once

// Must be the same in all units of a program, or inline functions would violate the one-definition rule: builds set it
// for all of them (tests/hosted_platform), or leave it to NDEBUG for all.
#ifndef JANUS_ASSERTIONS
#ifdef NDEBUG
#define JANUS_ASSERTIONS 0
#else
#define JANUS_ASSERTIONS 1
#endif
#endif

namespace janus {

// For `if constexpr` around code that only maintains what claims need.
inline constexpr bool kAssertions = JANUS_ASSERTIONS != 0;

// Writes `janus: assertion failed: <claim> (<file>:<line>)`, the claim cut off after 400 bytes, and aborts.
[[noreturn, gnu::cold]] void assertion_failed(const char* claim, const char* file, unsigned line) noexcept;

}  // namespace janus

#define JANUS_CHECK(...) JANUS_HOLDS_OR_ABORTS(#__VA_ARGS__, __VA_ARGS__)

#define JANUS_HOLDS_OR_ABORTS(text, ...)                 \
  (static_cast<bool>(__VA_ARGS__) ? static_cast<void>(0) \
                                  : ::janus::assertion_failed(text, __FILE__, static_cast<unsigned>(__LINE__)))

#if JANUS_ASSERTIONS
#define JANUS_ASSERT(...) JANUS_HOLDS_OR_ABORTS(#__VA_ARGS__, __VA_ARGS__)
#else
#define JANUS_ASSERT(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
