// SPDX-License-Identifier: Apache-2.0
// rt/sched/deterministic.h — deterministic mode: N logical workers are fibers of one thread, and this class decides,
// from the seed alone, which of them steps next. They run the code that ships; only parking, time and this choice
// differ. Outside deterministic mode the class does nothing, and tells the machine's time.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/rng.h"
#include "rt/platform.h"
#include "rt/sched/event.h"
#include "rt/sched/event_sources.h"
#include "rt/sched/injector.h"
#include "rt/sched/timers.h"
#include "rt/sched/worker.h"

namespace janus {

class DeterministicScheduler {
 public:
  // How far each step advances virtual time.
  static constexpr std::uint64_t kStepNs = 100;

  // The workers, and the parts of their scheduler.
  struct Parts {
    WorkerList workers;
    void (*main)(Worker& worker) noexcept;      // the loop of a worker; returns when the worker leaves
    void (*wake_one)(Worker& worker) noexcept;  // wakes a sleeping worker of the same scheduler, if there is one
    Injector* injector;
    const Attention* attention;
    const Timers* timers;
    StackPool* stacks;
  };

  void init(const Parts& parts, bool is_on, std::uint64_t seed) noexcept;

  // --- In both modes ---

  bool is_on() const noexcept { return is_on_; }
  // Called on a worker. In deterministic mode another worker may step here. The caller holds no lock: all logical
  // workers share one thread, so another one that waits for the lock would wait forever.
  void sched_point() noexcept {
    if (is_on_) [[unlikely]]
      step();
  }
  std::uint64_t now_ns() const noexcept {
    return is_on_ ? now_ns_.load(std::memory_order_relaxed) : platform::now_ns();
  }
  // nullptr outside deterministic mode.
  const std::atomic<std::uint64_t>* virtual_clock() const noexcept { return is_on_ ? &now_ns_ : nullptr; }
  // The processor time of the calling worker: what it did itself, not what it waited for, and not what others did on its
  // CPU. In deterministic mode as now_ns().
  std::uint64_t thread_ns() const noexcept { return is_on_ ? now_ns() : platform::thread_ns(); }
  // Adds an event to order_hash(), the hash of all events so far in deterministic mode; 0 outside it.
  [[gnu::always_inline]] void trace(const Worker& worker, Event event, const Runnable* runnable) noexcept {
    if (is_on_) [[unlikely]]
      add_to_hash(worker, event, runnable);
  }
  std::uint64_t order_hash() const noexcept { return order_hash_.value(); }

  // --- In deterministic mode only ---

  // Any thread: whether it is the one that the logical workers share.
  bool is_on_worker() const noexcept;
  // Called on a logical worker, which does not step until it has a token or virtual time reaches `until_ns`. True: it
  // had a token.
  bool park(std::uint64_t until_ns) noexcept;
  // Any thread.
  void unpark(Worker& worker) noexcept;
  // Queues a runnable from another thread. It reaches the workers only when none of them can step, so that it arrives
  // at a moment that the seed decides.
  void submit(Runnable* runnable) noexcept;
  // Each of these, under the lock of their queue.
  template <typename Use>
  void for_each_submitted(Use use) noexcept {
    inbox_.for_each(use);
  }
  // Any thread, any signal handler. Makes an idle host thread look for new work.
  void nudge() noexcept;

  // Before run(), for each worker: takes its home stack. False: the machine has no memory.
  [[nodiscard]] bool take_home(Worker& worker) noexcept;
  // Called on the thread that hosts the workers: steps them until all have left.
  void run() noexcept;

 private:
  // Queues what was sent at the worker that it is pinned to. False: it is not pinned.
  [[nodiscard, JANUS_OPTIONAL]] static bool queue_if_pinned(Runnable* sent) noexcept;
  void step() noexcept;
  void add_to_hash(const Worker& worker, Event event, const Runnable* runnable) noexcept;
  static std::int64_t logical_entry(void* self) noexcept;
  Worker* choose() noexcept;
  Worker* next() noexcept;
  bool has_left(const Worker& worker) const noexcept;
  bool take_in_sent() noexcept;
  void wait_for_somebody() noexcept;
  void wake_one() noexcept { parts_.wake_one(parts_.workers[0]); }
  void step_to(arch::Context& from, void* from_fiber, Worker& to) noexcept;
  bool can_step(const Worker& worker) const noexcept;

  Parts parts_;
  OrderHash order_hash_;
  Rng rng_;
  std::atomic<std::uint64_t> now_ns_;
  arch::Context host_context_;
  void* host_fiber_;
  Injector inbox_;
  std::atomic<std::uint32_t> outside_;  // counts the calls of nudge(), so that an idle host can wait for one
  bool is_on_;
};

}  // namespace janus
