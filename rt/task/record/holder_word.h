// SPDX-License-Identifier: Apache-2.0
// rt/task/record/holder_word.h — a word in a user's memory that names the task that holds something. A user may write
// anything there, so it holds no pointer, and is not believed.
#pragma once

#include <cstdint>

namespace janus {

// kHolder, from the top: 6 bits of the runtime's number and 26 of the record's index plus 1, as in a handle; 23 bits of the
// task's number, and Task::holdings. 0: nobody.
struct HolderWord {
  static constexpr std::uint64_t kWaiters = 1;   // some wait; may be set although none does
  static constexpr std::uint64_t kPoisoned = 2;  // a holder ended without unlocking
  static constexpr std::uint64_t kDone = 4;      // of a janus_once: it was called
  // 5 bits, of a mutex: 0, or the first waiter is awake and will look, and others may take the lock until then, one time
  // less than this says.
  static constexpr std::uint64_t kBarge = 8, kBarges = 31 * kBarge;
  static constexpr unsigned kHolderShift = 8;
  static constexpr std::uint64_t kHolder = ~std::uint64_t{0} << kHolderShift;
  static constexpr unsigned kIndexBits = 26;
};

}  // namespace janus
