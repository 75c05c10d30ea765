// SPDX-License-Identifier: Apache-2.0
// rt/sched/steal_backoff.h — what a thief remembers, and when it had better not steal: woken tasks are left to their
// wakers for a while, and whoever steals what its owner would have run itself stays away. docs/decisions/0072, 0079.
// Owner only; reads no clock, and touches no other worker.
#pragma once

#include <cstdint>

namespace janus {

// How a worker without work looks for some:
//
//     eager --more than kMaxFailedSteals thefts in a row that did not pay--> backed off
//     backed off --has slept backoff_ns()--> looks once; a theft that does not pay: the same again, for longer
//     backed off --a theft that pays, or the next one comes later--> eager
//
// and how it sleeps between two looks:
//
//     watching --sleeps timed_park_ns(), longer each time--> watching, up to kMaxIdleRounds times as long as nothing is
//     watching --found work--> watching, the first round again                           deferred
//     watching --kMaxIdleRounds, nothing deferred--> asleep until woken
class StealBackoff {
 public:
  // --- Thefts that do not pay ---

  [[nodiscard]] bool is_backed_off() const noexcept { return failed_steals_ > kMaxFailedSteals; }
  // A theft from `victim` at `now_ns`, which has spawned and ended `victims_tasks` so far. It pays unless the last one
  // from this victim is hardly over and the victim got on with its own meanwhile. Where the victim runs something long,
  // anything pays: nobody else would have run what was stolen.
  void record_steal(std::uint32_t victim, std::uint64_t victims_tasks, std::uint64_t now_ns) noexcept;
  // How long to stay away, whatever is pushed meanwhile.
  [[nodiscard]] std::uint64_t backoff_ns() const noexcept;
  // The time away does not count: another theft right afterwards is the next in the row.
  void end_backoff(std::uint64_t slept_ns) noexcept { stolen_at_ns_ += slept_ns; }

  // --- Woken tasks, which mostly run soon where their waker is ---

  // Whether to leave the one woken task that `victim` has to its waker, which is at `dispatches` by its own count: for
  // as long as that count has been standing still for less than kDeferToWakerNs.
  [[nodiscard]] bool defers_to_waker(std::uint32_t victim, std::uint64_t dispatches, std::uint64_t now_ns) noexcept;

  // --- Sleeping with a timeout between two looks ---

  [[nodiscard]] bool keeps_watching() const noexcept { return idle_rounds_ < kMaxIdleRounds; }
  [[nodiscard]] std::uint64_t timed_park_ns() const noexcept { return timed_park_ns(idle_rounds_); }
  void begin_timed_park() noexcept { ++idle_rounds_; }
  void end_watch() noexcept { idle_rounds_ = 0; }

 private:
  static constexpr std::uint64_t kDeferToWakerNs = 50'000;
  static constexpr std::uint64_t kPoorStealNs = 5'000;  // stealing less work than this costs more than it brings ...
  static constexpr std::uint64_t kPoorStealTasks = 32;  // ... if the victim spawned and ran this much meanwhile
  static constexpr std::uint32_t kMaxFailedSteals = 3;
  static constexpr std::uint64_t kMaxBackoffNs = 250'000;
  static constexpr std::uint64_t kMinTimedParkNs = 50'000;
  static constexpr std::uint64_t kMaxTimedParkNs = 1'000'000;
  static constexpr std::uint32_t kMaxIdleRounds = 8;

  static std::uint64_t timed_park_ns(std::uint32_t round) noexcept;

  // The last theft.
  std::uint64_t stolen_at_ns_ = 0;
  std::uint64_t victims_tasks_ = 0;
  std::uint32_t last_victim_ = 0;
  std::uint32_t failed_steals_ = 0;  // in a row
  // What was left to its waker last.
  std::uint32_t deferred_to_ = 0;
  std::uint32_t idle_rounds_ = 0;  // timed sleeps in a row
  std::uint64_t seen_dispatches_ = 0;
  std::uint64_t seen_since_ns_ = 0;  // 0: nothing yet
};

}  // namespace janus
