// SPDX-License-Identifier: Apache-2.0
// fairness_test.cpp — one worker, a waiting job, and hostile jobs that try to keep it from running. The wait is
// bounded, and is measured in ops, never in time.
#include "tests/sched/jobs.h"

namespace janus::test {

namespace {

constexpr std::int64_t kSlice = 1024;  // fair_ops of a Yard, and the most that a job spends between two dispatches
constexpr int kTurns = 200;            // of the measured neighbour
// The bound of INVARIANT everyone-has-a-turn, with the cost of one dispatch added to each of its two terms.
constexpr std::int64_t kBound = 3 * (kSlice + kSlice + 2 * 17);

// The ops that all jobs of the worker have spent.
std::int64_t spent;

void spend(std::int64_t ops) {
  count_ops(current_worker(), ops);
  spent += ops;
}

// --- The measured neighbour ---

struct Waits {
  std::int64_t longest = 0, own = 0, total = 0;
};
Waits waits;

// Measures the ops that other jobs spend between two turns of the neighbour; its own ops do not count.
class Stopwatch {
 public:
  void stopped() { since_ = spent; }
  void goes_on() {
    if (spent - since_ > waits.longest) waits.longest = spent - since_;
  }

 private:
  std::int64_t since_ = spent;
};

enum class Neighbour { kSpinner, kTalker, kInjected };

// A neighbour that uses up its slices.
void spinner(Job& self) {
  Stopwatch watch;
  const std::int64_t start = spent;
  for (int i = 0; i < kTurns; ++i) {
    watch.goes_on();
    spend(kSlice);
    waits.own += kSlice;
    watch.stopped();
    yield(self);
  }
  waits.total = spent - start;
  self.yard->other.fetch_add(1);
  finish(self);
}

// Two neighbours that wake each other.
template <int kMine, int kOther>
void talker(Job& self) {
  Stopwatch watch;
  const std::int64_t start = spent;
  for (int i = 0; i < kTurns; ++i) {
    watch.goes_on();
    spend(100);
    waits.own += 100;
    watch.stopped();
    wake(&current_worker(), jobs[kOther]);
    if (i + 1 < kTurns) park(self);
  }
  waits.total = spent - start;
  self.yard->other.fetch_add(1);
  finish(self);
}

// A neighbour that is injected from outside again and again.
void injected(Job& self) {
  static int turns;
  static std::int64_t stopped_at, start;
  if (turns == 0) start = spent;
  if (turns != 0 && spent - stopped_at > waits.longest) waits.longest = spent - stopped_at;
  if (++turns == kTurns) {
    turns = 0;
    waits.total = spent - start;
    self.yard->other.fetch_add(1);
    return finish(self);
  }
  spend(100);
  waits.own += 100;
  stopped_at = spent;
  self.yard->inject(self, injected);
}

// --- Hostile jobs ---

enum class Hostile { kSpinners, kChain, kManyChains, kTalkers, kInjected, kEmptyChain };

// True when the measured neighbours have had all their turns.
bool is_over(const Job& self) {
  return self.yard->other.load() >= self.yard->counter.load();
}

void hostile_spinner(Job& self) {
  while (!is_over(self)) {
    spend(kSlice);
    yield(self);
  }
  finish(self);
}

// A job that spawns its successor as its last act, in its own record.
template <std::int64_t kOps>
void chain(Job& self) {
  spend(kOps);
  is_over(self) ? finish(self) : spawn(self, chain<kOps>, *self.yard);
}

template <int kOther>
void hostile_talker(Job& self) {
  while (!is_over(self)) {
    spend(1000);
    wake(&current_worker(), jobs[kOther]);
    park(self);
  }
  wake(&current_worker(), jobs[kOther]);
  finish(self);
}

void hostile_injected(Job& self) {
  spend(1000);
  is_over(self) ? finish(self) : self.yard->inject(self, hostile_injected);
}

// Runs one neighbour beside hostile jobs on one worker; the measurements are in `waits`.
void run_beside(Neighbour neighbour, Hostile hostile) {
  waits = {};
  spent = 0;
  static Neighbour who;
  static Hostile whom;
  who = neighbour, whom = hostile;
  Yard yard(1);
  yard.counter.store(neighbour == Neighbour::kTalker ? 2 : 1);  // the number of neighbours that must finish
  yard.inject(jobs[0], [](Job& self) {
    Yard& here = *self.yard;
    switch (whom) {
      case Hostile::kSpinners:
        spawn(jobs[10], hostile_spinner, here);
        break;
      case Hostile::kChain:
        spawn(jobs[10], chain<1000>, here);
        break;
      case Hostile::kManyChains:
        spawn(jobs[10], chain<1000>, here);
        spawn(jobs[11], chain<3>, here);
        break;
      case Hostile::kTalkers:
        spawn(jobs[10], hostile_talker<11>, here);
        spawn(jobs[11], hostile_talker<10>, here);
        break;
      case Hostile::kInjected:
        here.inject(jobs[10], hostile_injected);
        here.inject(jobs[11], hostile_injected);
        break;
      case Hostile::kEmptyChain:
        spawn(jobs[10], chain<0>, here);
        break;
    }
    if (who == Neighbour::kSpinner) spawn(jobs[1], spinner, here);
    if (who == Neighbour::kInjected) here.inject(jobs[1], injected);
    if (who == Neighbour::kTalker) {
      spawn(jobs[1], talker<1, 2>, here);
      spawn(jobs[2], talker<2, 1>, here);
    }
    (void)self;
  });
  const bool are_two = hostile == Hostile::kManyChains || hostile == Hostile::kTalkers || hostile == Hostile::kInjected;
  CHECK(yard.all_done(yard.counter.load() + (are_two ? 2 : 1)));
}

}  // namespace

TEST(fairness, every_wait_is_bounded_in_ops) {
  for (const Neighbour neighbour : {Neighbour::kSpinner, Neighbour::kTalker, Neighbour::kInjected}) {
    for (const Hostile hostile : {Hostile::kSpinners, Hostile::kChain, Hostile::kManyChains, Hostile::kTalkers,
                                  Hostile::kInjected, Hostile::kEmptyChain}) {
      run_beside(neighbour, hostile);
      // The neighbour's own queue holds two hostile jobs of its kind (k in the invariant).
      CHECK_LE(waits.longest, 3 * kBound);
    }
  }
}

// A spinner beside hostile jobs gets at least two fifths of the ops that are spent; its fair share is half.
TEST(fairness, a_spinner_gets_its_share_beside_any_neighbour) {
  for (const Hostile hostile :
       {Hostile::kSpinners, Hostile::kChain, Hostile::kManyChains, Hostile::kTalkers, Hostile::kEmptyChain}) {
    run_beside(Neighbour::kSpinner, hostile);
    CHECK_GE(waits.own * 5, waits.total * 2);
    CHECK_LE(waits.longest, kBound);
  }
  run_beside(Neighbour::kSpinner, Hostile::kInjected);
  CHECK_GE(waits.own * 5, waits.total * 2);
}

TEST(fairness, the_oldest_spawned_task_starts_though_newer_ones_wait) {
  static std::int64_t started_at;
  spent = started_at = 0;
  Yard yard(1);
  yard.counter.store(1);
  yard.inject(jobs[0], [](Job& self) {
    const auto oldest = [](Job& job) {
      started_at = spent;
      job.yard->other.fetch_add(1);
      finish(job);
    };
    spawn(jobs[1], oldest, *self.yard);
    spawn(jobs[10], chain<1000>, *self.yard);
  });
  CHECK(yard.all_done(2));
  CHECK_GT(started_at, 0);  // the newer jobs start first
  CHECK_LE(started_at, kBound);
}

// Jobs that spend no ops: a round also ends after a number of dispatches.
TEST(fairness, empty_jobs_do_not_lengthen_a_round) {
  run_beside(Neighbour::kSpinner, Hostile::kEmptyChain);
  CHECK_EQ(waits.longest, 0);  // the others spend nothing
  Yard yard(1);
  static int links_between, most;
  links_between = most = 0;
  yard.counter.store(1);
  yard.inject(jobs[0], [](Job& self) {
    struct Link {
      static void run(Job& link) {
        ++links_between;
        is_over(link) ? finish(link) : spawn(link, run, *link.yard);
      }
    };
    spawn(jobs[10], Link::run, *self.yard);
    for (int i = 0; i < kTurns; ++i) {
      links_between = 0;
      yield(self);
      if (links_between > most) most = links_between;
    }
    self.yard->other.fetch_add(1);
    finish(self);
  });
  CHECK(yard.all_done(2));
  CHECK_LE(most, 2 * 61);
}

// Two jobs that only yield spend no ops, and one of them is always ready.
TEST(fairness, two_tasks_that_only_yield_do_not_delay_tasks_from_outside) {
  static int turns;
  turns = 0;
  Yard yard(1);
  yard.counter.store(1);
  yard.inject(jobs[0], [](Job& self) {
    Yard& here = *self.yard;
    spawn(
        jobs[1],
        [](Job& other) {
          while (!is_over(other)) yield(other);
          finish(other);
        },
        here);
    yield(self);
    here.inject(jobs[2], [](Job& outsider) {
      outsider.yard->other.fetch_add(1);
      finish(outsider);
    });
    for (; !is_over(self) && turns < 100'000; ++turns) yield(self);
    here.other.store(here.counter.load());
    finish(self);
  });
  CHECK(yard.all_done(3));
  CHECK_LE(turns, 3 * 61);
}

// A worker forgets a group that has ended within two fair rounds, however many jobs wait in its deque.
TEST(fairness, a_group_that_is_gone_is_soon_forgotten) {
  constexpr unsigned kFirst = 10, kLater = 400;
  static unsigned remembered;
  remembered = 0;
  Yard yard(1);
  CHECK(yard.scheduler->dispatcher().add_group(1, 0));
  yard.inject(jobs[0], [](Job& self) {
    Yard& here = *self.yard;
    CHECK(!current_worker().has_other_groups());
    for (unsigned i = 0; i < kLater; ++i) {
      spawn(
          jobs[kFirst + i],
          [](Job& later) {
            remembered += current_worker().has_other_groups();
            finish(later);
          },
          here);
    }
    here.prepare(jobs[1], [](Job& guest) {
      Scheduler::begin_slice_of_group(current_worker(), guest.group);
      CHECK(current_worker().has_other_groups());
      finish(guest);
    });
    jobs[1].group = 1;
    here.scheduler->push_fresh(current_worker(), &jobs[1]);
    finish(self);
  });
  CHECK(yard.all_done(2 + kLater));
  jobs[1].group = 0;
  CHECK_GT(remembered, 0u);
  CHECK_LE(remembered, 2 * 61u);
}

}  // namespace janus::test
