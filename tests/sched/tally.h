// SPDX-License-Identifier: Apache-2.0
// tests/sched/tally.h — how often each of the numbers 1 ... Most was taken, by any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/harness/test.h"

namespace janus::test {

// The number of repetitions: `few` with JANUS_TEST_FEW, which is set on an emulated processor (ten times slower, a
// hundred times where CPUs communicate) and in builds that only repeat the tests of another (tests/harness/gate.py).
inline unsigned scaled(unsigned amount, unsigned few) {
  return environment_number("JANUS_TEST_FEW", 0) != 0 ? few : amount;
}

template <unsigned Most>
struct Tally {
  std::atomic<std::uint8_t> taken[Most + 1] = {};
  void take(std::uintptr_t number) { taken[number].fetch_add(1); }
  void check_each_once(unsigned last = Most) {
    unsigned wrong = 0;
    for (unsigned i = 1; i <= last; ++i) wrong += taken[i].load() != 1;
    CHECK_EQ(wrong, 0u);
  }
  void clear() {
    for (auto& t : taken) t.store(0);
  }
};

}  // namespace janus::test
