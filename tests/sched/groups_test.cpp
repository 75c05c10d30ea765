// SPDX-License-Identifier: Apache-2.0
// groups_test.cpp — turns among scheduling groups: a group's share does not depend on the number of its runnables.
#include "rt/sched/groups.h"

#include "rt/base/rng.h"
#include "tests/sched/jobs.h"

namespace janus::test {

namespace {

constexpr unsigned kWorkers = 3;

// The groups of each worker. Group 0 is the queue of the runnables outside cages. A runnable is identified by its group
// alone.
class Turns {
 public:
  Turns() {
    table.init(kWorkers);
    CHECK(yielded.init(2));
    for (unsigned i = 0; i < kWorkers; ++i) groups[i].init(table, i);
  }
  ~Turns() {
    yielded.destroy();
    table.destroy();
  }
  void add(std::uint32_t group, std::uint32_t parent = 0) { CHECK(table.add(group, parent)); }
  void push(Runnable& runnable, std::uint32_t group) {
    runnable.group = group;
    push(runnable);
  }
  void push(Runnable& runnable) {
    if (runnable.group == 0)
      CHECK(yielded.push(&runnable));
    else
      groups[0].push(&runnable);
  }
  Runnable* take() { return groups[0].take_turn(yielded); }
  // Takes `count` turns, and puts each runnable back behind all others; counts each group's turns.
  template <std::size_t kGroups>
  void turn(int count, int (&turns)[kGroups]) {
    for (int& n : turns) n = 0;
    for (int i = 0; i < count; ++i) {
      Runnable* const runnable = take();
      REQUIRE(runnable != nullptr);
      ++turns[runnable->group];
      push(*runnable);
    }
  }

  GroupTable table;
  YieldQueue yielded;
  Groups groups[kWorkers];
};

Runnable runnables[2000];

}  // namespace

TEST(groups, group_0_alone_is_first_in_first_out) {
  Turns turns;
  for (unsigned i = 0; i < 10; ++i) turns.push(runnables[i], 0);
  for (unsigned i = 0; i < 10; ++i) CHECK(turns.take() == &runnables[i]);
  CHECK(turns.take() == nullptr);
}

TEST(groups, the_runnables_of_one_group_run_in_fifo_order) {
  Turns turns;
  turns.add(7);
  for (unsigned i = 0; i < 10; ++i) turns.push(runnables[i], 7);
  CHECK_EQ(turns.groups[0].size(), 10);
  for (unsigned i = 0; i < 10; ++i) CHECK(turns.take() == &runnables[i]);
  CHECK(turns.take() == nullptr);
  CHECK_EQ(turns.groups[0].size(), 0);
}

TEST(groups, a_group_of_many_tasks_gets_as_many_turns_as_a_group_of_one) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  turns.push(runnables[0], 0);
  turns.push(runnables[1], 1);
  for (unsigned i = 2; i < 1500; ++i) turns.push(runnables[i], 2);
  int seen[3];
  turns.turn(3000, seen);
  for (const int n : seen) CHECK_EQ(n, 1000);
}

TEST(groups, the_runnables_of_group_0_share_one_turn) {
  Turns turns;
  turns.add(1);
  for (unsigned i = 0; i < 500; ++i) turns.push(runnables[i], 0);
  turns.push(runnables[500], 1);
  int seen[2];
  turns.turn(1000, seen);
  CHECK_EQ(seen[0], 500);
  CHECK_EQ(seen[1], 500);
}

TEST(groups, a_group_that_splits_gets_no_more_time) {
  Turns turns;
  turns.add(1);
  for (std::uint32_t group = 2; group < 100; ++group) turns.add(group, 1);
  turns.push(runnables[0], 0);
  // runnable 1 is of group 1 itself, the others are of the 98 groups below it
  for (unsigned i = 1; i < 100; ++i) turns.push(runnables[i], i);
  int seen[100];
  turns.turn(2 * 99 * 10, seen);
  CHECK_EQ(seen[0], 990);
  for (unsigned i = 1; i < 100; ++i) CHECK_EQ(seen[i], 10);
}

