// SPDX-License-Identifier: Apache-2.0
// rt/sched/parties.h — a worker's turns among those that have used up a slice. The layer above gives each runnable the
// number of a party: 0 for all that are one party together, and one number for each crowd that shall take no more turns
// than one runnable does. Parties may stand below each other; then the ones below share the turn of the one above.
//
//     beside party 0, on one worker:     turns: 0  A  B | 0  A  B | ...
//     A has two runnables of its own and the parties C, D below it: A's turns: A  C  D | A  C  D | ...
//
// What belongs to party 0 waits in the worker's YieldQueue, which costs nothing while there is no other party.
//
// INVARIANT turns: while a member of a circle stays ready, it and any other member that stays ready have had the same
// number of turns, give or take one. Who comes anew stands behind all that are there. tests/sched/parties_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/sched/runnable.h"
#include "rt/sched/yield_queue.h"

namespace janus {

// One member of a circle of turns. A node has either runnables of its own or members below it, never both. Each node
// stands in its parent's circle exactly while it has something.
struct PartyNode {
  PartyNode* parent;
  PartyNode* next;  // in the parent's circle, behind this one
  PartyNode *first_member, *last_member;
  Runnable *first_runnable, *last_runnable;  // linked by Runnable::next, so that a queue needs no memory

  [[nodiscard]] bool is_empty() const noexcept { return first_member == nullptr && first_runnable == nullptr; }
  void push_member(PartyNode& member) noexcept;
  PartyNode* pop_member() noexcept;
  void push_runnable(Runnable* runnable) noexcept;
  Runnable* pop_runnable() noexcept;
};

// What a party has on one worker. Zero bytes are one that has nothing.
struct Party {
  PartyNode circle;         // its own runnables as one member, and the parties below it
  PartyNode own_runnables;  // always a member of `circle` when it has something
};

// The parties of all workers. Made when a number is given out, so that queueing never needs memory; never given back
// before destroy(), numbers serve again.
class PartyTable {
 public:
  // How deep parties may stand below each other. What would be deeper stands beside the one that it would be below.
  static constexpr unsigned kMaxDepth = 8;

  void init(unsigned workers) noexcept { workers_ = workers; }
  void destroy() noexcept;

  // Any thread: makes room on each worker for `party`, which nobody uses at present, below `parent` or, with 0, beside
  // party 0. False: no memory.
  [[nodiscard]] bool add(std::uint32_t party, std::uint32_t parent) noexcept;

  // A party that was added.
  [[nodiscard]] Party& of(unsigned worker, std::uint32_t party) noexcept;

 private:
  // Segment s holds kFirst << s parties of each worker, so that they never move.
  static constexpr unsigned kFirstBits = 6, kSegments = 32 - kFirstBits;
  struct Place;
  static Place place_of(std::uint32_t party) noexcept;
  [[nodiscard]] std::size_t segment_bytes(unsigned number) const noexcept;

  unsigned workers_ = 0;
  RankedLock<LockRank::kPartyTable> growing_;
  Atomic<Party*> segments_[kSegments] = {};
};

class Parties {
 public:
  void init(PartyTable& table, unsigned worker) noexcept {
    table_ = &table;
    worker_ = worker;
  }

  // Owner only; the runnable's party is not 0.
  void push(Runnable* runnable) noexcept;
  // Owner only: who is next, of `yielded` when it is the turn of party 0. nullptr: there is nobody at all.
  Runnable* take_turn(YieldQueue& yielded) noexcept;
  // Owner only: somebody is queued who does not share the turns of `party`; without party 0.
  [[nodiscard]] bool has_others(std::uint32_t party) noexcept;
  // Any thread: up to `most`, and at most half of what is there, rounded up; as many turns, but none of party 0.
  std::size_t steal(Runnable** out, std::size_t most) noexcept;
  // Any thread, a hint: without party 0.
  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  Runnable* take_from(PartyNode& member) noexcept;

  PartyTable* table_ = nullptr;
  unsigned worker_ = 0;
  RankedLock<LockRank::kParties> lock_;  // everything below, and this worker's nodes
  Atomic<std::int64_t> size_;            // runnables
  PartyNode top_ = {};                   // party 0 is a member from the first push on, whatever it has
  PartyNode party_0_ = {};
};

}  // namespace janus
