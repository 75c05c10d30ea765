// SPDX-License-Identifier: Apache-2.0
// rt/sched/event_sources.cpp — gives back the stacks that the program no longer needs.
#include "rt/sched/event_sources.h"

namespace janus {

std::uint64_t StackReclaim::next_deadline(Worker&, std::uint64_t now_ns) const noexcept {
  if (stacks_ == nullptr || !stacks_->has_excess()) return platform::kForever;
  const std::uint64_t due = next_look_ns_.load(std::memory_order_relaxed);
  return due > now_ns ? due : now_ns;
}

void StackReclaim::poll(Worker& worker, std::uint64_t now_ns) noexcept {
  std::uint64_t due = next_look_ns_.load(std::memory_order_relaxed);
  if (next_deadline(worker, now_ns) > now_ns) return;
  if (next_look_ns_.compare_exchange_strong(due, now_ns + kPeriodNs, std::memory_order_relaxed)) stacks_->give_excess();
}

}  // namespace janus