// Random trees of groups with random numbers of runnables: two members of a circle that stay ready differ by one turn
// at most.
TEST(groups, turns_differ_by_one_at_most) {
  constexpr std::uint32_t kGroups = 40;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng = Rng::for_worker(seed, 1);
    Turns turns;
    std::uint32_t parent[kGroups] = {};
    for (std::uint32_t group = 1; group < kGroups; ++group) {
      unsigned depth = 0;
      parent[group] = static_cast<std::uint32_t>(rng.below(group));
      for (std::uint32_t above = parent[group]; above != 0; above = parent[above]) ++depth;
      if (depth >= GroupTable::kMaxDepth) parent[group] = 0;
      turns.add(group, parent[group]);
    }
    unsigned next = 0;
    bool has_own[kGroups] = {};
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      for (std::uint64_t count = rng.below(4) * rng.below(8); count != 0; --count) {
        turns.push(runnables[next++], group);
        has_own[group] = true;
      }
    }
    if (next == 0) continue;
    int own[kGroups], all[kGroups];  // turns of the group's own runnables, and of these and all groups below
    turns.turn(static_cast<int>(rng.below(5000)), own);
    for (std::uint32_t group = 0; group < kGroups; ++group) all[group] = own[group];
    for (std::uint32_t group = kGroups; group-- > 1;) {
      has_own[group] |= all[group] != 0;
      if (parent[group] != 0) all[parent[group]] += all[group];
    }
    // Members of one circle share time equally: the child groups, and the group's own runnables as one more member.
    // Group 0's runnables are a member of the topmost circle.
    for (std::uint32_t circle = 0; circle < kGroups; ++circle) {
      int least = own[circle], most = own[circle];
      bool any = own[circle] != 0;
      if (!any) least = 1 << 30, most = 0;
      for (std::uint32_t group = 1; group < kGroups; ++group) {
        if (parent[group] != circle || all[group] == 0) continue;
        least = all[group] < least ? all[group] : least;
        most = all[group] > most ? all[group] : most;
        any = true;
      }
      if (any) CHECK_LE(most - least, 1);
    }
  }
}

// Turns may differ in length by a factor of a thousand: groups share the time spent, not the number of turns.
TEST(groups, a_group_with_long_turns_has_few) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  const std::uint64_t takes[] = {10, 10'000, 500};
  std::uint64_t spent[3] = {};
  for (unsigned i = 0; i < 3; ++i) turns.push(runnables[i], i);
  for (unsigned i = 3; i < 50; ++i) turns.push(runnables[i], 1);
  for (int turn = 0; turn < 20'000; ++turn) {
    Runnable* const runnable = turns.take();
    REQUIRE(runnable != nullptr);
    turns.groups[0].spend(runnable->group, takes[runnable->group]);
    spent[runnable->group] += takes[runnable->group] + 1;  // a turn itself counts as 1
    turns.push(*runnable);
    for (const std::uint64_t mine : spent)
      for (const std::uint64_t other : spent) CHECK_LE(mine, other + 10'001);
  }
}

TEST(groups, time_that_a_group_did_not_use_is_not_owed_to_it) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  turns.push(runnables[0], 0);
  turns.push(runnables[1], 1);
  int seen[3] = {};
  for (int turn = 0; turn < 130; ++turn) {
    if (turn == 100) turns.push(runnables[2], 2);  // group 2 had no runnable before
    Runnable* const runnable = turns.take();
    if (turn >= 100) ++seen[runnable->group];
    turns.groups[0].spend(runnable->group, 1000);
    turns.push(*runnable);
  }
  for (const int n : seen) CHECK_LE(n, 11);
}

TEST(groups, a_turn_is_kept_while_all_others_have_spent_more) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  turns.add(3, 2);
  Groups& mine = turns.groups[0];
  turns.push(runnables[1], 1);
  CHECK(turns.take() == &runnables[1]);
  mine.spend(1, 100);
  turns.push(runnables[1], 1);
  mine.begin_turn(3);
  CHECK(mine.keeps_turn(3, false));
  mine.spend(3, 50);
  CHECK(mine.keeps_turn(3, false));
  CHECK(!mine.keeps_turn(3, true));  // group 0 has spent nothing yet
  turns.push(runnables[3], 3);
  CHECK(!mine.keeps_turn(3, false));  // another runnable of group 3 is ready
  CHECK(turns.take() == &runnables[3]);
  turns.push(runnables[2], 2);
  CHECK(!mine.keeps_turn(3, false));  // another member of its circle is ready
  CHECK(turns.take() == &runnables[2]);
  mine.spend(3, 51);
  CHECK(!mine.keeps_turn(3, false));
  CHECK(!mine.is_due(3, false));
  CHECK(mine.is_due(0, false));
  CHECK(turns.take() == &runnables[1]);
}

