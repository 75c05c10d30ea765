// SPDX-License-Identifier: Apache-2.0
// rt/sched/group_node.h — a circle of members that share turns: each member records what it has spent, and the one that
// has spent least is next; among equals, the one that arrived first. The members form an intrusive skew heap (Sleator
// and Tarjan, 1986), so that a circle allocates no memory. docs/decisions/0187
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/sched/runnable.h"

namespace janus {

// One member of a circle. A node has either runnables of its own or members below it, never both. Each node is in its
// parent's circle exactly while it has any of these.
struct GroupNode {
  // Atomic because GroupTable::add() writes them for a reused number while the owner may still charge the number's last
  // user.
  std::atomic<GroupNode*> parent;    // nullptr: the node belongs to the highest circle
  std::atomic<std::uint64_t> spent;  // as charged (cost_of()); never decreases while the number is in use

  // Its links and rank in its parent's heap, while it is a member there.
  GroupNode *above, *left, *right;
  std::uint64_t arrival;

  // Of the circle below it.
  GroupNode* first_member;  // the member that has spent least
  union {
    std::uint64_t clock;      // spent amount of the member with the last turn; the minimum for members that enter
    std::uint64_t long_turn;  // of a group's own runnables, which have no circle: GroupTable::longest_turn()
  };

  Runnable *first_runnable, *last_runnable;  // linked by Runnable::next, so that a queue needs no memory

  // Whether more than one runnable is queued in this node or below it.
  [[nodiscard]] bool has_several() const noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return first_member == nullptr && first_runnable == nullptr; }
  [[nodiscard]] std::uint64_t spent_so_far() const noexcept { return spent.load(std::memory_order_relaxed); }
  void spend(std::uint64_t amount) noexcept {
    spent.store(spent_so_far() + amount, std::memory_order_relaxed);  // written by the owner alone while in use
  }
  // The value that is compared when turns are given: the node's spent amount, but at least `clock` if it is not a
  // member.
  [[nodiscard]] std::uint64_t counts_in(const GroupNode& circle) const noexcept {
    return is_empty() && spent_so_far() < circle.clock ? circle.clock : spent_so_far();
  }

  void add_member(GroupNode& member, std::uint64_t arrived) noexcept;
  void remove_member(GroupNode& member) noexcept;
  void push_runnable(Runnable* runnable) noexcept;
  Runnable* pop_runnable() noexcept;
};

}  // namespace janus
