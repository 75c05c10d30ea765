// SPDX-License-Identifier: Apache-2.0
// idle_model_test.cpp — every interleaving of threads that submit work with workers that go to sleep, on
// rt/sched/idle.h, parker.h and deque.{h,cpp}: while work is queued, a worker is awake or being woken (no-lost-wakeup),
// and when a worker finds that all have slept since it entered, none has work in hand (nobody-since). The workers'
// steps are those of IdleWorkers::sleep.
#include "rt/sched/idle.h"

#include "rt/sched/deque.h"
#include "rt/sched/parker.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"
#include "tests/models/taken.h"

namespace {

using janus::Deque;
using janus::Entry;
using janus::IdleSet;
using janus::Work;
using janus::model::Fences;
using janus::model::require;
using janus::model::Taken;

// So few that sleepers fence themselves again within a model.
constexpr std::uint32_t kVainFences = 1, kJobsAtMost = 4;

// The first thread pushes `jobs`, and never takes one itself; the others steal until all are taken.
struct IdleWorld {
  static constexpr unsigned kMax = 3, kNaps = 1;
  unsigned thieves;
  unsigned jobs;
  unsigned others = 0;  // workers that run all the time
  Deque deque{};
  janus::IdleSet idle{};
  janus::Parker parkers[kMax]{};
  Taken taken{};
  janus::Atomic<std::uint32_t> left{0};  // jobs that are not taken
  // Accesses to these are no steps.
  bool is_up[kMax] = {};     // may have a job in hand
  unsigned naps[kMax] = {};  // naps that it ended by itself: departures are counted, so each makes another state

  unsigned threads() const { return 1 + thieves; }
  void begin() {
    require(deque.init(2), "there is memory");
    idle.init(thieves + others, thieves + others, others != 0 ? kVainFences : kJobsAtMost);
    left.store(jobs);
  }

  void run(unsigned thread) { thread == 0 ? submit() : work(thread); }

  void submit() {
    for (unsigned i = 0; i < jobs; ++i) {
      require(deque.push(Entry::fresh(taken.next())), "there is room");
      if (idle.has_sleeper() && idle.wants_wake(Work::kFresh)) wake_one();
    }
  }
  void wake_one() {
    const unsigned sleeper = idle.claim();
    if (sleeper != IdleSet::kNobody) parkers[1 + sleeper].unpark();
  }

  void work(unsigned me) {
    bool is_searching = false;
    is_up[me] = true;
    while (left.load(std::memory_order_relaxed) != 0) {
      Entry entry;
      if (deque.steal(entry) == Deque::Steal::kTaken) {
        if (is_searching && idle.end_search() && deque.size() != 0) wake_one();
        is_searching = false;
        taken.take(entry.runnable());
        if (left.fetch_sub(1) == 1) wake_all_others(me);
        continue;
      }
      if (!is_searching) is_searching = idle.begin_search();
      if (is_searching && deque.size() != 0) continue;
      if (deque.size() != 0 && naps[me] == kNaps)
        janus::pause();
      else
        is_searching = sleep(me, is_searching);
    }
  }
  // True: it counts as searching, as before, or since another thread claimed it.
  bool sleep(unsigned me, bool was_searching) {
    is_up[me] = false;
    const IdleSet::Snapshot entered = idle.enter(me - 1, was_searching, false);
    bool has_token = false;
    if (left.load() != 0 && deque.size() == 0) {
      if (idle.is_last(entered) && idle.all_slept_since(entered))
        require(!is_anybody_up(), "nobody runs while all sleep");
      has_token = parkers[me].park(janus::platform::kForever);
    }
    const bool claimed = !idle.leave(me - 1, was_searching);
    while (claimed && !has_token) has_token = parkers[me].park(janus::platform::kForever);
    is_up[me] = true;
    naps[me] += !claimed && naps[me] < kNaps;
    return claimed || was_searching;
  }
  bool is_anybody_up() const {
    for (unsigned i = 1; i < threads(); ++i)
      if (is_up[i]) return true;
    return false;
  }
  // Ends the program; not a step of the protocol.
  void wake_all_others(unsigned me) {
    for (unsigned i = 1; i < threads(); ++i)
      if (i != me) parkers[i].unpark();
  }