TEST(groups, a_turn_that_begins_counts_for_its_group_and_for_no_other) {
  Turns turns;
  turns.add(1);
  Groups& mine = turns.groups[0];
  mine.begin_turn(1);
  CHECK(!mine.is_due(1, true));
  mine.begin_turn(0);
  CHECK(mine.is_due(1, true));  // each has had one turn
  turns.push(runnables[1], 1);
  CHECK(mine.is_due(0, true));
  mine.begin_turn(0);
  CHECK(!mine.is_due(0, true));
  CHECK(mine.is_due(1, true));
}

// Much is done for a group while others have the turn, then a little now and then: the others keep their claims.
TEST(groups, what_is_done_outside_a_turn_takes_nothing_from_the_others) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  for (std::uint32_t group : {0, 1, 2}) turns.push(runnables[group], group);
  turns.groups[0].spend_outside_turn(1, 100'000);
  int seen[3] = {};
  for (int turn = 0; turn < 180; ++turn) {
    Runnable* const runnable = turns.take();
    ++seen[runnable->group];
    turns.groups[0].spend(runnable->group, 1000);
    turns.groups[0].spend_outside_turn(1, 1);
    turns.push(*runnable);
  }
  CHECK_LE(seen[1], 1);
  CHECK_LE(seen[0] - seen[2], 2);
  CHECK_LE(seen[2] - seen[0], 2);
}

TEST(groups, what_is_done_for_a_group_with_nothing_ready_counts_from_now_on) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  turns.push(runnables[2], 2);
  for (int turn = 0; turn < 100; ++turn) {
    turns.push(*turns.take());
    turns.groups[0].spend(2, 1000);
  }
  turns.groups[0].spend_outside_turn(1, 10'000);  // not a part of what group 2 has been ahead
  turns.push(runnables[1], 1);
  for (int turn = 0; turn < 8; ++turn) {
    Runnable* const runnable = turns.take();
    CHECK(runnable->group == 2);
    turns.groups[0].spend(2, 1000);
    turns.push(*runnable);
  }
}

namespace {

// The turns that runnables of each priority had.
struct Had {
  int normal = 0, high = 0, low = 0;
  void count(std::uint32_t group) { ++(is_high(group) ? high : has_priority(group) ? low : normal); }
};

// Takes `count` turns that take `amount` each, and puts each runnable back behind all others.
template <typename Use>
void turn_all(Turns& turns, int count, std::uint64_t amount, Use use) {
  for (int i = 0; i < count; ++i) {
    Runnable* const runnable = turns.take();
    REQUIRE(runnable != nullptr);
    use(runnable->group);
    turns.groups[0].spend(runnable->group, amount);
    turns.push(*runnable);
  }
}

// Queues `each` runnables of each priority in `cage`, from runnables[first] on.
void push_all_priorities(Turns& turns, std::uint32_t cage, unsigned first, unsigned each) {
  CHECK(turns.table.make_priorities(cage));
  for (unsigned i = 0; i < each; ++i) {
    unsigned next = first + 3 * i;
    for (const Priority priority : {Priority::kNormal, Priority::kHigh, Priority::kLow})
      turns.push(runnables[next++], group_with(cage, priority));
  }
}

}  // namespace

TEST(groups, priorities_have_64_parts_8_parts_and_1_part) {
  for (const unsigned each : {1u, 50u}) {
    for (const std::uint64_t amount : {0u, 1u, 1000u}) {
      Turns turns;
      push_all_priorities(turns, 0, 0, each);
      Had had;
      turn_all(turns, 73 * 10, amount, [&](std::uint32_t group) { had.count(group); });
      CHECK_GE(had.low, 10);
      CHECK_LE(had.low, 11);
      CHECK_GE(had.normal, 79);
      CHECK_LE(had.normal, 81);
    }
  }
}

