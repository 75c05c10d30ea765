// SPDX-License-Identifier: Apache-2.0
// rt/sched/long_turns.cpp — the longest turns of groups. An archive member of its own, linked by a call of longest_turn().
#include "rt/sched/groups.h"

namespace janus {

std::uint64_t GroupTable::longest_turn(std::uint32_t group) noexcept {
  std::uint64_t longest = 0;
  for (unsigned worker = 0; worker < workers_; ++worker) {
    const std::uint64_t turn =
        std::atomic_ref(of(worker, group).own_runnables.long_turn).load(std::memory_order_relaxed);
    longest = longest < turn ? turn : longest;
  }
  return longest;
}

// Only the owner raises it, and a member of a group's circle is the circle of a group below or the group's own runnables.
[[gnu::noinline, gnu::cold]] void Groups::note_long_turn(Groups& groups, std::uint32_t group,
                                                         std::uint64_t taken) noexcept {
  if (group == 0) return;
  GroupNode* node = &groups.own_runnables_of(group);
  for (;;) {
    const std::atomic_ref longest(node->long_turn);
    if (longest.load(std::memory_order_relaxed) < taken) longest.store(taken, std::memory_order_relaxed);
    GroupNode& own_circle = groups.circle_of(*node);
    GroupNode& circle = groups.circle_of(own_circle);
    if (&circle == &groups.top_) return;
    node = &reinterpret_cast<Group*>(&circle)->own_runnables;
  }
}

}  // namespace janus
