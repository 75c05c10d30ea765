// SPDX-License-Identifier: Apache-2.0
// rt/task/account/usage.h — what a nursery with a budget of its own has used. Nothing is written down where it is spent:
// the account knows what came in and what is left (INVARIANT books-balance, rt/budget/account.h). docs/decisions/0346
#pragma once

#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

namespace janus {

struct Usage {
  Books books;
  Amounts peak;                   // the most that was spent at once; of what is used up, all that is spent
  std::uint64_t longest_hold_ns;  // of the holds that were long (Groups::note_long_turn)
  std::uint64_t times_dry;
  std::uint64_t tasks;  // children that are counted in
};

// Precondition: the nursery owns its account, and the caller may use it. `worker`: the caller's, which holds a slice;
// nullptr: it has none in that runtime.
Usage usage_of(const Worker* worker, const Nursery& nursery) noexcept;

}  // namespace janus
