// SPDX-License-Identifier: Apache-2.0
// victims_test.cpp — which victim an idle worker tries first, by each strategy. The workers are logical ones of the
// deterministic mode: while one runs its job, the others stand still.
#include "tests/sched/jobs.h"
#include "tests/sched/tally.h"

using namespace janus;
using namespace janus::test;

namespace {

constexpr unsigned kWorkers = 6;
constexpr unsigned kNobody = ~0u;

// The jobs that the only running worker puts into the sleeping workers' deques, and the victim that it then robs first.
struct Robbery {
  unsigned jobs_of_others, jobs_of_fullest;
  unsigned thief = kNobody, fullest = kNobody, next = kNobody, first_robbed = kNobody;
};
Robbery robbery;

bool sleeps_for_good(const Worker& worker) {
  return worker.is_parked && !worker.has_token.load() && worker.parked_until_ns == platform::kForever;
}

void lay_out(Job& self) {
  Worker& me = current_worker();
  Scheduler& scheduler = *self.yard->scheduler;
  const auto others_sleep = [&] {
    for (unsigned i = 0; i < kWorkers; ++i) {
      if (i != me.id && !sleeps_for_good(*scheduler.worker(i))) return false;
    }
    return true;
  };
  while (!others_sleep()) scheduler.sched_point();
  robbery.thief = me.id;
  robbery.fullest = (me.id + 3) % kWorkers;
  robbery.next = (me.next_victim + 1) % kWorkers;
  if (robbery.next == me.id) robbery.next = (robbery.next + 1) % kWorkers;
  unsigned job = 1;
  for (unsigned i = 0; i < kWorkers; ++i) {
    const unsigned count = i == me.id ? 0 : i == robbery.fullest ? robbery.jobs_of_fullest : robbery.jobs_of_others;
    for (unsigned n = 0; n < count; ++n, ++job) {
      self.yard->prepare(
          jobs[job],
          [](Job& stolen) {
            if (robbery.first_robbed == kNobody) robbery.first_robbed = static_cast<unsigned>(stolen.id);
            finish(stolen);
          },
          i);
      CHECK(scheduler.worker(i)->ready.push(Entry::fresh(&jobs[job])));
    }
  }
}

Robbery rob(Victim victim, std::uint64_t seed, unsigned jobs_of_others, unsigned jobs_of_fullest) {
  robbery = {jobs_of_others, jobs_of_fullest};
  Yard yard(kWorkers, true, seed, victim);
  // Wait for the idle state: by then each worker has drawn the same number of random numbers, however late the job
  // comes.
  CHECK(soon([&] { return yard.on_all_idle.load() != 0; }));
  yard.inject(jobs[0], [](Job& self) {
    lay_out(self);
    finish(self);
  });
  CHECK(yard.all_done(static_cast<int>(1 + (kWorkers - 2) * jobs_of_others + jobs_of_fullest)));
  return robbery;
}

std::uint64_t seeds() {
  return scaled(64, 24);
}

// The number of steal attempts of all workers.
std::uint64_t asked(Scheduler& scheduler) {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < kWorkers; ++i) {
    const Counters& counters = scheduler.worker(i)->counters;
    count += counters.steals.read() + counters.steals_failed.read();
  }
  return count;
}

}  // namespace

TEST(victims, by_load_the_fullest_is_asked_first) {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const Robbery seen = rob(Victim::kMinLoaded, seed, 2, 3);
    CHECK_EQ(seen.first_robbed, seen.fullest);
  }
}

TEST(victims, round_robin_asks_the_victim_after_the_last_first) {
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const Robbery seen = rob(Victim::kRoundRobin, seed, 1, 1);
    CHECK_EQ(seen.first_robbed, seen.next);
  }
}

TEST(victims, by_chance_each_of_the_others_is_asked_first_at_times) {
  unsigned times[kWorkers] = {};
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const Robbery seen = rob(Victim::kRandom, seed, 1, 1);
    REQUIRE(seen.first_robbed < kWorkers);
    ++times[(seen.first_robbed + kWorkers - seen.thief) % kWorkers];
  }
  CHECK_EQ(times[0], 0u);  // a worker never tries itself
  for (unsigned away = 1; away < kWorkers; ++away) {
    CHECK_GE(times[away], seeds() / 20);
    CHECK_LE(times[away], seeds() / 2);
  }
}

// Where nothing can be stolen: four attempts by the strategy, then each other worker once before the thief sleeps.
TEST(victims, a_round_asks_four_and_then_everybody_once) {
  static std::atomic<unsigned> searcher;
  static std::atomic<std::uint64_t> failed_before;
  static std::atomic<int> idle_before;
  for (const Victim victim : {Victim::kRandom, Victim::kRoundRobin}) {
    for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
      Yard yard(kWorkers, true, seed, victim);
      yard.inject(jobs[0], [](Job& self) {
        robbery = {0, 0};
        lay_out(self);
        searcher = current_worker().id;
        failed_before = current_worker().counters.steals_failed.read();
        idle_before = self.yard->on_all_idle.load();
        finish(self);  // last: the values above may be read after this
      });
      REQUIRE(soon([&] { return yard.done.load() == 1 && yard.on_all_idle.load() > idle_before.load(); }));
      const std::uint64_t failed =
          yard.scheduler->worker(searcher.load())->counters.steals_failed.read() - failed_before.load();
      // Round robin passes over the thief itself, which may cost it one attempt.
      CHECK_LE(failed, 4 + (kWorkers - 1));
      CHECK_GE(failed, 4 + (kWorkers - 1) - (victim == Victim::kRoundRobin ? 1 : 0));
    }
  }
}

TEST(victims, without_stealing_no_victim_is_asked) {
  static std::atomic<std::uint64_t> asked_before;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    Yard yard(kWorkers, true, seed);
    yard.inject(jobs[0], [](Job& self) {
      Scheduler& scheduler = *self.yard->scheduler;
      for (unsigned i = 0; i < kWorkers; ++i) scheduler.worker(i)->is_steal_enabled = false;
      asked_before = asked(scheduler);
      for (unsigned i = 1; i <= 50; ++i) spawn(jobs[i], finish, *self.yard);
      finish(self);
    });
    REQUIRE(yard.all_done(51));
    CHECK_EQ(asked(*yard.scheduler), asked_before.load());
  }
}
