// SPDX-License-Identifier: Apache-2.0
// worker_test.cpp — workers and their loop, with jobs that are bare runnables, without task, nursery or budget.
#include "tests/sched/jobs.h"
#include "tests/sched/tally.h"

namespace janus::test {

// --- Beginning and end ---

TEST(worker, any_number_of_them_begins_and_ends) {
  for (unsigned workers : {1u, 2u, 3u, 8u, 64u, 256u}) {
    Yard yard(workers);
    CHECK_EQ(yard.scheduler->worker_count(), workers);
    for (unsigned i = 0; i < workers; ++i) {
      CHECK_EQ(yard.scheduler->worker(i)->id, i);
      CHECK(yard.scheduler->worker(i)->scheduler == yard.scheduler);
    }
  }
}

TEST(worker, numbers_beyond_8_bits_are_told_apart) {
  Yard yard(300, true);
  for (unsigned i = 0; i < 300; ++i) CHECK_EQ(yard.scheduler->worker(i)->id, i);
}

TEST(worker, stopping_wakes_those_that_sleep) {
  for (int i = 0; i < 50; ++i) {
    Yard yard(2);
    if (i % 2 != 0) CHECK(soon([&] { return yard.on_all_idle.load() != 0; }));
  }
}

constexpr unsigned kBurst = 3000;  // stacks: more than the pool keeps in any case

void use_a_burst_of_stacks(StackPool& pool) {
  Stack* chain = nullptr;
  for (unsigned i = 0; i < kBurst; ++i) {
    Stack* const stack = pool.take(nullptr, 0);
    REQUIRE(stack != nullptr);
    stack->next = chain;
    chain = stack;
  }
  while (chain != nullptr) {
    Stack* const stack = chain;
    chain = stack->next;
    pool.give(nullptr, stack);
  }
  CHECK_GE(pool.stacks_cached(), std::size_t{kBurst});
}

TEST(worker, a_resting_program_gives_back_unused_stacks) {
  Yard yard(2);
  use_a_burst_of_stacks(yard.pool());
  yard.inject(jobs[0], finish);  // wakes a worker, which looks again when it goes to sleep a second later
  CHECK(yard.all_done(1));
  CHECK(soon([&] { return yard.pool().stacks_cached() < kBurst / 2; }));
}

TEST(worker, a_program_that_only_polls_by_yields_gives_back_unused_stacks) {
  Yard yard(1);
  use_a_burst_of_stacks(yard.pool());
  yard.inject(jobs[0], [](Job& self) {
    CHECK(soon([&] {
      CHECK(!yield(self));
      return self.yard->pool().stacks_cached() < kBurst / 2;
    }));
    finish(self);
  });
  CHECK(yard.all_done(1));
}

TEST(worker, deterministic_ones_begin_and_end) {
  for (unsigned workers : {1u, 2u, 8u, 256u}) {
    Yard yard(workers, true);
    CHECK(yard.scheduler->is_deterministic());
  }
}

// --- Running ---

TEST(worker, runs_what_comes_from_outside) {
  for (unsigned workers : {1u, 4u}) {
    for (bool deterministic : {false, true}) {
      Yard yard(workers, deterministic);
      for (Job& job : jobs) yard.inject(job, finish);
      CHECK(yard.all_done(kJobs));
    }
  }
}

TEST(worker, runs_what_a_job_spawns_newest_first) {
  static std::uint64_t order[10];
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    for (unsigned i = 1; i <= 10; ++i) {
      spawn(
          jobs[i],
          [](Job& job) {
            order[job.yard->counter.fetch_add(1)] = job.id;
            finish(job);
          },
          *self.yard, i);
    }
    finish(self);
  });
  REQUIRE(yard.all_done(11));
  for (unsigned i = 0; i < 10; ++i) CHECK_EQ(order[i], 10 - i);
}

TEST(worker, yield_tells_whether_another_runnable_ran) {
  for (bool deterministic : {false, true}) {
    Yard yard(1, deterministic);
    yard.inject(jobs[0], [](Job& self) {
      CHECK(!yield(self));
      for (int i = 0; i < 2; ++i) {
        spawn(jobs[1], finish, *self.yard);
        CHECK(yield(self));
        CHECK(!yield(self));
      }
      spawn(
          jobs[2],
          [](Job& other) {
            CHECK(yield(other));
            finish(other);
          },
          *self.yard);
      CHECK(yield(self));
      CHECK(yield(self));
      CHECK(!yield(self));
      finish(self);
    });
    CHECK(yard.all_done(4));
  }
}