TEST(groups, one_of_low_priority_waits_for_73_turns_at_most) {
  Turns turns;
  push_all_priorities(turns, 0, 0, 50);
  int waited = 0, longest = 0;
  turn_all(turns, 5000, 100, [&](std::uint32_t group) {
    waited = group == group_with(0, Priority::kLow) ? 0 : waited + 1;
    longest = waited > longest ? waited : longest;
  });
  CHECK_LE(longest, 73);
  CHECK_GE(longest, 70);
}

TEST(groups, priorities_in_a_cage_share_the_part_of_the_cage) {
  Turns turns;
  turns.add(1);
  turns.add(2, 1);  // weighs as much as what the cage has of the normal priority
  turns.push(runnables[0], 0);
  turns.push(runnables[1], 2);
  push_all_priorities(turns, 1, 2, 500);
  int outside = 0, inner = 0;
  Had had;
  turn_all(turns, 2 * 81 * 20, 1000, [&](std::uint32_t group) {
    if (group == 0)
      ++outside;
    else if (group == 2)
      ++inner;
    else
      had.count(group);
  });
  CHECK_EQ(outside, 81 * 20);
  CHECK_LE(had.low, 21);
  CHECK_GE(had.low, 20);
  for (const int normal : {had.normal, inner}) {
    CHECK_GE(normal, 8 * 20 - 1);
    CHECK_LE(normal, 8 * 20 + 1);
  }
}

TEST(groups, what_a_priority_has_spent_in_a_cage_is_not_the_next_cages) {
  Turns turns;
  turns.add(1);
  push_all_priorities(turns, 1, 0, 1);
  turn_all(turns, 100, 1000, [](std::uint32_t) {});
  turns.groups[0].spend(group_with(1, Priority::kLow), 1'000'000);
  while (turns.take() != nullptr) {
  }
  turns.add(1);
  push_all_priorities(turns, 1, 0, 1);
  Had had;
  turn_all(turns, 3, 0, [&](std::uint32_t group) { had.count(group); });
  CHECK_EQ(had.low, 1);
}

TEST(groups, a_thief_takes_those_of_high_priority_outside_cages_first) {
  Turns turns;
  Groups& mine = turns.groups[0];
  turns.add(1);
  turns.push(runnables[10], 1);
  CHECK(!turns.table.has_priorities());
  push_all_priorities(turns, 1, 11, 1);
  CHECK(turns.table.has_priorities());
  CHECK(mine.steal_high() == nullptr);  // in the cage alone
  push_all_priorities(turns, 0, 0, 2);
  CHECK(mine.steal_high() == &runnables[1]);
  CHECK(mine.steal_high() == &runnables[4]);
  CHECK(mine.steal_high() == nullptr);
  CHECK_EQ(mine.size(), 6);  // group 0 is not counted
}

TEST(groups, a_cages_number_names_no_priority) {
  Turns turns;
  CHECK(!turns.table.add(kCageMask + 1, 0));
}

// Any members, in any order: the circle gives the member that has spent least, and of equal ones the one that came
// first.
TEST(groups, the_next_turn_goes_to_the_group_that_has_spent_least) {
  constexpr unsigned kMembers = 200;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng = Rng::for_worker(seed, 1);
    static GroupNode circle, members[kMembers];
    bool is_in[kMembers] = {};
    circle.first_member = nullptr;
    std::uint64_t arrivals = 0;
    for (int step = 0; step < 3000; ++step) {
      const auto i = static_cast<std::size_t>(rng.below(kMembers));
      if (is_in[i]) {
        circle.remove_member(members[i]);
      } else {
        members[i].spent.store(rng.below(50));
        circle.add_member(members[i], ++arrivals);
      }
      is_in[i] = !is_in[i];
      const GroupNode* least = nullptr;
      for (unsigned k = 0; k < kMembers; ++k) {
        const GroupNode& other = members[k];
        if (!is_in[k]) continue;
        if (least == nullptr || other.spent_so_far() < least->spent_so_far() ||
            (other.spent_so_far() == least->spent_so_far() && other.arrival < least->arrival))
          least = &other;
      }
      CHECK(circle.first_member == least);
    }
  }
}