  void end() { taken.require_all(); }
};

// The first thread pushes a job for each of the others, and each job never ends. So all jobs have to be found, although
// a thread with a job never checks the queue again (no-work-beside-a-sleeper). The first thief may have backed off, and
// there may be fewer CPUs than thieves. A timed sleep ends when there is a job, which then is left lying.
struct EndlessWorld {
  static constexpr unsigned kThieves = 2, kNaps = 1;
  unsigned cpus;
  bool one_has_backed_off;
  std::uint32_t vain_fences = 0;
  janus::IdleSet idle{};
  janus::Parker parkers[kThieves]{};
  janus::Atomic<std::uint32_t> pushed{0}, taken{0};
  unsigned naps[kThieves] = {};  // timed sleeps: departures are counted, so each makes another state

  static unsigned threads() { return 1 + kThieves; }
  void begin() {
    idle.init(kThieves, cpus, vain_fences);
    if (one_has_backed_off) idle.begin_backoff();
  }

  void run(unsigned thread) { thread == 0 ? submit() : work(thread - 1); }
  void submit() {
    for (std::uint32_t i = 1; i <= kThieves; ++i) {
      pushed.store(i, std::memory_order_release);
      if (idle.has_sleeper() && idle.wants_wake(Work::kFresh)) wake_one();
    }
  }
  void wake_one() {
    const unsigned sleeper = idle.claim();
    if (sleeper != IdleSet::kNobody) parkers[sleeper].unpark();
  }
  bool has_work() { return taken.load() != pushed.load(); }
  bool take() {
    std::uint32_t seen = taken.load();
    return seen != pushed.load() && taken.compare_exchange_strong(seen, seen + 1);
  }

  void work(unsigned me) {
    bool is_searching = one_has_backed_off && me == 0, has_watched = false;
    if (is_searching) idle.end_backoff();
    while (!look(is_searching, has_watched)) {
      if (naps[me] < kNaps)
        sleep(me, is_searching, has_watched);
      else
        nap_again(has_watched);
    }
    if (is_searching && idle.end_search() && has_work()) wake_one();
  }
  // IdleWorkers::take_from_others()
  bool look(bool& is_searching, bool has_watched) {
    if (idle.has_surplus() && !has_watched) {
      if (is_searching) (void)idle.end_search();
      is_searching = false;
      return false;
    }
    if (!is_searching) is_searching = idle.begin_search();
    return take();  // whether it searches or not: otherwise there would be no end of short sleeps
  }
  void sleep(unsigned me, bool& is_searching, bool& has_watched) {
    const bool is_timed = idle.has_surplus() && !idle.has_timed_sleeper();
    const IdleSet::Snapshot entered = idle.enter(me, is_searching, is_timed);
    bool has_token = false;
    if (idle.may_leave_to_others(entered) || !has_work()) {
      if (is_timed)
        while (!has_work()) janus::pause();
      else
        has_token = parkers[me].park(janus::platform::kForever);
    }
    const bool claimed = !idle.leave(me, is_searching);
    while (claimed && !has_token) has_token = parkers[me].park(janus::platform::kForever);
    if (is_timed) idle.end_timed_sleep();
    has_watched = is_timed && !claimed;
    naps[me] += is_timed && naps[me] < kNaps ? 1 : 0;
    is_searching |= claimed;
  }
  // Another timed sleep, in which nothing changes.
  void nap_again(bool& has_watched) {
    while (!has_work()) janus::pause();
    has_watched = true;
  }

  void end() { require(taken.load() == kThieves, "every job has been found"); }
};

// The first thread runs the job that it has queued, which wakes a second job; that is left to the thread while it is
// awake (Thieves::is_left_to_waker). A thief that takes back its claim to the first job may hide the second from its
// waker.
struct WakerWorld {
  static constexpr unsigned kThreads = 2, kWaker = 0, kJobs = 2;
  Deque deque{};
  janus::IdleSet idle{};
  janus::Parker parkers[kThreads]{};
  Taken taken{};
  janus::Atomic<std::uint32_t> left{kJobs};

  static unsigned threads() { return kThreads; }
  void begin() {
    require(deque.init(2), "there is memory");
    idle.init(kThreads, kThreads);
  }

