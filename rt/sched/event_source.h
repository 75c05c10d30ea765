// SPDX-License-Identifier: Apache-2.0
// rt/sched/event_source.h — what happens though nobody queues a runnable: a signal, a deadline, memory that has not
// been used for a while. A worker asks each source before it sleeps, and when it has slept or finds nothing to run.
//
// INVARIANT no-lost-event: what has happened is polled, or a worker is awake that will poll.
//   source: 1 say so (has_event)           2 fence   3 if somebody sleeps, wake one (Scheduler::wake_one)
//   sleep:  1 enter the set of sleepers    2 fence   3 has_event of each source?   4 park until the nearest deadline
// As in no-lost-wakeup (idle.h) the fences are totally ordered, so whoever is second sees the other's step 1.
#pragma once

#include <concepts>
#include <cstdint>

#include "rt/platform.h"

namespace janus {

struct Worker;

template <typename Source>
concept EventSource = requires(Source& source, Worker& worker, std::uint64_t now_ns) {
  // Any thread: something has happened that poll() would take up at once. One load, where nothing has.
  { source.has_event() }
  noexcept->std::same_as<bool>;
  // The owner of `worker`, which is about to sleep: when it is to be polled if nothing happens until then, or
  // platform::kForever.
  { source.next_deadline(worker, now_ns) }
  noexcept->std::same_as<std::uint64_t>;
  // The owner of `worker`, with no lock held: takes up what has happened or is due. May queue runnables, and call what
  // queues them. Called too early it does nothing.
  { source.poll(worker, now_ns) }
  noexcept->std::same_as<void>;
};

template <EventSource... Sources>
[[nodiscard]] bool any_event(Sources&... sources) noexcept {
  return (sources.has_event() || ...);
}

template <EventSource... Sources>
[[nodiscard]] std::uint64_t nearest_deadline(Worker& worker, std::uint64_t now_ns, Sources&... sources) noexcept {
  std::uint64_t nearest = platform::kForever;
  const auto ask = [&](auto& source) noexcept {
    const std::uint64_t deadline = source.next_deadline(worker, now_ns);
    if (deadline < nearest) nearest = deadline;
  };
  (ask(sources), ...);
  return nearest;
}

template <EventSource... Sources>
void poll_all(Worker& worker, std::uint64_t now_ns, Sources&... sources) noexcept {
  (sources.poll(worker, now_ns), ...);
}

}  // namespace janus
