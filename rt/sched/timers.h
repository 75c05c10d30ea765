// SPDX-License-Identifier: Apache-2.0
// rt/sched/timers.h — the timers of all workers, and which of them are due. Each worker has a wheel of its own, so that
// workers do not contend; in deterministic mode all use the first one, so that timers fire in order. A program that arms
// no timer is linked without timers.cpp and firing.cpp (rt/optional.h). docs/decisions/0330
//
// A busy worker looks at its own timers, and at those of one other worker, at the end of each slice and in fair rounds;
// one that has nothing to run looks at all of them. Who sleeps until the next one is due: timer_seat.h.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/optional.h"
#include "rt/sched/idle.h"
#include "rt/sched/timer_seat.h"
#include "rt/sched/worker_timers.h"

namespace janus {

struct Worker;

class Timers {
 public:
  // `virtual_ns`: the clock in deterministic mode, else nullptr.
  void init(unsigned workers, WorkerTimers* first, const IdleSet& sleepers,
            const std::atomic<std::uint64_t>* virtual_ns) noexcept {
    workers_ = workers;
    sleepers_ = &sleepers;
    all_ = first;
    virtual_ns_ = virtual_ns;
  }

  // Whether any wheel may have timers: false in programs that arm none. The functions that are linked only then are
  // called only then.
  [[nodiscard]] bool are_any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

  // --- Arming: called by the owner of the timer ---

  // The worker's wheel.
  [[nodiscard]] WorkerTimers& of(const Worker& worker) noexcept;
  // Steps 1 and 2 of arming (timer_seat.h). The lock of `where` is held. Returns whether the wheel's bound became lower:
  // then IdleWorkers::see_to_cover() has to be called once the lock is released.
  [[nodiscard]] bool arm(WorkerTimers& where, Timer& timer, std::uint64_t at, std::uint64_t now_ns) noexcept;

  // --- Looking: called by a worker, if are_any() ---

  // No timer is due before that.
  [[nodiscard]] std::uint64_t nearest() const noexcept;
  enum class Whose : std::uint8_t { kOwn, kAll };
  // Calls `use` for each wheel with a timer that is due. kOwn: the worker's, and one of another worker that sleeps,
  // or should have looked long ago.
  template <typename Use>
  void for_each_due(Worker& worker, Whose whose, std::uint64_t now_ns, Use use) noexcept;
  // In a fair round, where locks may be held: if own timers are due, or another worker's for long, calls
  // hooks::on_timers_due(), after which some worker lets all that are due fire.
  [[JANUS_OPTIONAL]] void look_in_passing(Worker& worker) noexcept;

  // --- Sleeping (timer_seat.h): called by a worker, if are_any() ---

  // Steps 3 and 1. take_seat() returns until when the worker has to sleep; platform::kForever: it has not taken the seat.
  [[nodiscard]] std::uint64_t take_seat(bool is_anybody_awake) noexcept;
  void leave_seat(std::uint64_t until) noexcept { seat_.leave(until); }
  [[nodiscard]] const TimerSeat& seat() const noexcept { return seat_; }

 private:
  static constexpr unsigned kWords = IdleSet::kMaxWorkers / 64;

  template <typename Use>
  void for_each_in_use(Use use) const noexcept {
    for (unsigned word = 0; word * 64 < workers_; ++word)
      for (std::uint64_t bits = in_use_[word].load(std::memory_order_relaxed); bits != 0; bits &= bits - 1)
        use(all_[word * 64 + static_cast<unsigned>(__builtin_ctzll(bits))]);
  }
  [[nodiscard]] std::uint64_t settled_nearest() noexcept;
  void mark_in_use(WorkerTimers& where) noexcept;
  void unmark(WorkerTimers& where) noexcept;
  [[nodiscard]] WorkerTimers* other_late(Worker& worker, std::uint64_t now_ns) noexcept;

  unsigned workers_;
  WorkerTimers* all_;
  const IdleSet* sleepers_;
  const std::atomic<std::uint64_t>* virtual_ns_;
  TimerSeat seat_;
  // By worker: its wheel may have timers. A wheel that is found empty is left out only under its `firing`, since timers that
  // are being fired may leave something to do (WorkerTimers::rest).
  std::atomic<std::uint64_t> in_use_[kWords] = {};
  std::atomic<std::uint32_t> count_{0};  // of these
};

template <typename Use>
void Timers::for_each_due(Worker& worker, Whose whose, std::uint64_t now_ns, Use use) noexcept {
  if (whose == Whose::kAll) {
    for_each_in_use([&](WorkerTimers& each) noexcept {
      if (each.nearest() <= now_ns) use(each);
    });
  } else {
    if (of(worker).nearest() <= now_ns) use(of(worker));
    if (WorkerTimers* const other = other_late(worker, now_ns)) use(*other);
  }
}

}  // namespace janus
