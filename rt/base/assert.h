// SPDX-License-Identifier: Apache-2.0
// rt/base/assert.h — what must hold, said where it must. A claim that does not hold is a bug of the runtime: one line
// on stderr, and the process ends as platform::abort() ends it.
//
//   JANUS_ASSERT(claim)   in debug builds and in everything that is built for tests on a libc; elsewhere the claim is
//                         compiled and thrown away, and is not one instruction
//   JANUS_CHECK(claim)    always: for what costs a cycle or two where it stands
//
// A claim has no effects. Good in any context that may write to a descriptor, with any lock held: nothing is allocated,
// nothing is locked.
#pragma once

// A header that fails differently in two units of one program would break the rule of one definition: builds set this
// for all of them (tests/hosted_platform), or leave it to NDEBUG for all.
#ifndef JANUS_ASSERTIONS
#ifdef NDEBUG
#define JANUS_ASSERTIONS 0
#else
#define JANUS_ASSERTIONS 1
#endif
#endif

namespace janus {

// For what only a claim needs to know, `if constexpr`.
inline constexpr bool kAssertions = JANUS_ASSERTIONS != 0;

// `janus: assertion failed: <claim> (<file>:<line>)`, cut off after some 400 bytes.
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
