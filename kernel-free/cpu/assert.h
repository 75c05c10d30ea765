// SPDX-License-Identifier: Apache-2.0
// assert.h — assertions of kernel-free. A claim that does not hold is a bug of kernel-free: a line says which, and the
// machine ends with status 134.
//
//   BARE_ASSERT(claim)   checked in debug builds and in tests on a libc; in other builds the claim is compiled, but not
//                        executed, and costs no instruction
//
// A claim must have no side effects. May be used wherever code of kernel-free runs, with any lock held.
#pragma once

// As in rt/base/assert.h: the same in all units of a program.
#ifndef JANUS_ASSERTIONS
#ifdef NDEBUG
#define JANUS_ASSERTIONS 0
#else
#define JANUS_ASSERTIONS 1
#endif
#endif

namespace janus::bare {

// Called upward: console/dump.cpp defines it.
[[noreturn, gnu::cold]] void assertion_failed(const char* claim, const char* file, unsigned line) noexcept;

}  // namespace janus::bare

#if JANUS_ASSERTIONS
#define BARE_ASSERT(...)          \
  (static_cast<bool>(__VA_ARGS__) \
       ? static_cast<void>(0)     \
       : ::janus::bare::assertion_failed(#__VA_ARGS__, __FILE__, static_cast<unsigned>(__LINE__)))
#else
#define BARE_ASSERT(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