TEST(groups, a_group_that_would_be_too_deep_becomes_a_sibling_of_its_parent) {
  Turns turns;
  for (std::uint32_t group = 1; group < 1000; ++group) turns.add(group, group - 1);
  unsigned depth = 0;
  for (const GroupNode* node = &turns.table.of(1, 999).circle; node != nullptr; node = node->parent.load()) ++depth;
  CHECK_EQ(depth, GroupTable::kMaxDepth);
  turns.push(runnables[0], 0);
  turns.push(runnables[1], 999);
  turns.push(runnables[2], 500);
  int seen[1000];
  turns.turn(400, seen);
  CHECK_EQ(seen[0], 200);
  CHECK_EQ(seen[999], 100);
  CHECK_EQ(seen[500], 100);
}

TEST(groups, many_numbers_have_places_of_their_own_on_each_worker) {
  Turns turns;
  for (std::uint32_t group = 1; group < 3000; ++group) turns.add(group);
  for (std::uint32_t group = 1; group < 3000; ++group) {
    for (unsigned worker = 0; worker < kWorkers; ++worker) {
      Group& mine = turns.table.of(worker, group);
      CHECK(mine.circle.first_member == nullptr);
      mine.circle.first_member = &mine.circle;  // marks the place, so that a second group at it would be found
    }
  }
}

TEST(groups, a_group_number_can_be_reused) {
  Turns turns;
  turns.add(1);
  turns.add(2, 1);
  turns.push(runnables[0], 2);
  CHECK(turns.take() == &runnables[0]);
  turns.add(2);  // no longer below group 1
  turns.push(runnables[0], 2);
  turns.push(runnables[1], 1);
  turns.push(runnables[2], 1);
  int seen[3];
  turns.turn(100, seen);
  CHECK_EQ(seen[1], 50);
  CHECK_EQ(seen[2], 50);
}

// take_own() takes a runnable of the same group within the turn, and counts no turn.
TEST(groups, a_group_takes_its_own_runnables_in_order) {
  Turns turns;
  for (std::uint32_t group = 1; group <= 2; ++group) turns.add(group);
  turns.add(3, 1);
  Groups& mine = turns.groups[0];
  CHECK(mine.take_own(1) == nullptr);
  for (unsigned i = 0; i < 3; ++i) turns.push(runnables[i], 1);
  turns.push(runnables[3], 2);
  turns.push(runnables[4], 3);
  for (unsigned i = 0; i < 3; ++i) CHECK(mine.take_own(1) == &runnables[i]);
  CHECK(mine.take_own(1) == nullptr);  // groups below it have turns of their own
  CHECK_EQ(mine.size(), 2);
  CHECK(mine.take_own(3) == &runnables[4]);
  turns.push(runnables[0], 1);
  CHECK(turns.take() == &runnables[3]);  // the others have spent as little, but came later
  CHECK(turns.take() == &runnables[0]);
  CHECK(turns.take() == nullptr);
  CHECK_EQ(mine.size(), 0);
}

TEST(groups, a_thief_takes_turns_of_all_but_group_0) {
  Turns turns;
  turns.add(1);
  turns.add(2);
  turns.push(runnables[0], 0);
  turns.push(runnables[1], 1);
  for (unsigned i = 2; i < 102; ++i) turns.push(runnables[i], 2);
  Runnable* stolen[32];
  REQUIRE(turns.groups[0].steal(stolen, 3) == 3);
  CHECK_EQ(stolen[0]->group, 1u);
  for (unsigned i = 1; i < 3; ++i) CHECK_EQ(stolen[i]->group, 2u);
  CHECK(turns.take() == &runnables[0]);  // group 1's turn is not over
  CHECK_EQ(turns.groups[0].steal(stolen, 32), std::size_t{32});
  CHECK_EQ(turns.groups[0].size(), 101 - 35);
  CHECK_EQ(turns.groups[1].steal(stolen, 32), std::size_t{0});
}

TEST(groups, a_worker_takes_of_a_group_that_it_lacks_if_another_has_several) {
  Turns turns;
  turns.add(1);
  Groups &has = turns.groups[0], &lacks = turns.groups[1];
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  turns.push(runnables[0], 1);
  CHECK(lacks.take_lacking(has, 0) == nullptr);  // it is alone, and waits no less there
  turns.push(runnables[1], 1);
  CHECK(has.take_lacking(lacks, 0) == nullptr);
  CHECK(lacks.take_lacking(has, 1) == nullptr);  // it is running there
  Runnable* const taken = lacks.take_lacking(has, 0);
  REQUIRE(taken == &runnables[0]);
  CHECK_EQ(has.size(), 1);
  turns.push(runnables[2], 1);
  lacks.push(taken);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  CHECK(lacks.take_own(1) == taken);
  CHECK(lacks.take_lacking(has, 0) == &runnables[1]);
}

