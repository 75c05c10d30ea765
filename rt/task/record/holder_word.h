// SPDX-License-Identifier: Apache-2.0
// rt/task/record/holder_word.h — a word in a user's memory that names the task that holds something. A user may write
// anything there, so it holds no pointer, and is not believed.
#pragma once

#include <cstdint>

namespace janus {

// kHolder, from the top: 6 bits of the runtime's number and 26 of the record's index plus 1, as in a handle; 28 bits of the
// task's number, and Task::holdings. 0: nobody.
struct HolderWord {
  static constexpr std::uint64_t kWaiters = 1;   // some wait; may be set although none does
  static constexpr std::uint64_t kPoisoned = 2;  // a holder ended without unlocking
  static constexpr std::uint64_t kDone = 4;      // of a janus_once: it was called
  static constexpr std::uint64_t kHolder = ~std::uint64_t{7};
  static constexpr unsigned kIndexBits = 26;
};

}  // namespace janus
