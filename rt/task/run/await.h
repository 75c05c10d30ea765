// SPDX-License-Identifier: Apache-2.0
// rt/task/run/await.h — waiting for a nursery to end.
#pragma once

#include "rt/task/nurseries/result.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// Closes the nursery and waits for its end. `self` is the running task and the nursery's owner. False: the task's
// deadline has passed first.
bool await_nursery(Task& self, Nursery& nursery) noexcept;
// Closes and awaits the current nursery of `self`, and destroys it. Returns the nursery's result code.
template <Path kPath>
std::int64_t await_current(Task& self, Nursery& nursery) noexcept;
// A failure in a nursery that its owner left open, without reading the result.
struct UnreadFailure {
  bool is_there = false;
  Report report{};
  char nursery[sizeof Nursery::name] = {};  // its name
};

// As await_nursery(), for a thread outside tasks.
void await_from_thread(Nursery& nursery) noexcept;
// As await_from_thread(), but until `until_ns` at the latest. Returns whether the nursery has ended.
bool await_from_thread_until(Nursery& nursery, std::uint64_t until_ns) noexcept;

}  // namespace janus
