// SPDX-License-Identifier: Apache-2.0
// waiting_test.cpp — the injector, the parker and the set of sleeping workers.
#include "rt/sched/idle.h"
#include "rt/sched/injector.h"
#include "rt/sched/parker.h"
#include "tests/harness/thread_group.h"
#include "tests/sched/tally.h"

namespace janus::test {

TEST(injector, first_in_first_out) {
  Injector injector;
  Runnable runnables[10] = {};
  CHECK(injector.take() == nullptr);
  for (auto& r : runnables) injector.push(&r);
  CHECK_EQ(injector.size(), 10u);
  for (auto& r : runnables) CHECK(injector.take() == &r);
  CHECK(injector.is_empty());
  CHECK(injector.take() == nullptr);
}

TEST(injector, each_entry_pushed_by_several_threads_is_taken_once) {
  static Runnable runnables[4][1000];
  Injector injector;
  for (auto& row : runnables)
    for (auto& r : row) r.stack_class = 0;
  std::atomic<int> taken{0};
  std::atomic<unsigned> next{0};
  auto pusher = [&] {
    for (auto& r : runnables[next.fetch_add(1)]) injector.push(&r);
  };
  auto taker = [&] {
    while (taken.load() < 4000) {
      Runnable* const r = injector.take();
      if (r == nullptr) continue;
      CHECK_EQ(r->stack_class, 0u);
      r->stack_class = 1;
      taken.fetch_add(1);
    }
  };
  ThreadGroup threads;
  for (int i = 0; i < 4; ++i) threads.start(pusher);
  for (int i = 0; i < 2; ++i) threads.start(taker);
  threads.join();
  CHECK_EQ(taken.load(), 4000);
  CHECK(injector.is_empty());
}

TEST(parker, a_token_left_before_park_is_not_lost) {
  Parker parker;
  parker.unpark();
  CHECK(parker.park(platform::kForever));
}

TEST(parker, tokens_do_not_add_up) {
  Parker parker;
  parker.unpark();
  parker.unpark();
  CHECK(parker.park(platform::kForever));
  CHECK(!parker.park(platform::now_ns() + 1000000));
}

TEST(parker, no_unpark_is_lost_between_two_threads) {
  Parker here, there;
  constexpr int kTurns = 2000;
  auto other = [&] {
    for (int i = 0; i < kTurns; ++i) {
      while (!there.park(platform::kForever)) {
      }
      here.unpark();
    }
  };
  ThreadGroup threads;
  threads.start(other);
  for (int i = 0; i < kTurns; ++i) {
    there.unpark();
    while (!here.park(platform::kForever)) {
    }
  }
}

TEST(idle, a_submit_wakes_somebody_only_if_one_sleeps_and_none_searches) {
  IdleSet idle;
  idle.init(3, 3);
  CHECK(!idle.has_sleeper());
  CHECK(!idle.is_last(idle.enter(1, false, false)));
  CHECK(idle.has_sleeper());
  CHECK(idle.wants_wake(Work::kFresh));
  CHECK(idle.begin_search());
  CHECK(!idle.wants_wake(Work::kFresh));
  CHECK(idle.end_search());  // the last searcher, and another worker sleeps
  CHECK_EQ(idle.claim(), 1u);
  CHECK(!idle.wants_wake(Work::kFresh));  // a claimed worker counts as searching
  CHECK(!idle.leave(1, false));
  CHECK(!idle.end_search());
  CHECK_EQ(idle.sleeping(), 0u);
}

TEST(idle, a_searcher_that_stays_awake_goes_on_searching) {
  IdleSet idle;
  idle.init(3, 3);
  idle.enter(0, false, false);
  CHECK(idle.begin_search());
  idle.enter(1, true, false);
  CHECK(idle.wants_wake(Work::kFresh));  // a worker that takes its last look does not count as searching
  CHECK(idle.leave(1, true));
  CHECK(!idle.wants_wake(Work::kFresh));
  CHECK(idle.end_search());  // so it must ask again whether there is work
}

TEST(idle, one_watching_worker_suffices_for_woken_tasks) {
  IdleSet idle;
  idle.init(2, 2);
  idle.enter(0, false, true);
  CHECK(!idle.wants_wake(Work::kWoken));
  CHECK(idle.wants_wake(Work::kFresh));
  CHECK(idle.has_timed_sleeper());
  CHECK(idle.leave(0, false));
  idle.end_timed_sleep();
  CHECK(!idle.has_timed_sleeper());
}

TEST(idle, with_as_many_awake_as_cpus_a_submit_wakes_one_only_if_none_watches) {
  IdleSet idle;
  idle.init(4, 2);
  CHECK(idle.has_surplus());  // four are awake
  CHECK(!idle.may_leave_to_others(idle.enter(0, false, false)));
  CHECK(idle.has_surplus());
  CHECK(idle.wants_wake(Work::kFresh));
  CHECK(idle.may_leave_to_others(idle.enter(1, false, true)));
  CHECK(!idle.has_surplus());
  CHECK(!idle.wants_wake(Work::kFresh));
  CHECK(idle.begin_search());
  CHECK(!idle.end_search());                                      // what is queued is left to those that are awake
  CHECK(!idle.may_leave_to_others(idle.enter(2, false, false)));  // one is awake: a CPU is free
  CHECK(idle.wants_wake(Work::kFresh));
  CHECK(idle.leave(2, false));
  CHECK(idle.leave(1, false));
  idle.end_timed_sleep();
  CHECK(idle.has_surplus());
  CHECK(idle.begin_search());
  CHECK(idle.end_search());  // nobody watches any more
}

TEST(idle, the_last_to_enter_is_told_so) {
  IdleSet idle;
  idle.init(3, 3);
  CHECK(!idle.is_last(idle.enter(0, false, false)));
  CHECK(!idle.is_last(idle.enter(2, false, false)));
  CHECK(idle.is_last(idle.enter(1, false, false)));
  CHECK(idle.all_sleep());
  CHECK(idle.leave(2, false));
  CHECK(!idle.is_last(idle.enter(2, false, true)));  // a watching worker does not count as asleep
}

TEST(idle, a_worker_that_left_and_came_back_has_not_slept_since) {
  IdleSet idle;
  idle.init(2, 2);
  idle.enter(0, false, false);
  const IdleSet::Snapshot last = idle.enter(1, false, false);
  CHECK(idle.is_last(last));
  CHECK(idle.all_slept_since(last));
  CHECK(idle.is_asleep(0));
  CHECK_EQ(idle.claim(), 0u);
  CHECK(!idle.is_asleep(0));
  CHECK(!idle.all_slept_since(last));
  CHECK(!idle.leave(0, false));
  const IdleSet::Snapshot again = idle.enter(0, true, false);
  CHECK(idle.is_last(again));
  CHECK(!idle.all_slept_since(last));
  CHECK(idle.leave(1, false));
  idle.enter(1, false, false);
  CHECK(!idle.all_slept_since(again));
}

TEST(idle, at_most_half_of_the_workers_search) {
  IdleSet idle;
  idle.init(8, 8);
  for (int i = 0; i < 4; ++i) CHECK(idle.begin_search());
  CHECK(!idle.begin_search());
  (void)idle.end_search();
  CHECK(idle.begin_search());
}

TEST(idle, sleepers_are_claimed_once_each_in_all_words) {
  constexpr unsigned kWorkers = 200;
  IdleSet idle;
  idle.init(kWorkers, kWorkers);
  bool claimed[kWorkers] = {};
  for (unsigned i = 0; i < kWorkers; ++i) idle.enter(i, false, false);
  for (unsigned i = 0; i < kWorkers; ++i) {
    const unsigned worker = idle.claim();
    REQUIRE(worker < kWorkers);
    CHECK(!claimed[worker]);
    claimed[worker] = true;
  }
  CHECK_EQ(idle.claim(), IdleSet::kNobody);
}

// Two sleepers and a submitter: while work is queued, a worker is awake or is being woken.
TEST(idle, no_wakeup_is_lost) {
  const int kWork = static_cast<int>(scaled(5000, 1000));
  IdleSet idle;
  idle.init(2, 2);
  Parker parkers[2];
  std::atomic<int> queued{0}, done{0};
  std::atomic<unsigned> next{0};
  const auto wake_one = [&] {
    const unsigned sleeper = idle.claim();
    if (sleeper != IdleSet::kNobody) parkers[sleeper].unpark();
  };
  const auto take = [&] {
    int seen = queued.load();
    while (seen > 0 && !queued.compare_exchange_weak(seen, seen - 1)) {
    }
    return seen > 0;
  };
  auto worker = [&] {
    const unsigned me = next.fetch_add(1);
    bool is_searching = false;
    while (done.load() < kWork) {
      if (take()) {
        if (is_searching && idle.end_search() && queued.load() > 0) wake_one();
        is_searching = false;
        done.fetch_add(1);
        continue;
      }
      idle.enter(me, is_searching, false);
      bool has_token = false;
      if (queued.load() == 0 && done.load() < kWork) has_token = parkers[me].park(platform::kForever);
      const bool claimed = !idle.leave(me, is_searching);
      is_searching |= claimed;
      while (claimed && !has_token) has_token = parkers[me].park(platform::kForever);
    }
  };
  ThreadGroup threads;
  threads.start(worker);
  threads.start(worker);
  for (int i = 0; i < kWork; ++i) {
    queued.fetch_add(1);
    if (idle.has_sleeper() && idle.wants_wake(Work::kFresh)) wake_one();
    if (i % 7 == 0) CHECK(soon([&] { return done.load() == i + 1; }));
  }
  CHECK(soon([&] { return done.load() == kWork; }));
  for (auto& parker : parkers) parker.unpark();
}

}  // namespace janus::test