// A worker takes from its own deque first, then from the shared injector, then from other workers.
TEST(worker, looks_at_its_own_first_then_at_what_is_shared_then_at_others) {
  static unsigned order[20];
  static constexpr auto note = [](Job& job) {
    order[job.yard->counter.fetch_add(1)] = static_cast<unsigned>(job.id);
    finish(job);
  };
  {
    Yard yard(1);
    yard.inject(jobs[0], [](Job& self) {
      for (unsigned i = 10; i < 20; ++i) self.yard->inject(jobs[1 + i], note, i);
      for (unsigned i = 0; i < 10; ++i) spawn(jobs[1 + i], note, *self.yard, 9 - i);
      finish(self);
    });
    REQUIRE(yard.all_done(21));
    for (unsigned i = 0; i < 20; ++i) CHECK_EQ(order[i], i);
  }
  Yard yard(2);
  yard.inject(jobs[0], [](Job& self) {
    // Job 1 keeps the other worker busy until everything is queued.
    Yard& here = *self.yard;
    here.inject(jobs[1], [](Job& other) {
      Yard& there = *other.yard;
      there.other.store(1);
      CHECK(soon([&] { return there.other.load() == 2; }));
      finish(other);
    });
    CHECK(soon([&] { return here.other.load() == 1; }));
    for (unsigned i = 10; i < 20; ++i) spawn(jobs[2 + i], note, here, i);
    for (unsigned i = 0; i < 10; ++i) here.inject(jobs[2 + i], note, i);
    here.other.store(2);
    CHECK(soon([&] { return here.counter.load() == 20; }));
    finish(self);
  });
  CHECK(yard.all_done(22));
  for (unsigned i = 0; i < 20; ++i) CHECK_EQ(order[i], i);
}

// Workers are threads: each of four jobs keeps its worker until all four have begun.
TEST(worker, as_many_jobs_run_at_once_as_there_are_workers) {
  Yard yard(4);
  for (unsigned i = 0; i < 4; ++i) {
    yard.inject(jobs[i], [](Job& self) {
      Yard& here = *self.yard;
      here.counter.fetch_add(1);
      CHECK(soon([&] { return here.counter.load() == 4; }));
      finish(self);
    });
  }
  CHECK(yard.all_done(4));
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < i; ++j) CHECK_NE(jobs[i].worker_at_start, jobs[j].worker_at_start);
}

TEST(worker, no_job_is_preempted) {
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    spawn(jobs[1], finish, *self.yard);
    const std::uint64_t until = platform::now_ns() + 30'000'000;
    while (platform::now_ns() < until) __builtin_ia32_pause();
    CHECK_EQ(self.yard->done.load(), 0);
    finish(self);
  });
  CHECK(yard.all_done(2));
}

TEST(worker, runnables_that_yield_take_turns) {
  static std::atomic<int> progress[3];
  static std::atomic<int> widest;
  widest.store(0);
  for (auto& p : progress) p.store(0);
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    for (unsigned i = 0; i < 3; ++i) {
      spawn(
          jobs[1 + i],
          [](Job& job) {
            job.yard->counter.fetch_add(1);
            while (job.yard->counter.load() < 3) yield(job);  // until all jobs have started
            for (int n = 0; n < 500; ++n) {
              const int mine = progress[job.id].fetch_add(1) + 1;
              for (const auto& p : progress) {
                if (mine - p.load() > widest.load()) widest.store(mine - p.load());
              }
              yield(job);
            }
            finish(job);
          },
          *self.yard, i);
    }
    finish(self);
  });
  CHECK(yard.all_done(4));
  CHECK_LE(widest.load(),
           12);  // each 61st dispatch takes the oldest, so the rotation shifts a little
}

TEST(worker, a_job_that_yields_alone_goes_on) {
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    for (int i = 0; i < 10000; ++i) yield(self);
    finish(self);
  });
  CHECK(yard.all_done(1));
}

