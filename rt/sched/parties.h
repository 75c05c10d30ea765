// SPDX-License-Identifier: Apache-2.0
// rt/sched/parties.h — a worker's turns among parties. The layer above gives each runnable the number of a party: 0 for
// all that are one party together, and one number for each crowd that shall take no more of a worker than one runnable
// does. Parties may stand below each other; then the ones below share what the one above has.
//
//     beside party 0, on one worker:     0  A  B             a third each, while all have something to do
//     A has runnables of its own and the parties C, D:       A's third: A  C  D, a ninth each
//
// A turn goes to whoever has spent least (party_node.h). What a turn takes is told when it is over (spend()), so a
// party whose turns take ten times longer has a tenth as many. The unit is the caller's; a turn itself counts as 1.
//
// What belongs to party 0 waits in the worker's YieldQueue, which costs nothing while there is no other party.
//
// INVARIANT turns: while a member of a circle stays ready, it and any other member that stays ready have spent the
// same, give or take what one turn takes. Who comes anew has no claim to what others had before.
// tests/sched/parties_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/lock_rank.h"
#include "rt/sched/party_node.h"
#include "rt/sched/runnable.h"
#include "rt/sched/yield_queue.h"

namespace janus {

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

// All but steal() and size() are for the owner alone.
class Parties {
 public:
  void init(PartyTable& table, unsigned worker) noexcept {
    table_ = &table;
    worker_ = worker;
  }

  // The runnable's party is not 0.
  void push(Runnable* runnable) noexcept;
  // Who is next, of `yielded` when it is the turn of party 0. nullptr: there is nobody at all.
  Runnable* take_turn(YieldQueue& yielded) noexcept;

  // For a runnable of `party` that is in no queue of these: whether nobody who is queued has spent less. Of party 0
  // somebody is queued if `party_0_waits`.
  [[nodiscard]] bool is_due(std::uint32_t party, bool party_0_waits) noexcept;
  // The same for one that would go on with the turn that it has: all others, those of its own party too, have spent
  // more.
  [[nodiscard]] bool keeps_turn(std::uint32_t party, bool party_0_waits) noexcept;
  // One that is due has its turn.
  void begin_turn(std::uint32_t party) noexcept;
  // What a turn of `party` has taken.
  void spend(std::uint32_t party, std::uint64_t amount) noexcept;

  // Somebody is queued who does not share the turns of `party`; without party 0.
  [[nodiscard]] bool has_others(std::uint32_t party) noexcept;
  // Any thread: up to `most`, and at most half of what is there, rounded up; as many turns, but none of party 0.
  std::size_t steal(Runnable** out, std::size_t most) noexcept;
  // Any thread, a hint: without party 0.
  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // Whom equals are before.
  enum class Equals : std::uint8_t { kAreBehind, kAreBefore };

  PartyNode& circle_of(const PartyNode& member) noexcept;
  PartyNode& own_runnables_of(std::uint32_t party) noexcept { return table_->of(worker_, party).own_runnables; }
  bool is_least(std::uint32_t party, bool party_0_waits, Equals equals) noexcept;
  void spend_on_path(PartyNode& node, std::uint64_t amount) noexcept;
  Runnable* take_from(PartyNode& member) noexcept;
  [[nodiscard]] std::uint64_t spent_by_party_0() const noexcept {
    return party_0_spent_ < top_.clock ? top_.clock : party_0_spent_;
  }
  void begin_turn_of_party_0() noexcept;

  PartyTable* table_ = nullptr;
  unsigned worker_ = 0;
  RankedLock<LockRank::kParties> lock_;  // everything below, and this worker's nodes
  Atomic<std::int64_t> size_;            // runnables
  PartyNode top_ = {};                   // the highest circle, in which party 0 has no node
  std::uint64_t party_0_spent_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace janus
