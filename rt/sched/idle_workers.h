// SPDX-License-Identifier: Apache-2.0
// rt/sched/idle_workers.h — workers that have nothing queued: they search, back off, and sleep until somebody wakes them.
// idle.h says why no wake-up is lost.
//   searching, sleeping   rt/sched/parking.cpp, rt/sched/thieves.h
//   being woken           rt/sched/waking.cpp
//   timers that are due   rt/sched/firing.cpp
//   stopped with the world  rt/sched/safepoint.h
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/sched/cpu_pins.h"
#include "rt/sched/deterministic.h"
#include "rt/sched/dispatcher.h"
#include "rt/sched/event_sources.h"
#include "rt/sched/idle.h"
#include "rt/sched/safepoint.h"
#include "rt/sched/timers.h"

namespace janus {

class Thieves;

class IdleWorkers {
 public:
  // `stacks`: the pool whose stacks go back while workers sleep, or nullptr. `cpus`: see IdleSet::init().
  void init(const WorkerList& workers, WorkerTimers* timers, Dispatcher& dispatcher, Thieves& thieves,
            DeterministicScheduler& deterministic, StackPool* stacks, unsigned cpus) noexcept {
    set_.init(workers.count, cpus);
    workers_ = workers;
    dispatcher_ = &dispatcher;
    thieves_ = &thieves;
    deterministic_ = &deterministic;
    stack_reclaim_.init(stacks);
    timers_.init(workers.count, timers, set_, deterministic.virtual_clock());
    is_stopping_.store(false, std::memory_order_relaxed);
  }

  // Owner only, with no lock held. Calls hooks::on_attention() if request_attention() has been called since the last
  // time, and lets due timers fire.
  void poll_sources(Worker& worker, Timers::Whose whose) noexcept;
  // Owner only. Finds a runnable elsewhere, and sleeps until there is one. nullptr: stop() has been called.
  Runnable* find_work(Worker& worker) noexcept;

  // --- Any thread ---

  // Who sleeps: a submitter asks has_sleeper() before it calls wake_one_for().
  const IdleSet& set() const noexcept { return set_; }
  // After that: whether the submitter has to wake a worker.
  [[nodiscard]] bool wants_wake(Work work) noexcept { return set_.wants_wake(work); }
  // Wakes a worker, if one sleeps.
  void wake_one() noexcept;
  // The same unless a worker will find the work anyway.
  void wake_one_for(Work work) noexcept;
  // Wakes that worker, if it sleeps or has backed off.
  void wake(Worker& worker) noexcept;
  // Any signal handler, too. Makes a worker that looks for work, or is between two slices, call hooks::on_attention()
  // soon.
  void request_attention() noexcept;
  const Attention& attention() const noexcept { return attention_; }
  // Step 3 of arming a timer (timer_seat.h), by a worker that runs on: wakes a sleeper if nobody covers it.
  void see_to_cover(std::uint64_t nearest) noexcept;
  // From now on find_work() returns nullptr, and those that sleep wake up.
  void stop() noexcept;

  StackReclaim& stack_reclaim() noexcept { return stack_reclaim_; }
  Timers& timers() noexcept { return timers_; }
  CpuPins& pins() noexcept { return pins_; }
  Safepoints& safepoints() noexcept { return safepoints_; }

 private:
  bool is_stopping() const noexcept { return is_stopping_.load(std::memory_order_acquire); }
  // What a worker without work has done so far to find some.
  struct Search {
    bool is_counted = false;    // counts as searching (IdleSet)
    bool was_deferred = false;  // in this round something was left to another worker for a while
    bool was_woken = false;     // its last sleep was ended by a waker, for whose work it looks now
    // It searches even if more workers are awake than there are CPUs: its last sleep ended by its timeout, or the last
    // worker from which it stole stands still.
    bool may_exceed_cpus = false;
  };
  [[JANUS_OPTIONAL]] void fire_due(Worker& worker, Timers::Whose whose) noexcept;
  void fire(Worker& worker, WorkerTimers& whose, std::uint64_t now_ns) noexcept;
  unsigned fire_taken(Worker& worker, void** timers, unsigned count) noexcept;
  void queue_fired(Worker& worker, void** ready, unsigned count) noexcept;
  [[JANUS_OPTIONAL]] void see_to_cover_all() noexcept;
  [[nodiscard, JANUS_OPTIONAL]] std::uint64_t sleep_until_timer() noexcept;
  Runnable* take_from_others(Worker& worker, Search& search) noexcept;
  void sleep(Worker& worker, Search& search) noexcept;
  void back_off(Worker& worker) noexcept;
  bool park(Worker& worker, std::uint64_t until_ns) noexcept;
  void unpark(Worker& worker) noexcept;

  IdleSet set_;  // others only read it (set()): each change is a step of no-lost-wakeup, idle.h
  WorkerList workers_;
  Dispatcher* dispatcher_;
  Thieves* thieves_;
  DeterministicScheduler* deterministic_;
  CpuPins pins_;
  Attention attention_;
  StackReclaim stack_reclaim_;
  Timers timers_;
  std::atomic<bool> is_stopping_;  // once true, true until the workers have ended
  Safepoints safepoints_;
};

}  // namespace janus
