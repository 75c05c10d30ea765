// SPDX-License-Identifier: Apache-2.0
// rt/task/await.h — waiting for a nursery to end.
#pragma once

#include "rt/task/nursery.h"
#include "rt/task/task.h"

namespace janus {

// Closes and waits; on a task, the owner's.
void await_nursery(Task& self, Nursery& nursery) noexcept;
// The same for the current nursery of `self`, which is gone afterwards: its code.
template <Path kPath>
std::int64_t await_current(Task& self, Nursery& nursery) noexcept;
// The same for a thread outside tasks.
void await_from_thread(Nursery& nursery) noexcept;
// The same until `until_ns` at the latest: whether it has ended.
bool await_from_thread_until(Nursery& nursery, std::uint64_t until_ns) noexcept;

}  // namespace janus
