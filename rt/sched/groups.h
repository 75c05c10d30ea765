// SPDX-License-Identifier: Apache-2.0
// rt/sched/groups.h — how a worker shares its time among groups. The layer above gives each runnable the number of a
// group: 0 for the default group, and a number of its own for each group of runnables that together may take no more of
// a worker than a single one does. A group may have groups below it, which then share its part of the worker.
// docs/decisions/0141, 0323, 0331
//
//     beside group 0, on one worker:     0  A  B             a third each, while all have something to do
//     A has runnables of its own and the groups C, D:       A's third: A  C  D, a ninth each
//
// The next turn goes to the member of the circle that has spent least (group_node.h). The cost of a turn is reported
// when it is over (spend()), so a group whose turns take ten times longer gets a tenth as many. The caller chooses the
// unit; a turn itself counts as 1. A member is charged the more the less it weighs: its runnables with another priority
// than the normal one are a group of their own below it, and all other members weigh the same (priority.h).
//
// Runnables of group 0 wait in the worker's YieldQueue, so groups cost nothing while group 0 is the only one.
//
// INVARIANT turns: any two members of a circle that stay ready are charged the same meanwhile, give or take what one turn
// costs. A member that becomes ready has no claim to compensation for the time before.
// tests/sched/groups_test.cpp
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/base/lock_rank.h"
#include "rt/optional.h"
#include "rt/platform.h"
#include "rt/sched/group_node.h"
#include "rt/sched/priority.h"
#include "rt/sched/runnable.h"
#include "rt/sched/yield_queue.h"

namespace janus {

// A group's queued runnables on one worker. All zero bytes are a group that has none.
struct Group {
  GroupNode circle;         // its members: own_runnables, and the groups below this one
  GroupNode own_runnables;  // a member of `circle` while it has any
};

// The groups of all workers. Room for a group is made when its number is given out, so that queueing never needs
// memory, and is kept until destroy(); numbers are reused.
class GroupTable {
 public:
  // How deep groups may be nested. A group that would be deeper becomes a sibling of its parent.
  static constexpr unsigned kMaxDepth = 8;

  void init(unsigned workers) noexcept { workers_ = workers; }
  void destroy() noexcept;

  // Any thread. Makes room on each worker for `group`, a cage's, which no runnable uses at present, below `parent` or, if
  // that is 0, beside group 0. False: no memory.
  [[nodiscard]] bool add(std::uint32_t group, std::uint32_t parent) noexcept;

  // Any thread, of a group that was added, before its first runnable: how long these may hold a worker, in ns;
  // platform::kForever: for ever. Each group that is added has to be given a limit, if any is.
  void limit_hold(std::uint32_t group, std::uint64_t hold_ns) noexcept;
  [[nodiscard]] std::uint64_t hold_limit(std::uint32_t group) const noexcept;
  // Whether any group that was ever added has such a limit.
  [[nodiscard]] bool are_any_limited() const noexcept { return are_any_limited_.load(std::memory_order_relaxed); }
  // Any thread. The longest of the turns that were noted for the group (Groups::note_long_turn()) on any worker.
  [[nodiscard]] std::uint64_t longest_turn(std::uint32_t group) noexcept;

  // Precondition: the group has been added.
  [[nodiscard]] Group& of(unsigned worker, std::uint32_t group) noexcept;

  // --- Groups with another priority than the normal one. rt/sched/priorities.cpp, docs/decisions/0352 ---

  // Any thread, before the first runnable of such a group. Makes room on each worker for those of `cage`, which is 0 or
  // has been added. False: no memory.
  [[nodiscard]] bool make_priorities(std::uint32_t cage) noexcept;
  // Whether that was ever done for any cage.
  [[nodiscard]] bool has_priorities() const noexcept { return has_priorities_.load(std::memory_order_relaxed); }
  // The queue of such a group; nullptr: no room was made yet.
  [[nodiscard, JANUS_OPTIONAL]] GroupNode* with_priority(unsigned worker, std::uint32_t group) noexcept;

  // While all workers stand: each runnable that is queued at that worker.
  template <typename Use>
  void for_each_queued(unsigned worker, Use use) noexcept {
    for (unsigned number = 0; number < kSegments; ++number) {
      Group* const segment = segments_[number].load(std::memory_order_acquire);  // pairs with add()
      const std::size_t capacity = std::size_t{1} << (kFirstBits + number);
      for (std::size_t i = 0; segment != nullptr && i < capacity; ++i) {
        for (Runnable* at = segment[worker * capacity + i].own_runnables.first_runnable; at != nullptr; at = at->next)
          use(at);
      }
      const GroupNode* const special =
          priorities_[number].load(std::memory_order_acquire);  // pairs with make_priorities()
      for (std::size_t i = 0; special != nullptr && i < 2 * capacity; ++i) {
        for (Runnable* at = special[2 * worker * capacity + i].first_runnable; at != nullptr; at = at->next) use(at);
      }
    }
  }

 private:
  // Segment s holds 2^(kFirstBits + s) groups of each worker; segments are added, so groups never move.
  static constexpr unsigned kFirstBits = 6, kSegments = 32 - kFirstBits;
  // Where a group is in the table. A segment holds all its groups for worker 0, then all for worker 1, and so on, and then
  // the limit of each.
  struct Place {
    unsigned segment;
    std::uint32_t capacity, offset;
  };
  static Place place_of(std::uint32_t group) noexcept;
  [[nodiscard]] std::size_t segment_bytes(unsigned number) const noexcept;
  [[nodiscard]] std::atomic<std::uint64_t>& hold_of(std::uint32_t group) const noexcept;
  [[nodiscard]] std::size_t priorities_bytes(unsigned number) const noexcept;
  // What the last cage of this number has spent is not the next one's.
  [[JANUS_OPTIONAL]] void forget_priorities(std::uint32_t cage) noexcept;
  [[JANUS_OPTIONAL]] void destroy_priorities() noexcept;

