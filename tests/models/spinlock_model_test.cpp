// SPDX-License-Identifier: Apache-2.0
// spinlock_model_test.cpp — every interleaving of a few uses of rt/base/spinlock.{h,cpp}: no two threads hold it at
// once, no store that it guards is lost, and no thread sleeps for ever.
#include "rt/base/spinlock.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::LockGuard;
using janus::model::Fences;
using janus::model::require;

struct SpinLockWorld {
  unsigned workers;
  unsigned turns;
  janus::SpinLock lock{};
  janus::Atomic<std::uint32_t> guarded{0};
  std::uint8_t inside = 0;

  unsigned threads() const { return workers; }
  void begin() {}
  void run(unsigned) {
    for (unsigned i = 0; i < turns; ++i) {
      const LockGuard guard(lock);
      require(inside++ == 0, "two never hold it");
      guarded.store(guarded.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      --inside;
    }
  }
  void end() {
    require(guarded.load() == workers * turns, "no store is lost");
    require(lock.try_lock(), "it is free in the end");
  }
};

bool goes_well(const char* name, unsigned workers, unsigned turns, Fences fences) {
  return janus::model::goes_well<SpinLockWorld>(name, fences, workers, turns);
}

TEST(spinlock_model, two_threads) {
  REQUIRE(goes_well("two turns each", 2, 2, Fences::kHeavy));
  REQUIRE(goes_well("three turns each", 2, 3, Fences::kHeavy));
}

TEST(spinlock_model, three_threads) {
  REQUIRE(goes_well("one turn each", 3, 1, Fences::kHeavy));
  REQUIRE(goes_well("two turns each", 3, 2, Fences::kHeavy));
}

// Sleepers wake up by themselves on such a machine.
TEST(spinlock_model, without_a_heavy_fence) {
  REQUIRE(goes_well("two turns each", 2, 2, Fences::kOwn));
  REQUIRE(goes_well("three threads", 3, 1, Fences::kOwn));
}

}  // namespace
