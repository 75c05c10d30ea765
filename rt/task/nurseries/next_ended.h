// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/next_ended.h — waiting for any child to end: janus_nursery_next.
//
// INVARIANT each-end-told-once: the records of a nursery lie in the order in which its children ended; `untold` is the
// first that was not told, and all behind it were not either. A child is in the records before it is counted out, and a
// count of a child with a record wakes an owner with kAnyEnd. So an owner that has set that, and finds neither a record
// nor the last child gone, is woken for the next.
#pragma once

#include <cstdint>

#include "rt/task/nurseries/result.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/wait.h"

namespace janus {

// By the owner: takes the next child to end of those that leave records. 0, kErrorClosed if none is left to be told and
// no child lives, kErrorTimeout, kCancelledCode, kErrorNoMemory. Does not close the nursery.
[[nodiscard]] int next_ended(Task& self, Nursery& nursery, Report& report) noexcept;
// The same for a thread outside tasks, until `until_ns` at the latest.
[[nodiscard]] int next_ended_outside(Nursery& nursery, std::uint64_t until_ns, Report& report) noexcept;

// --- For owners that wait for more than that -------------------------------------------------------------------------

// Takes the next untold end. False: there is none. `ended`: the task, which its owner may release afterwards.
[[nodiscard]] bool take_untold(Nursery& nursery, Report& report, Task*& ended) noexcept;

inline constexpr std::uint64_t kWaitsForAny = NurseryWord::kWaiter | NurseryWord::kAnyEnd;

// Waits for `awaited`, whose wait for kChildren the next end ends, too.
template <typename T>
[[nodiscard]] WaitEnd wait_for_any(Task& self, Nursery& nursery, T& awaited) noexcept {
  if (is_at_home(nursery, current_worker()))
    (void)publish_count(nursery, kWaitsForAny);
  else
    nursery.word.fetch_or(kWaitsForAny, std::memory_order_acq_rel);
  const WaitEnd end = wait(self, awaited);
  nursery.word.fetch_and(~kWaitsForAny, std::memory_order_relaxed);
  return end;
}

}  // namespace janus
