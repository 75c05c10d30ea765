// SPDX-License-Identifier: Apache-2.0
// rt/sched/party_node.h — a circle of those who share turns: each member knows what it has spent, and whoever has spent
// least is next. The members are a skew heap (Sleator and Tarjan, 1986), linked through themselves, so that a circle
// needs no memory; what has spent the same goes in the order of arrival.
#pragma once

#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/sched/runnable.h"

namespace janus {

// One member of a circle. A node has either runnables of its own or members below it, never both. Each node stands in
// its parent's circle exactly while it has something.
struct PartyNode {
  // Written while a number is given out anew, when the owner may still settle what its last user has spent.
  Atomic<PartyNode*> parent;    // nullptr: it stands in the highest circle
  Atomic<std::uint64_t> spent;  // never back

  // While it is a member, in its parent's heap.
  PartyNode *above, *left, *right;
  std::uint64_t arrival;

  // As a circle.
  PartyNode* first_member;  // who has spent least
  std::uint64_t clock;      // what whoever was due last had spent by then: who comes later has no claim to less

  Runnable *first_runnable, *last_runnable;  // linked by Runnable::next, so that a queue needs no memory

  [[nodiscard]] bool is_empty() const noexcept { return first_member == nullptr && first_runnable == nullptr; }
  [[nodiscard]] std::uint64_t spent_so_far() const noexcept { return spent.load(std::memory_order_relaxed); }
  void spend(std::uint64_t amount) noexcept {
    spent.store(spent_so_far() + amount, std::memory_order_relaxed);  // the owner's, as long as anybody uses it
  }
  // What counts when turns are given: a member's own word, and for who comes in now no less than the clock says.
  [[nodiscard]] std::uint64_t counts_in(const PartyNode& circle) const noexcept {
    return is_empty() && spent_so_far() < circle.clock ? circle.clock : spent_so_far();
  }

  void add_member(PartyNode& member, std::uint64_t arrived) noexcept;
  void remove_member(PartyNode& member) noexcept;
  void push_runnable(Runnable* runnable) noexcept;
  Runnable* pop_runnable() noexcept;
};

}  // namespace janus
