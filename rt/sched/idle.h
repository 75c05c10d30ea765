// SPDX-License-Identifier: Apache-2.0
// rt/sched/idle.h — who sleeps and who searches.
//
// INVARIANT no-lost-wakeup: while work is queued, a worker is awake, being woken, or sleeps with a timeout.
//   submit: 1 push the work                                2 fence   3 if somebody sleeps and nobody searches, wake one
//   sleep:  1 enter the set of sleepers, stop searching    2 fence   3 look at every queue again   4 park
// The fences are totally ordered, so whoever is second sees the other's step 1. The sleeper executes both of them
// (platform::heavy_fence), so that a submit only reads a line that nobody writes while all are busy.
//
// INVARIANT nobody-since: who is counted as asleep does nothing but look, until it is counted as having left; the count
// of departures is in the same word. So if that word is what it was when the last one entered, nobody has run
// meanwhile, and what was looked at in between was all true at one time. One that was asleep may have been woken, taken
// what was queued and be at it by the time that the last one looks at the queues.
#pragma once

#include <bit>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/platform.h"
#include "rt/sched/path.h"

namespace janus {

class IdleSet {
 public:
  static constexpr unsigned kMaxWorkers = 1024;
  static constexpr unsigned kNobody = ~0u;

  void init(unsigned workers) noexcept {
    workers_ = workers;
    fences_ = !platform::has_heavy_fence();
  }

  // Orders the caller's earlier stores before its later loads, if others execute heavy fences.
  void light_fence() const noexcept {
    if (fences_) [[unlikely]]
      full_fence();
    compiler_barrier();
  }

  // A submitter's step 2 and 3. `woken`: the work is a task that was woken and waits for its waker, so that it is
  // enough if somebody looks now and then.
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] bool wants_wake(bool woken) const noexcept {
    kPath == Path::kGeneral ? light_fence() : compiler_barrier();
    const std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    if (sleeping_of(counts) == 0) [[likely]]
      return false;
    return searching_of(counts) == 0 && !(woken && watching_of(counts) != 0);
  }

  // Takes one sleeper out of the set, to be unparked by the caller; it counts as searching from now on.
  unsigned claim() noexcept {
    for (unsigned word = 0; word * 64 < workers_; ++word) {
      std::uint64_t bits = sleepers_[word].load(std::memory_order_relaxed);
      while (bits != 0) {
        const unsigned bit = static_cast<unsigned>(std::countr_zero(bits));
        const std::uint64_t mask = std::uint64_t{1} << bit;
        bits = sleepers_[word].fetch_and(~mask, std::memory_order_acq_rel);
        if ((bits & mask) != 0) {
          counts_.fetch_add(kDeparted + kSearching - kSleeping, std::memory_order_acq_rel);
          return word * 64 + bit;
        }
      }
    }
    return kNobody;
  }

  // A worker begins to search, unless half of them already do.
  bool begin_search() noexcept {
    std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    do {
      if (2 * searching_of(counts) >= workers_ && searching_of(counts) != 0) return false;
    } while (!counts_.compare_exchange_weak(counts, counts + kSearching, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return true;
  }

  // It has found something. True: it was the last to search while others sleep, so it looks whether to wake one.
  bool end_search() noexcept {
    const std::uint64_t counts = counts_.fetch_sub(kSearching, std::memory_order_acq_rel) - kSearching;
    return searching_of(counts) == 0 && sleeping_of(counts) != 0;
  }

  // What enter() found, for later questions.
  struct Snapshot {
    std::uint64_t counts;
  };

  // Step 1 and 2 of a sleeper.
  Snapshot enter(unsigned worker, bool was_searching, bool is_timed) noexcept {
    sleepers_[worker / 64].fetch_or(std::uint64_t{1} << (worker % 64), std::memory_order_acq_rel);
    const std::uint64_t change = kSleeping + (is_timed ? kWatching : 0) - (was_searching ? kSearching : 0);
    const std::uint64_t counts = counts_.fetch_add(change, std::memory_order_seq_cst) + change;
    if (fences_)
      full_fence();
    else
      platform::heavy_fence();
    return {counts};
  }
  // It was the last one awake, and nobody looks by himself.
  bool is_last(Snapshot entered) const noexcept {
    return sleeping_of(entered.counts) == workers_ && watching_of(entered.counts) == 0;
  }
  // After is_last(): all have slept from then until now (nobody-since).
  bool all_slept_since(Snapshot entered) const noexcept {
    return counts_.load(std::memory_order_acquire) == entered.counts;  // pairs with claim() and leave()
  }

  // Leaves the set without having been claimed. False: somebody claimed it meanwhile (a token is on its way, and it
  // counts as searching).
  bool leave(unsigned worker) noexcept {
    const std::uint64_t mask = std::uint64_t{1} << (worker % 64);
    if ((sleepers_[worker / 64].fetch_and(~mask, std::memory_order_acq_rel) & mask) == 0) return false;
    counts_.fetch_add(kDeparted - kSleeping, std::memory_order_acq_rel);
    return true;
  }

  void begin_timed_sleep() noexcept { counts_.fetch_add(kWatching, std::memory_order_acq_rel); }
  void end_timed_sleep() noexcept { counts_.fetch_sub(kWatching, std::memory_order_acq_rel); }

  // One more is awake than these.
  bool is_last_but_one(Snapshot entered) const noexcept { return sleeping_of(entered.counts) + 1 == workers_; }
  // Neither asleep nor looking for work, a moment ago.
  unsigned busy() const noexcept {
    const std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    const unsigned others = sleeping_of(counts) + searching_of(counts);
    return others < workers_ ? workers_ - others : 0;
  }

  bool has_timed_sleeper() const noexcept { return watching_of(counts_.load(std::memory_order_relaxed)) != 0; }
  // From step 1 on.
  bool is_asleep(unsigned worker) const noexcept {
    return (sleepers_[worker / 64].load(std::memory_order_acquire) >> (worker % 64) & 1) != 0;
  }
  // Whether what such a worker has woken, and is alone, may be left to it: it is awake, and should it not let go for
  // long, somebody looks now and then. Otherwise who goes to sleep counts it as work: the waker may have seen a search
  // that had been there already, and so have woken nobody.
  bool may_leave_to(unsigned waker) const noexcept { return !is_asleep(waker) && has_timed_sleeper(); }
  bool all_sleep() const noexcept { return sleeping_of(counts_.load(std::memory_order_seq_cst)) == workers_; }
  unsigned sleeping() const noexcept { return sleeping_of(counts_.load(std::memory_order_relaxed)); }

 private:
  // Twelve bits each for those who sleep, search and watch. The rest counts departures, and may wrap: there are not
  // 2^28 of them while somebody looks at the queues.
  static constexpr unsigned kBits = 12;
  static constexpr std::uint64_t kSleeping = 1, kSearching = kSleeping << kBits, kWatching = kSearching << kBits,
                                 kDeparted = kWatching << kBits, kMost = kSearching - 1;
  static_assert(kMaxWorkers < kMost);
  static unsigned sleeping_of(std::uint64_t counts) noexcept { return counts & kMost; }
  static unsigned searching_of(std::uint64_t counts) noexcept { return (counts / kSearching) & kMost; }
  static unsigned watching_of(std::uint64_t counts) noexcept { return (counts / kWatching) & kMost; }

  unsigned workers_ = 0;
  bool fences_ = false;
  alignas(arch::kCacheLine) Atomic<std::uint64_t> counts_{0};
  alignas(arch::kCacheLine) Atomic<std::uint64_t> sleepers_[kMaxWorkers / 64] = {};
};

}  // namespace janus
