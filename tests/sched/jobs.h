// SPDX-License-Identifier: Apache-2.0
// tests/sched/jobs.h — a scheduler without tasks: its runnables are jobs, which have no nursery and no budget.
#pragma once

#include <new>

#include "rt/sched/fiber_hooks.h"
#include "rt/sched/suspend.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

#ifdef JANUS_FIBERS_ARE_WATCHED
inline constexpr std::uint8_t kJobStack = 3;
#else
inline constexpr std::uint8_t kJobStack = 0;
#endif

class Yard;

inline Yard& yard_of(const Worker& worker) {
  return *reinterpret_cast<Yard*>(worker.runtime);
}

struct Job : Runnable {
  void (*body)(Job&);
  Yard* yard;
  std::uint64_t id;
  std::atomic<int> parked;  // 0: no, 1: yes, 2: a wake came first
  unsigned worker_at_start;
};

// Wakes a job.
struct Alarm : Timer {
  Job* job;
};

inline constexpr unsigned kJobs = 1000;
inline Job jobs[kJobs];

// A scheduler with its stack pool.
class Yard {
 public:
  explicit Yard(unsigned workers, bool deterministic = false, std::uint64_t seed = 1, Victim victim = Victim::kRandom) {
    pages_ = platform::map(kBytes);
    scheduler = new (pages_) Scheduler();
    pool_ = new (pages_ + kBytes / 2) StackPool();
    CHECK(pool_->init());
    SchedulerOptions options{};
    options.workers = workers;
    options.seed = seed;
    options.deterministic = deterministic;
    options.victim = victim;
    options.fair_ops = 1024;
    options.fair_interval = 61;
    options.runtime = reinterpret_cast<Runtime*>(this);
    unsigned started = 0;
    CHECK(scheduler->start(options, *pool_, false, started));
  }
  ~Yard() {
    scheduler->stop();
    scheduler->join();
    CHECK_EQ(pool_->stacks_in_use(), 0u);
    pool_->destroy();
    platform::unmap(pages_, kBytes);
  }
  void prepare(Job& job, void (*body)(Job&), std::uint64_t id = 0) {
    job.suspend_at(nullptr);
    job.stack_class = kJobStack;
    job.body = body;
    job.yard = this;
    job.id = id;
    job.parked.store(0);
  }
  void inject(Job& job, void (*body)(Job&), std::uint64_t id = 0) {
    prepare(job, body, id);
    scheduler->inject(&job);
  }
  bool all_done(int wanted) {
    return soon([&] { return done.load() == wanted; });
  }

  StackPool& pool() { return *pool_; }

  Scheduler* scheduler;
  std::atomic<int> done{0}, on_all_idle{0}, attended{0}, timers_due{0}, counter{0}, other{0};
  // How long the worker in on_all_idle() looks for a running job at most.
  std::atomic<std::uint64_t> patience_ns{0};
  std::atomic<int> looking{0}, running{0};

 private:
  static constexpr std::size_t kBytes = 1 << 20;
  static_assert(sizeof(Scheduler) < kBytes / 2 && sizeof(StackPool) < kBytes / 2);
  std::byte* pages_;
  StackPool* pool_;
};

inline void finish(Job& job) {
  job.yard->done.fetch_add(1);
}

// True if another runnable had a turn.
inline bool yield(Job& self) {
  Suspension suspension{};
  self.suspend_at(&suspension);
  return self.yard->scheduler->yield<Path::kFast>(current_worker(), &self, suspension);
}

inline void wake(Worker* worker, Job& job) {
  if (job.parked.exchange(2) != 1) return;
  if (worker != nullptr)
    worker->scheduler->push_woken(*worker, &job);
  else
    job.yard->scheduler->inject(&job);
}

// Waits until woken. A wake before the park is not lost: then the job goes on.
inline void park(Job& self) {
  Suspension suspension{};
  self.suspend_at(&suspension);
  const bool left = self.yard->scheduler->suspend(current_worker(), suspension,
                                                  {[](Worker& worker, void* pointer, void*) {
                                                     auto& job = *static_cast<Job*>(pointer);
                                                     int seen = 0;
                                                     if (job.parked.compare_exchange_strong(seen, 1)) return;
                                                     worker.scheduler->push_woken(worker, &job);
                                                   },
                                                   &self, nullptr});
  CHECK(left);
  self.parked.store(0);
}

inline void spawn(Job& job, void (*body)(Job&), Yard& yard, std::uint64_t id = 0) {
  yard.prepare(job, body, id);
  Worker& worker = current_worker();
  yard.scheduler->trace_event(worker, Event::kSpawn, &job);
  yard.scheduler->push_fresh(worker, &job);
  yard.scheduler->sched_point();
}

}  // namespace janus::test