TEST(worker, a_parked_job_comes_back_when_woken_from_outside) {
  for (bool deterministic : {false, true}) {
    Yard yard(2, deterministic);
    yard.inject(jobs[0], [](Job& self) {
      for (int i = 0; i < 200; ++i) {
        self.yard->counter.fetch_add(1);
        park(self);
      }
      finish(self);
    });
    for (int i = 1; i <= 200; ++i) {
      CHECK(soon([&] { return yard.counter.load() == i; }));
      wake(nullptr, jobs[0]);  // before or after the job has left its stack
    }
    CHECK(yard.all_done(1));
  }
}

// Reading a worker's pointer from another thread is a data race that only this test makes.
__attribute__((no_sanitize("thread"))) static bool holds_a_job(const Worker& worker) {
  return *const_cast<void* const volatile*>(&worker.task) != nullptr;
}

TEST(worker, holds_no_pointer_to_a_job_that_has_given_way) {
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    for (int i = 0; i < 20; ++i) {
      if (i != 0) CHECK(current_worker().task == static_cast<Runnable*>(&self));  // it was resumed
      self.yard->counter.fetch_add(1);
      park(self);
    }
    finish(self);
  });
  const Worker& worker = *yard.scheduler->worker(0);
  bool is_right = true;
  for (int i = 1; i <= 20; ++i) {
    CHECK(soon([&] { return yard.counter.load() == i && jobs[0].parked.load() == 1; }));
    is_right = is_right && CHECK(soon([&] { return !holds_a_job(worker); }));
    wake(nullptr, jobs[0]);
  }
  CHECK(yard.all_done(1));
  if (is_right) CHECK(soon([&] { return !holds_a_job(worker); }));  // nor after the last job has ended
}

TEST(worker, names_the_job_that_runs_and_not_the_one_that_has_yielded) {
  static constexpr auto yield_often = [](Job& self) {
    for (int i = 0; i < 20; ++i) {
      if (i != 0) CHECK(current_worker().task == static_cast<Runnable*>(&self));
      (void)yield(self);
    }
    finish(self);
  };
  Yard yard(1);
  yard.inject(jobs[0], [](Job& self) {
    spawn(jobs[1], yield_often, *self.yard);  // before the first yield, so that each of them is resumed
    yield_often(self);
  });
  CHECK(yard.all_done(2));
}

TEST(worker, partners_that_wake_each_other_never_miss) {
  for (unsigned workers : {1u, 2u, 4u}) {
    for (bool deterministic : {false, true}) {
      Yard yard(workers, deterministic);
      // The jobs pass a number to and fro: the one whose turn it is adds 1 and wakes the other.
      constexpr auto play = [](Job& self) {
        Yard& yard = *self.yard;
        for (;;) {
          const int at = yard.counter.load();
          if (at >= 2000) break;
          if (at % 2 != static_cast<int>(self.id)) {
            park(self);
            continue;
          }
          yard.counter.store(at + 1);
          wake(&current_worker(), jobs[1 - self.id]);
        }
        finish(self);
      };
      yard.prepare(jobs[0], play, 0);
      yard.prepare(jobs[1], play, 1);
      yard.scheduler->inject(&jobs[0]);
      yard.scheduler->inject(&jobs[1]);
      CHECK(yard.all_done(2));
    }
  }
}

// --- Stealing ---

TEST(worker, others_steal_from_a_worker_whose_job_does_not_yield) {
  for (Victim victim : {Victim::kRandom, Victim::kRoundRobin, Victim::kMinLoaded}) {
    Yard yard(4, false, 1, victim);
    yard.inject(jobs[0], [](Job& self) {
      Yard& here = *self.yard;
      for (unsigned i = 1; i <= 200; ++i) spawn(jobs[i], finish, here);
      CHECK(soon([&] { return here.done.load() == 200; }));
      for (unsigned i = 1; i <= 200; ++i) CHECK_NE(jobs[i].worker_at_start, current_worker().id);
      finish(self);
    });
    CHECK(yard.all_done(201));
  }
}

