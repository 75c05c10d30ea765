// SPDX-License-Identifier: Apache-2.0
// rt/sched/steal_backoff.h — decides when a worker without work does not steal: a thief stays away if it steals tasks
// that the victim would soon have run itself. Owner only; reads no clock, and touches no other worker.
// docs/decisions/0072, 0079, 0325
#pragma once

#include <cstdint>

namespace janus {

// How a worker without work searches:
//
//     eager --more than kMaxPoorSteals thefts in a row that did not pay--> backed off
//     backed off --has slept backoff_ns()--> searches; a theft that does not pay: backed off again, for longer
//     backed off --a theft that pays--> eager
//     backed off --gets work without a theft--> eager until the next theft; if that does not pay: backed off anew
//
// and how it sleeps between two searches:
//
//     asleep until woken --leaves work to another worker, or finds some without having been woken for it--> watching
//     watching --sleeps timed_park_ns()--> watching, the next round
//     watching --found work--> watching, the first round again
//     watching --nothing is left to another worker; and kMaxWatches sleeps are over, no other worker is awake, or another
//                one watches--> asleep until woken
//
// While more workers are awake than there are CPUs, one watches in any case. A worker that is only ever woken for single
// tasks does not watch: a short timeout costs the kernel more than all the rest of a sleep. docs/decisions/0354
class StealBackoff {
 public:
  // --- Thefts that do not pay ---

  [[nodiscard]] bool is_backed_off() const noexcept { return poor_steals_ > kMaxPoorSteals; }
  // Records a theft from `victim`, which had spawned and ended `victims_tasks` before. Times are the processor time of
  // the thief's thread.
  void record_steal(std::uint32_t victim, std::uint64_t victims_tasks, std::uint64_t began_ns,
                    std::uint64_t ended_ns) noexcept;
  // The last theft is judged once, by judge(). Until then, from whom it was.
  [[nodiscard]] bool has_unjudged() const noexcept { return victim_ != kNobody; }
  [[nodiscard]] std::uint32_t victim() const noexcept { return victim_; }
  // Whether the victim has gone on spawning and ending tasks, and so would soon have run itself what was stolen.
  [[nodiscard]] bool victim_goes_on(std::uint64_t victims_tasks) const noexcept {
    return victims_tasks - victims_tasks_ >= kQuickTasks;
  }
  // A theft pays if the thief was busy with what it brought for kWorthSteals times as long as a theft takes, which is
  // measured. Any theft from a victim that does not go on pays, since nobody else would have run what was stolen.
  // True: it does not pay.
  bool judge(bool victim_goes_on, std::uint64_t now_ns) noexcept;
  // What a theft costs this thief, most of it the heavy fence: an average of the last ones.
  [[nodiscard]] std::uint64_t steal_ns() const noexcept { return steal_ns_; }
  // Called when the worker has found work without a theft, so that only the next thefts decide.
  void forget() noexcept {
    if (is_backed_off()) poor_steals_ = kMaxPoorSteals;
  }
  // While backed off: how long to sleep, whatever is pushed meanwhile.
  [[nodiscard]] std::uint64_t backoff_ns() const noexcept;

  // --- Sleeping with a timeout between two searches ---

  // The others lately had work that nobody woke this worker for, so it is likely that they will have some again.
  void begin_watch() noexcept { watches_left_ = kMaxWatches; }
  [[nodiscard]] bool keeps_watching() const noexcept { return watches_left_ != 0; }
  // `was_deferred`: for work that this worker has just left to another one; it looks sooner at first.
  [[nodiscard]] std::uint64_t timed_park_ns(bool was_deferred) const noexcept {
    return was_deferred ? park_ns_of(idle_rounds_) : kMaxTimedParkNs;
  }
  void begin_timed_park(bool was_deferred) noexcept {
    ++idle_rounds_;
    if (was_deferred)
      begin_watch();
    else if (watches_left_ != 0)
      --watches_left_;
  }
  // The next sleep with a timeout is the first round again.
  void end_rounds() noexcept { idle_rounds_ = 0; }

 private:
  // Twice for the loss (the thief's time, and as much of the victim's, which is interrupted), and as much as a gain.
  static constexpr std::uint64_t kWorthSteals = 4;
  static constexpr std::uint64_t kQuickTasks = 4;
  static constexpr std::uint32_t kNobody = ~0u;
  static constexpr std::uint32_t kMaxPoorSteals = 3;
  static constexpr std::uint64_t kFirstStealNs = 5'000;  // until thefts have been measured
  static constexpr std::uint64_t kMinStealNs = 500;      // the cache misses, where no fence is needed
  static constexpr std::uint64_t kAverageOf = 8;
  static constexpr std::uint64_t kMinTimedParkNs = 50'000;
  static constexpr std::uint64_t kMaxTimedParkNs = 1'000'000;
  static constexpr std::uint32_t kMaxWatches = 8;

  static std::uint64_t park_ns_of(std::uint32_t round) noexcept;

  // Of the last theft: when it ended, from whom, and how many tasks that one had spawned and ended before.
  std::uint64_t stolen_at_ns_ = 0;
  std::uint64_t victims_tasks_ = 0;
  std::uint32_t victim_ = kNobody;
  std::uint32_t poor_steals_ = 0;  // thefts in a row that did not pay
  std::uint64_t steal_ns_ = kFirstStealNs;
  std::uint32_t idle_rounds_ = 0;   // timed sleeps in a row
  std::uint32_t watches_left_ = 0;  // timed sleeps until this worker stops watching
};

}  // namespace janus