  unsigned workers_ = 0;
  std::atomic<bool> are_any_limited_{false};
  RankedLock<LockRank::kGroupTable> growing_;
  std::atomic<Group*> segments_[kSegments] = {};
  // As segments_: for each cage two nodes, those of its runnables of high priority and of low priority, which are members
  // of its circle; of cage 0 they are in the highest. A segment is made when the first of its groups is needed.
  std::atomic<GroupNode*> priorities_[kSegments] = {};
  std::atomic<bool> has_priorities_{false};
};

// The groups of one worker. All functions are for the owner only, unless they say otherwise.
class Groups {
 public:
  void init(GroupTable& table, unsigned worker) noexcept {
    table_ = &table;
    worker_ = worker;
  }

  // Precondition: the runnable's group is not 0.
  void push(Runnable* runnable) noexcept;
  // Begins the next turn and returns the runnable that has it, which comes from `yielded` if it is group 0's turn.
  // nullptr: nothing is queued.
  Runnable* take_turn(YieldQueue& yielded) noexcept;

  // Whether a runnable of `group` that is in none of these queues may run now: no queued group has spent less.
  // `group_0_waits`: a runnable of group 0 is queued.
  [[nodiscard]] bool is_due(std::uint32_t group, bool group_0_waits) noexcept;
  // Whether the running runnable of `group` may go on at the end of its slice: no other one of its group is queued, and
  // all queued groups have spent more.
  [[nodiscard]] bool keeps_turn(std::uint32_t group, bool group_0_waits) noexcept;
  // Removes and returns the runnable of `group` itself that has waited longest; nullptr: none is queued. Begins no turn.
  // Precondition: `group` is not 0.
  Runnable* take_own(std::uint32_t group) noexcept;
  // Begins a turn of `group` for a runnable that was in none of these queues.
  void begin_turn(std::uint32_t group) noexcept;
  // Charges `group` with the cost of its turn.
  void spend(std::uint32_t group, std::uint64_t amount) noexcept;
  // The same for something that was done outside the group's turn: it may have nothing queued.
  void spend_outside_turn(std::uint32_t group, std::uint64_t amount) noexcept;

  // The group, and so those above it, has had a turn of `taken` ns, which was a long one.
  [[JANUS_OPTIONAL]] static void note_long_turn(Groups& groups, std::uint32_t group, std::uint64_t taken) noexcept;
  // Whether somebody may ask for them.
  static bool notes_long_turns() noexcept { return note_long_turn != nullptr; }
  // Any thread. Moves up to `most` runnables, and at most half of those queued, rounded up, to `out`, in the order of
  // their turns; returns how many. Takes none of group 0.
  std::size_t steal(Runnable** out, std::size_t most) noexcept;
  // Any thread. Removes and returns the one that has waited longest, of high priority and in no cage. nullptr: there is none,
  // or another thread holds the lock.
  [[nodiscard, JANUS_OPTIONAL]] Runnable* steal_high() noexcept;
  // Removes from `other`, of another worker, and returns a runnable of the group that has the next turn there, if this
  // worker lacks it: nothing of the group, or of a group above it, is queued here and more than one runnable is there; or
  // the group is a new one here, and the other worker has at least two groups more. Does so neither for group 0 nor for
  // `running`. nullptr: there is none, or another thread holds the lock.
  Runnable* take_lacking(Groups& other, std::uint32_t running) noexcept;
  // Any thread, a hint. Does not count group 0.
  [[nodiscard]] std::int64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // How is_least() orders others that have spent the same as the group in question.
  enum class Equals : std::uint8_t { kAreBehind, kAreBefore };

  GroupNode& circle_of(const GroupNode& member) noexcept;
  GroupNode& own_runnables_of(std::uint32_t group) noexcept;
  bool is_least(std::uint32_t group, bool group_0_waits, Equals equals) noexcept;
  enum class Clock : std::uint8_t { kGoesOn, kStays };
  void spend_on_path(GroupNode& lowest, std::uint32_t group, std::uint64_t amount) noexcept;
  void catch_up(GroupNode& lowest, Clock clock) noexcept;
  bool lacks(const Groups& other, const GroupNode* theirs, const GroupNode* mine) noexcept;
  Runnable* take_from(GroupNode& member) noexcept;
  Runnable* pop_runnable_of(GroupNode& lowest) noexcept;
  [[nodiscard]] std::uint64_t spent_by_group_0() const noexcept {
    return group_0_spent_ < top_.clock ? top_.clock : group_0_spent_;
  }
  void begin_turn_of_group_0() noexcept;

  GroupTable* table_ = nullptr;
  unsigned worker_ = 0;
  RankedLock<LockRank::kGroups> lock_;  // guards everything below, and this worker's nodes
  std::atomic<std::int64_t> size_;      // queued runnables
  GroupNode top_ = {};                  // the highest circle, in which group 0 has no node
  std::int64_t members_ = 0;            // of the highest circle
  std::uint64_t group_0_spent_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace janus