TEST(worker, a_runnable_woken_by_a_busy_one_is_stolen) {
  Yard yard(2);
  yard.inject(jobs[0], [](Job& self) {
    park(self);
    finish(self);
  });
  CHECK(soon([&] { return jobs[0].parked.load() == 1; }));
  yard.inject(jobs[1], [](Job& self) {
    wake(&current_worker(), jobs[0]);
    CHECK(soon([&] { return self.yard->done.load() == 1; }));
    finish(self);
  });
  CHECK(yard.all_done(2));
}

TEST(worker, a_runnable_that_yielded_behind_a_busy_one_is_stolen) {
  Yard yard(2);
  yard.inject(jobs[0], [](Job& self) {
    spawn(
        jobs[1],
        [](Job& hog) {
          hog.yard->counter.fetch_add(1);
          CHECK(soon([&] { return hog.yard->other.load() == 1; }));
          finish(hog);
        },
        *self.yard);
    while (self.yard->counter.load() == 0) yield(self);
    self.yard->other.store(1);
    finish(self);
  });
  CHECK(yard.all_done(2));
}

// As a task whose every slice ends with nothing else ready.
void be_busy(Job& self) {
  Dispatcher& dispatcher = self.yard->scheduler->dispatcher();
  while (self.yard->other.load() == 0) {
    self.yard->counter.fetch_add(1);
    if (!dispatcher.has_ready(current_worker())) dispatcher.go_on_alone(current_worker(), 0);
    yield(self);
  }
  finish(self);
}

TEST(worker, what_waits_behind_one_that_stands_still_is_run_by_a_busy_one) {
  Yard yard(2);
  yard.inject(jobs[0], be_busy);
  yard.inject(jobs[1], [](Job& self) {
    Yard& here = *self.yard;
    const int before = here.counter.load();
    CHECK(soon([&] { return here.counter.load() > before + 10; }));  // the other worker is busy
    spawn(jobs[2], finish, here);
    CHECK(soon([&] { return here.done.load() == 1; }));
    here.other.store(1);
    finish(self);
  });
  CHECK(yard.all_done(3));
}

TEST(worker, each_strategy_spreads_work_over_all) {
  for (Victim victim : {Victim::kRandom, Victim::kRoundRobin, Victim::kMinLoaded}) {
    Yard yard(8, true, 3, victim);
    yard.inject(jobs[0], [](Job& self) {
      for (unsigned i = 1; i <= 500; ++i) {
        spawn(
            jobs[i],
            [](Job& job) {
              for (int n = 0; n < 12; ++n) yield(job);
              finish(job);
            },
            *self.yard);
      }
      finish(self);
    });
    CHECK(yard.all_done(501));
    bool ran[8] = {};
    for (unsigned i = 1; i <= 500; ++i) ran[jobs[i].worker_at_start] = true;
    for (const bool r : ran) CHECK(r);
  }
}

// --- Idleness ---

TEST(worker, idle_ones_come_to_rest) {
  Yard yard(4);
  for (unsigned i = 0; i < 200; ++i) yard.inject(jobs[i], finish);
  REQUIRE(yard.all_done(200));
  const auto activity = [&] {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const Counters& counters = yard.scheduler->worker(i)->counters;
      sum += counters.parks.read() + counters.wakes.read() + counters.steals_failed.read();
    }
    return sum;
  };
  // After a few timed sleeps no counter changes any more.
  CHECK(soon([&] {
    const std::uint64_t before = activity();
    const std::uint64_t until = platform::now_ns() + 50'000'000;
    while (platform::now_ns() < until) __builtin_ia32_pause();
    return activity() == before;
  }));
}

// While another one runs a job for long, an idle worker looks once in a millisecond for a while, and then no more.
TEST(worker, an_idle_one_looks_seldom_while_another_works_for_long) {
  Yard yard(2);
  yard.inject(jobs[0], [](Job& self) {
    while (self.yard->counter.load() == 0) __builtin_ia32_pause();
    finish(self);
  });
  CHECK(soon([&] { return jobs[0].yard->scheduler->idle_workers().set().sleeping() == 1; }));
  const auto looks = [&] {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 2; ++i) sum += yard.scheduler->worker(i)->counters.parks.read();
    return sum;
  };
  const std::uint64_t before = looks(), from = platform::now_ns();
  while (platform::now_ns() - from < 50'000'000) __builtin_ia32_pause();
  CHECK_LE(looks() - before, 10u);
  yard.counter.store(1);
  CHECK(yard.all_done(1));
}

