// SPDX-License-Identifier: Apache-2.0
// tests/harness/scale.h — the amount of work of a test.
#pragma once

#include "rt/sched/fiber_hooks.h"
#include "tests/harness/test.h"

namespace janus::test {

inline constexpr bool kIsWatched = fiber_hooks::kAreWatched;  // by a sanitizer

// Returns `few` if a sanitizer or an emulated processor (JANUS_TEST_FEW) makes everything ten times slower.
inline int scaled(int amount, int few) {
  return kIsWatched || environment_number("JANUS_TEST_FEW", 0) != 0 ? few : amount;
}

}  // namespace janus::test