  void run(unsigned thread) {
    if (thread == kWaker) push();
    while (left.load(std::memory_order_relaxed) != 0) {
      if (!take(thread)) sleep(thread);
    }
  }
  void push() {
    require(deque.push(Entry::fresh(taken.next())), "there is room");
    if (idle.has_sleeper() && idle.wants_wake(Work::kFresh)) wake_one();
  }
  bool take(unsigned me) {
    Entry entry;
    if (me == kWaker)
      entry = deque.pop();
    else
      (void)deque.steal(entry);
    if (!entry) return false;
    taken.take(entry.runnable());
    if (left.fetch_sub(1) == 1)
      parkers[1 - me].unpark();  // the end of the program, not of the protocol
    else if (me == kWaker)
      push();
    else
      left.store(0);  // the second is never queued
    if (me != kWaker) parkers[kWaker].unpark();
    return true;
  }
  void wake_one() {
    const unsigned sleeper = idle.claim();
    if (sleeper != IdleSet::kNobody) parkers[sleeper].unpark();
  }
  bool has_work(unsigned me) { return deque.size() != 0 && (me == kWaker || idle.is_asleep(kWaker)); }
  void sleep(unsigned me) {
    (void)idle.enter(me, false, false);
    bool has_token = false;
    if (left.load() != 0 && !has_work(me)) has_token = parkers[me].park(janus::platform::kForever);
    const bool claimed = !idle.leave(me, false);
    while (claimed && !has_token) has_token = parkers[me].park(janus::platform::kForever);
    if (claimed) (void)idle.end_search();
  }

  void end() { taken.require_all(); }
};

// The first thread wakes a job, and then runs another one for ever. The others leave the woken job to it at first, and
// sleep with a timeout; a thread that searched before sleeps without one (Thieves::has_work_anywhere).
struct SpinnerWorld {
  static constexpr unsigned kMax = 3, kWaker = 0;
  unsigned thieves;
  Deque deque{};
  janus::IdleSet idle{};
  janus::Parker parkers[kMax]{};
  Taken taken{};
  janus::Atomic<std::uint32_t> left{1};

  unsigned threads() const { return 1 + thieves; }
  void begin() {
    require(deque.init(2), "there is memory");
    idle.init(threads(), threads());
  }

  void run(unsigned thread) { thread == kWaker ? wake() : work(thread); }
  void wake() {
    require(deque.push(Entry::woken(taken.next())), "there is room");
    if (!idle.has_sleeper() || !idle.wants_wake(Work::kWoken)) return;
    const unsigned sleeper = idle.claim();
    if (sleeper != IdleSet::kNobody) parkers[sleeper].unpark();
  }

  void work(unsigned me) {
    bool is_searching = false, has_been_patient = false;
    while (left.load() != 0) {
      if (!is_searching) is_searching = idle.begin_search();
      const bool is_there = deque.size() != 0;
      if (is_there && has_been_patient) {
        take(me);
        continue;
      }
      has_been_patient |= is_there;
      is_searching = sleep(me, is_searching, is_there);
    }
  }
  void take(unsigned me) {
    Entry entry;
    if (deque.steal(entry) != Deque::Steal::kTaken) return;
    taken.take(entry.runnable());
    left.store(0);
    for (unsigned i = 1; i < threads(); ++i)
      if (i != me) parkers[i].unpark();  // the end of the program, not of the protocol
  }
  bool sleep(unsigned me, bool was_searching, bool is_timed) {
    (void)idle.enter(me, was_searching, is_timed);
    const bool has_work = deque.size() != 0 && !idle.may_leave_to(kWaker);
    bool has_token = false;
    if (left.load() != 0 && !has_work && !is_timed) has_token = parkers[me].park(janus::platform::kForever);
    const bool claimed = !idle.leave(me, was_searching);
    while (claimed && !has_token) has_token = parkers[me].park(janus::platform::kForever);
    if (is_timed) idle.end_timed_sleep();
    return claimed || was_searching;
  }

  void end() { taken.require_all(); }
};

bool goes_well(const char* name, unsigned thieves, unsigned jobs, Fences fences, unsigned others = 0) {
  return janus::model::goes_well<IdleWorld>(name, fences, thieves, jobs, others);
}

// The first thread pushes jobs that only the second, a worker, may take, and wakes that one (Scheduler::push_pinned). The
// third wakes any sleeper for a job that it has queued for all, and the worker may take that, too.
struct PinnedWorld {
  static constexpr unsigned kThreads = 3, kHome = 0;  // the worker's number
  std::uint32_t jobs;
  IdleSet idle{};
  janus::Parker parker{};
  janus::Atomic<std::uint32_t> pinned{0}, of_all{0};