TEST(worker, the_last_to_sleep_finds_out_that_nothing_runs) {
  for (bool deterministic : {false, true}) {
    for (unsigned workers : {1u, 2u, 8u}) {
      Yard yard(workers, deterministic);
      CHECK(soon([&] { return yard.on_all_idle.load() != 0; }));
      yard.inject(jobs[0], [](Job& self) {
        self.yard->on_all_idle.store(0);
        park(self);
        finish(self);
      });
      CHECK(soon([&] { return jobs[0].parked.load() == 1 && yard.on_all_idle.load() != 0; }));
      wake(nullptr, jobs[0]);
      CHECK(yard.all_done(1));
    }
  }
}

// all_slept_since() must be false while a job runs that was taken from the injector during the idle look.
TEST(worker, no_job_runs_when_all_workers_have_slept_since) {
  constexpr int kRounds = 100, kEnough = 5;
  Yard yard(2);
  yard.patience_ns.store(500'000'000);
  int met = 0;
  for (int i = 1; i <= kRounds && met < kEnough; ++i) {
    REQUIRE(soon([&] {
      if (yard.looking.load() != 0) return true;
      if (yard.on_all_idle.exchange(0) != 0)
        yard.scheduler->idle_workers().request_attention();  // the look is over: start another
      return false;
    }));
    yard.inject(jobs[0], [](Job& self) {
      self.yard->running.store(1);
      self.yard->counter.store(self.yard->looking.load());
      (void)soon([&] { return self.yard->looking.load() == 0; });
      self.yard->running.store(0);
      finish(self);
    });
    yard.scheduler->idle_workers().request_attention();  // in case the looking worker was claimed first
    REQUIRE(yard.all_done(i));
    met += yard.counter.load();
  }
  CHECK_EQ(met, kEnough);
}

TEST(worker, attention_is_served_even_if_all_workers_sleep) {
  for (bool deterministic : {false, true}) {
    Yard yard(3, deterministic);
    for (int i = 1; i <= 20; ++i) {
      yard.scheduler->idle_workers().request_attention();
      CHECK(soon([&] { return yard.attended.load() >= i; }));
    }
  }
}

TEST(worker, attention_requested_while_workers_fall_asleep_is_not_lost) {
  const int rounds = static_cast<int>(scaled(20000, 200));
  for (unsigned workers : {1u, 2u}) {
    Yard yard(workers);
    std::uint64_t pause = 1;
    for (int i = 1; i <= rounds; ++i) {
      yard.scheduler->idle_workers().request_attention();
      REQUIRE(soon([&] { return yard.attended.load() >= i; }));
      pause = pause * 6364136223846793005u + 1;  // varies where the request meets the worker on its way to sleep
      for (std::uint64_t n = pause >> 60; n != 0; --n) __builtin_ia32_pause();
    }
  }
}

// --- Deterministic mode ---

namespace {

std::uint64_t order_of(unsigned workers, std::uint64_t seed) {
  Yard yard(workers, true, seed);
  yard.inject(
      jobs[0],
      [](Job& self) {
        for (unsigned i = 1; i <= 100; ++i) {
          spawn(
              jobs[i],
              [](Job& job) {
                for (std::uint64_t n = job.id % 5; n != 0; --n) yield(job);
                finish(job);
              },
              *self.yard, i);
          if (i % 10 == 0) yield(self);
        }
        finish(self);
      },
      1000);
  CHECK(yard.all_done(101));
  return yard.scheduler->order_hash();
}

}  // namespace

TEST(deterministic, one_seed_gives_one_order) {
  for (unsigned workers : {1u, 2u, 4u, 8u}) {
    const std::uint64_t first = order_of(workers, 9);
    for (int i = 0; i < 20; ++i) CHECK_EQ(order_of(workers, 9), first);
  }
}

TEST(deterministic, seeds_give_orders_of_their_own) {
  std::uint64_t seen[10];
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    seen[seed] = order_of(4, seed);
    for (std::uint64_t i = 0; i < seed; ++i) CHECK_NE(seen[i], seen[seed]);
  }
}

}  // namespace janus::test
