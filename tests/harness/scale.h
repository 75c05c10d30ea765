// SPDX-License-Identifier: Apache-2.0
// tests/harness/scale.h — the amount of work of a test.
#pragma once

#include "rt/sched/fiber_hooks.h"
#include "tests/harness/test.h"

namespace janus::test {

inline constexpr bool kIsWatched = fiber_hooks::kAreWatched;  // by a sanitizer

// Returns `few` under a sanitizer, and with JANUS_TEST_FEW, which is set on an emulated processor (either is ten times
// slower) and in builds that only repeat the tests of another (tests/harness/gate.py).
inline int scaled(int amount, int few) {
  return kIsWatched || environment_number("JANUS_TEST_FEW", 0) != 0 ? few : amount;
}

}  // namespace janus::test