  static unsigned threads() { return kThreads; }
  void begin() { idle.init(1, 1); }

  void run(unsigned thread) {
    if (thread == 1) return work();
    if (thread == 2) return submit();
    for (std::uint32_t i = 1; i <= jobs; ++i) {
      pinned.store(i, std::memory_order_release);
      janus::full_fence();
      if (idle.claim_one(kHome)) parker.unpark();
    }
  }
  void submit() {
    of_all.store(1, std::memory_order_release);
    if (idle.has_sleeper() && idle.wants_wake(Work::kFresh) && idle.claim() != IdleSet::kNobody) parker.unpark();
  }
  void work() {
    std::uint32_t taken = 0, taken_of_all = 0;
    bool is_searching = false;
    while (taken != jobs || taken_of_all != 1) {
      if (pinned.load() != taken || of_all.load() != taken_of_all) {
        if (is_searching) (void)idle.end_search();
        is_searching = false;
        ++(pinned.load() != taken ? taken : taken_of_all);
        continue;
      }
      (void)idle.enter(kHome, is_searching, false);
      bool has_token = false;
      if (pinned.load() == taken && of_all.load() == taken_of_all) has_token = parker.park(janus::platform::kForever);
      const bool claimed = !idle.leave(kHome, is_searching);
      while (claimed && !has_token) has_token = parker.park(janus::platform::kForever);
      is_searching |= claimed;
    }
  }
  static void end() {}
};

TEST(idle_model, a_job_that_one_worker_alone_may_take) {
  REQUIRE(janus::model::goes_well<PinnedWorld>("heavy", Fences::kHeavy, 1u));
  REQUIRE(janus::model::goes_well<PinnedWorld>("two jobs", Fences::kHeavy, 2u));
  REQUIRE(janus::model::goes_well<PinnedWorld>("own", Fences::kOwn, 1u));
}

TEST(idle_model, a_submitter_and_a_sleeper) {
  REQUIRE(goes_well("one job", 1, 1, Fences::kHeavy));
  REQUIRE(goes_well("two jobs", 1, 2, Fences::kHeavy));
}

TEST(idle_large, two_who_sleep) {
  REQUIRE(goes_well("one job", 2, 1, Fences::kHeavy));
}

TEST(idle_model, who_sleeps_again_leaves_the_fence_to_submitters) {
  REQUIRE(goes_well("two jobs", 1, 2, Fences::kHeavy, 1));
  REQUIRE(goes_well("three jobs", 1, 3, Fences::kHeavy, 1));
}

TEST(idle_large, no_job_waits_behind_an_endless_one_while_a_worker_sleeps) {
  REQUIRE(janus::model::goes_well<EndlessWorld>("heavy", Fences::kHeavy, 2u, false, kJobsAtMost));
  REQUIRE(janus::model::goes_well<EndlessWorld>("own", Fences::kOwn, 2u, false));
}

TEST(idle_large, no_job_waits_where_a_worker_that_has_backed_off_is_trusted) {
  REQUIRE(janus::model::goes_well<EndlessWorld>("heavy", Fences::kHeavy, 2u, true));
  REQUIRE(janus::model::goes_well<EndlessWorld>("own", Fences::kOwn, 2u, true));
}

TEST(idle_large, no_job_waits_behind_an_endless_one_that_has_the_only_cpu) {
  REQUIRE(janus::model::goes_well<EndlessWorld>("heavy", Fences::kHeavy, 1u, false));
  REQUIRE(janus::model::goes_well<EndlessWorld>("own", Fences::kOwn, 1u, false));
}

TEST(idle_model, work_left_to_a_waker_that_does_not_see_it_is_taken) {
  REQUIRE(janus::model::goes_well<WakerWorld>("heavy", Fences::kHeavy));
  REQUIRE(janus::model::goes_well<WakerWorld>("own", Fences::kOwn));
}

TEST(idle_model, work_left_to_a_waker_that_keeps_running_is_taken) {
  REQUIRE(janus::model::goes_well<SpinnerWorld>("one thief", Fences::kHeavy, 1u));
  REQUIRE(janus::model::goes_well<SpinnerWorld>("without a heavy fence", Fences::kOwn, 1u));
}

TEST(idle_model, without_a_heavy_fence) {
  REQUIRE(goes_well("two jobs", 1, 2, Fences::kOwn));
}

}  // namespace