// The tasks of a cage are in cages of their own, each alone in its own.
TEST(groups, a_worker_takes_of_a_group_that_it_lacks_if_several_wait_below_it) {
  Turns turns;
  for (std::uint32_t group = 1; group < 5; ++group) turns.add(group, group == 1 ? 0 : 1);
  Groups &has = turns.groups[0], &lacks = turns.groups[1];
  turns.push(runnables[2], 2);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  turns.push(runnables[3], 3);
  runnables[4].group = 4;
  lacks.push(&runnables[4]);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  CHECK(lacks.take_own(4) == &runnables[4]);
  CHECK(lacks.take_lacking(has, 0) == &runnables[2]);
}

TEST(groups, a_worker_takes_a_group_if_another_has_two_groups_more) {
  Turns turns;
  for (std::uint32_t group = 1; group < 5; ++group) turns.add(group);
  Groups &has = turns.groups[0], &lacks = turns.groups[1];
  turns.push(runnables[1], 1);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  turns.push(runnables[2], 2);
  runnables[3].group = 3;
  lacks.push(&runnables[3]);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
  turns.push(runnables[4], 4);
  CHECK(lacks.take_lacking(has, 0) == &runnables[1]);
  lacks.push(&runnables[1]);
  CHECK(lacks.take_lacking(has, 0) == nullptr);
}

TEST(groups, a_thief_takes_half) {
  Turns turns;
  turns.add(1);
  for (unsigned i = 0; i < 5; ++i) turns.push(runnables[i], 1);
  Runnable* stolen[32];
  CHECK_EQ(turns.groups[0].steal(stolen, 32), std::size_t{3});
  CHECK_EQ(turns.groups[0].steal(stolen, 32), std::size_t{1});
  CHECK_EQ(turns.groups[0].steal(stolen, 32), std::size_t{1});
  CHECK_EQ(turns.groups[0].steal(stolen, 32), std::size_t{0});
}

// A runnable is in one hand at a time: `held` shows a second taker.
TEST(groups, owner_and_thieves_take_each_once) {
  constexpr unsigned kRunnables = 300, kThieves = 3;
  static std::atomic<int> held[kRunnables];
  Turns turns;
  for (std::uint32_t group = 1; group < 20; ++group) turns.add(group, group / 3);
  for (unsigned i = 0; i < kRunnables; ++i) {
    held[i].store(0);
    turns.push(runnables[i], 1 + i % 19);
  }
  std::atomic<bool> is_over{false};
  Injector returned;
  const auto hold = [&](Runnable* runnable) { CHECK_EQ(held[runnable - runnables].exchange(1), 0); };
  const auto release = [&](Runnable* runnable) { CHECK_EQ(held[runnable - runnables].exchange(0), 1); };
  auto thief = [&] {
    Runnable* stolen[32];
    while (!is_over.load()) {
      const std::size_t count = turns.groups[0].steal(stolen, 32);
      for (std::size_t i = 0; i < count; ++i) hold(stolen[i]);
      for (std::size_t i = 0; i < count; ++i) {
        release(stolen[i]);
        returned.push(stolen[i]);
      }
    }
  };
  ThreadGroup threads;
  for (unsigned i = 0; i < kThieves; ++i) threads.start(thief);
  for (int i = 0; i < 100000; ++i) {
    if (Runnable* const back = returned.take()) turns.push(*back);
    Runnable* const mine = turns.take();
    if (mine == nullptr) continue;
    hold(mine);
    release(mine);
    turns.push(*mine);
  }
  is_over.store(true);
  threads.join();
  unsigned left = 0;
  while (Runnable* const back = returned.take()) hold(back), ++left;
  while (Runnable* const mine = turns.take()) hold(mine), ++left;
  CHECK_EQ(left, kRunnables);
}

}  // namespace janus::test
