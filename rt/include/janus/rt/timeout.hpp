// SPDX-License-Identifier: Apache-2.0
// janus/rt/timeout.hpp: a call that has so long. A part of janus/rt.hpp.
//
//     janus::Result<Page> page = janus::timeout(50_ms, [&] { return fetch(address); });
#ifndef JANUS_RT_TIMEOUT_HPP
#define JANUS_RT_TIMEOUT_HPP

#include <janus/rt/calling_task.hpp>
#include <janus/rt/nursery.hpp>

namespace janus {
inline namespace v1 {

// Calls closure() in a child task, and returns what it returned, or its failure. If the time passes first, the child is
// cancelled, with all that it spawned, and the result is JANUS_E_TIMEOUT once they have ended; but a value that came all
// the same is the result. JANUS_CANCELLED: the caller is cancelled.
template <class F>
auto timeout(Duration duration, F&& closure) noexcept {
  using Outcome = Result<detail::ValueOf<F>>;
  Nursery nursery({.deadline_ns = deadline_in(duration)});
  if (!nursery) return Outcome(detail::last_error());
  auto task = nursery.spawn(std::forward<F>(closure));
  janus_result how = {};
  (void)janus_nursery_await(nursery.raw(), &how);
  Outcome outcome = task.join();
  if (outcome.ok()) return outcome;
  if (cancelled()) return Outcome(detail::error_of(JANUS_CANCELLED));
  if (outcome.error().kind == JANUS_KIND_PANIC || how.cause != JANUS_CAUSE_DEADLINE) return outcome;
  return Outcome(detail::error_of(JANUS_E_TIMEOUT));
}
template <detail::ChronoDuration T, class F>
auto timeout(const T& duration, F&& closure) noexcept {
  return timeout(detail::duration_of(duration), std::forward<F>(closure));
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_TIMEOUT_HPP
