// SPDX-License-Identifier: Apache-2.0
// rt/sched/deterministic.h — deterministic mode: N logical workers are fibers of one thread, and this decides, from the
// seed alone, who steps next. They run the code that ships; only parking, time and this choice differ.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/rng.h"
#include "rt/sched/event_sources.h"
#include "rt/sched/idle.h"
#include "rt/sched/injector.h"
#include "rt/sched/worker.h"

namespace janus {

class DeterministicScheduler {
 public:
  // Virtual time passes by this much with each step.
  static constexpr std::uint64_t kStepNs = 100;

  // What it steps, and where these meet.
  struct Workers {
    Worker* first;
    unsigned count;
    void (*main)(Worker& worker) noexcept;  // what each does until it leaves
    IdleSet* idle;
    Injector* injector;
    Attention* attention;
    StackPool* stacks;
  };

  void init(const Workers& workers, std::uint64_t seed) noexcept;

  // On a logical worker: somebody steps, maybe the caller again. Holds no lock, since nobody else would release it.
  void sched_point() noexcept;
  // On a logical worker: does not step until it has a token or virtual time reaches `until_ns`. True: it had a token.
  bool park(std::uint64_t until_ns) noexcept;
  // Any thread.
  void unpark(Worker& worker) noexcept;
  // Another thread's work: it waits until no worker can step, so that it comes at a moment that the seed decides.
  void submit(Runnable* runnable) noexcept;
  // Any thread, any signal handler: an idle host looks around.
  void nudge() noexcept;

  // On the thread that hosts the workers: steps until all have left.
  void run() noexcept;

  std::uint64_t now_ns() const noexcept { return now_ns_.load(std::memory_order_relaxed); }

 private:
  static std::int64_t logical_entry(void* self) noexcept;
  Worker* choose() noexcept;
  Worker* next() noexcept;
  bool has_left(const Worker& worker) const noexcept;
  void wait_for_somebody() noexcept;
  void wake_one() noexcept;
  bool is_on_worker() const noexcept;
  void step_to(arch::Context& from, void* from_fiber, Worker& to) noexcept;
  bool can_step(const Worker& worker) const noexcept;

  Workers workers_;
  Rng rng_;
  std::atomic<std::uint64_t> now_ns_;
  arch::Context host_context_;
  void* host_fiber_;
  Injector inbox_;
  std::atomic<std::uint32_t> outside_;  // counts what other threads did, so that an idle host can wait for it
};

}  // namespace janus
