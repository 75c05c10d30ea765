// SPDX-License-Identifier: Apache-2.0
// tests/models/taken.h — checks that each of a few runnables is taken once. For models only: its accesses are no steps.
#pragma once

#include <cstdint>

#include "tests/models/machine.h"

namespace janus {
struct Runnable;
}

namespace janus::model {

class Taken {
 public:
  // One more runnable to queue; it is never accessed.
  Runnable* next() { return reinterpret_cast<Runnable*>(std::uintptr_t{++made_} * kApart); }

  // 1 for the first one made.
  static std::uintptr_t number(const Runnable* runnable) { return reinterpret_cast<std::uintptr_t>(runnable) / kApart; }

  void take(const Runnable* runnable) {
    const std::uintptr_t which = number(runnable);
    require(which != 0 && which <= made_ && which < kMax, "what is taken was queued");
    require(!is_taken_[which], "nothing is taken twice");
    is_taken_[which] = true;
  }
  void require_all() const {
    for (unsigned i = 1; i <= made_; ++i) require(is_taken_[i], "nothing is lost");
  }

 private:
  static constexpr std::uintptr_t kApart = 64;
  static constexpr unsigned kMax = 16;
  std::uint32_t made_ = 0;
  bool is_taken_[kMax] = {};
};

}  // namespace janus::model
