// SPDX-License-Identifier: Apache-2.0
// rt/sched/event_source.h — sources of events that arrive without a runnable being queued: a signal, a deadline, memory
// that has been unused for a while. A worker asks each source before it sleeps, and polls them when its sleep ended by a
// deadline. docs/decisions/0142
//
// INVARIANT no-lost-event: each event has been polled, or a worker is awake that will poll it.
//   source: 1 set what has_event() reads   2 fence   3 if a worker sleeps, wake one (IdleWorkers::wake_one)
//   sleep:  1 enter the set of sleepers    2 fence   3 has_event of each source?   4 park until the nearest deadline
// As in no-lost-wakeup (idle.h) the fences are totally ordered: the side whose fence comes second sees the other side's
// step 1.
#pragma once

#include <concepts>
#include <cstdint>

#include "rt/platform.h"

namespace janus {

struct Worker;

template <typename Source>
concept EventSource = requires(Source& source, Worker& worker, std::uint64_t now_ns) {
  // Any thread. True: there is an event that poll() would handle at once. Costs one load if there is none.
  { source.has_event() }
  noexcept->std::same_as<bool>;
  // Called by `worker` when it is about to sleep. Returns when the source is to be polled if no event comes before
  // then, or platform::kForever.
  { source.next_deadline(worker, now_ns) }
  noexcept->std::same_as<std::uint64_t>;
  // Called by `worker`, with no lock held. Handles the events that have come or are due, and may queue runnables. Does
  // nothing if called too early.
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
