// SPDX-License-Identifier: Apache-2.0
// tests/sched/tally.h — how often each of the numbers 1 ... Most was taken, by whomever.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/harness/test.h"

namespace janus::test {

template <unsigned Most>
struct Tally {
  std::atomic<std::uint8_t> taken[Most + 1] = {};
  void take(std::uintptr_t number) { taken[number].fetch_add(1); }
  void check_each_once() {
    unsigned wrong = 0;
    for (unsigned i = 1; i <= Most; ++i) wrong += taken[i].load() != 1;
    CHECK_EQ(wrong, 0u);
  }
  void clear() {
    for (auto& t : taken) t.store(0);
  }
};

}  // namespace janus::test
