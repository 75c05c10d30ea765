// SPDX-License-Identifier: Apache-2.0
// rt/sched/idle.h — which workers sleep, and how many search for work. docs/decisions/0180, 0322, 0325
//
// INVARIANT no-lost-wakeup: while work is queued, a worker is awake, being woken, or sleeps with a timeout.
//   submit: 1 push the work                                2 fence   3 if a worker sleeps and none searches, wake one
//   sleep:  1 enter the set of sleepers, stop searching    2 fence   3 look at every queue again   4 park
// The fences are totally ordered: the side whose fence comes second sees the other side's step 1. The sleeper executes
// both of them (platform::heavy_fence), so a submit only reads a line that no worker writes while all are busy. But
// workers that sleep often would spend more on that than on all else, and interrupt the busy ones. Therefore:
//
// INVARIANT submitters-fence: while the word of counts has kFencing, each submit that reads it executes a full fence and reads
// it again. The sleeper that sets it executes a heavy fence, and then sets kTrusting: no submit is left that has read the
// word as it was before. A sleeper that finds kTrusting as it enters executes a full fence instead of the heavy one.
// Both bits go when a worker begins to sleep with a timeout, since pushes of woken tasks beside it are frequent and wake
// nobody; and when kMaxVainFences submits or so have found nobody asleep.
//
// INVARIANT no-work-beside-a-sleeper: while work is queued and a worker sleeps without a timeout, a worker searches, is
// being woken, or has backed off (steal_backoff.h), which lasts 1 ms at most and ends with a search. A submit that sees
// such a worker wakes nobody. So the last worker that stops searching while others sleep looks at every queue once more,
// and if work is left there, it wakes another one (end_search) or goes on searching (leave).
// With more workers than CPUs another state suffices: as many workers are awake as there are CPUs, and one sleeps with a
// timeout. Those that are awake look at every queue before they sleep, unless as many others are awake. The one with the
// timeout takes work from workers that stand still (Thieves). One more worker that is awake would take the CPU of another,
// perhaps of one for which a third waits.
//
// INVARIANT nobody-since: a worker that is counted as asleep only looks at queues and sources, until it is counted as
// having left; the count of departures is in the same word. So if that word is what it was when the last worker
// entered, no worker has run since, and all that was read in between was true at one moment. Without this check, a
// sleeper could be woken, take what was queued and run it before the last worker looks at the queues.
#pragma once

#include <bit>
#include <cstdint>

#include <arch/cpu.h>
#include "rt/base/atomic.h"
#include "rt/platform.h"
#include "rt/sched/path.h"

namespace janus {

// The kind of queued work. Thieves leave a woken task to its waker for a while.
enum class Work : std::uint8_t { kFresh, kWoken };

class IdleSet {
 public:
  static constexpr unsigned kMaxWorkers = 1024;
  static constexpr unsigned kNobody = ~0u;

  // `cpus`: how many workers can run at the same time; no fewer than `workers` if that does not matter.
  // `vain_fences`: after how many fences of submitters that found nobody asleep the sleepers execute them again, a power
  // of two; 0: the sleepers always do.
  void init(unsigned workers, unsigned cpus, std::uint32_t vain_fences = kMaxVainFences) noexcept {
    workers_ = workers;
    cpus_ = cpus;
    fences_ = !platform::has_heavy_fence();
    vain_mask_ = vain_fences - 1;
    // A worker that is alone interrupts nobody, and who submits to it from outside executes a full fence in any case.
    fencing_ = static_cast<std::uint32_t>(!fences_) & static_cast<std::uint32_t>(workers > 1) &
               static_cast<std::uint32_t>(vain_fences != 0);
  }

  // Orders the caller's earlier stores before its later loads with respect to a thread that executes a heavy fence.
  void light_fence() const noexcept {
    if (fences_) [[unlikely]]
      full_fence();
    compiler_barrier();
  }

  // Step 2 of a submitter, unless the word has kFencing, and the first look of step 3: if true, a worker may sleep, and the
  // caller goes on with wants_wake() or is_any_asleep().
  template <Path kPath = Path::kGeneral>
  [[gnu::always_inline]] bool has_sleeper() const noexcept {
    kPath == Path::kGeneral ? light_fence() : compiler_barrier();
    return (counts_.load(std::memory_order_relaxed) & (kMax * kSleeping | kFencing)) != 0;
  }

  // After has_sleeper(): step 2, if that is left, and whether a worker sleeps.
  bool is_any_asleep() noexcept {
    std::uint64_t counts;
    return is_any_asleep(counts);
  }

  // Step 3 of a submitter, after has_sleeper(): whether it has to wake a worker. One that sleeps with a timeout suffices
  // for a woken task, and if a worker that is woken would find no free CPU.
  bool wants_wake(Work work) noexcept {
    std::uint64_t counts;
    if (!is_any_asleep(counts)) return false;
    if (work == Work::kWoken && watching_of(counts) != 0) return false;
    if (is_left_to_others(counts)) return false;
    if (!will_look(counts)) return true;
    // A worker that stops searching because it has found something looks at the queues without a heavy fence, so this
    // fence orders our push before that look (pairs with end_search()).
    full_fence();
    return !will_look(counts_.load(std::memory_order_relaxed));
  }

  // Any thread. Takes one sleeper out of the set, and counts it as searching from now on; the caller unparks it.
  // kNobody: no worker sleeps.
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

  // The same for one worker. False: it does not sleep, or is being woken.
  bool claim_one(unsigned worker) noexcept {
    const std::uint64_t mask = std::uint64_t{1} << (worker % 64);
    if ((sleepers_[worker / 64].fetch_and(~mask, std::memory_order_acq_rel) & mask) == 0) return false;
    counts_.fetch_add(kDeparted + kSearching - kSleeping, std::memory_order_acq_rel);
    return true;
  }

  // Counts the calling worker as searching. False: half of the workers already search, and it does not.
  bool begin_search() noexcept {
    std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    do {
      if (2 * searching_of(counts) >= workers_ && searching_of(counts) != 0) return false;
    } while (!counts_.compare_exchange_weak(counts, counts + kSearching, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return true;
  }

  // The calling worker stops searching. True: it was the last that searched while others sleep, so it checks whether
  // there is work to wake another worker for, unless that is left to those that are awake.
  bool end_search() noexcept {
    const std::uint64_t counts = counts_.fetch_sub(kSearching, std::memory_order_acq_rel) - kSearching;
    return searching_of(counts) == 0 && sleeping_of(counts) != 0 && !is_left_to_others(counts);
  }

  // The calling worker, which neither sleeps nor searches, stays away for a while; then it searches.
  void begin_backoff() noexcept { backed_off_.fetch_add(1, std::memory_order_acq_rel); }
  void end_backoff() noexcept {
    counts_.fetch_add(kSearching, std::memory_order_acq_rel);
    backed_off_.fetch_sub(1, std::memory_order_acq_rel);
  }
  bool has_backed_off() const noexcept { return backed_off_.load(std::memory_order_relaxed) != 0; }

  // The counts just after enter(), for is_last() and all_slept_since().
  struct Snapshot {
    std::uint64_t counts;
  };

  // Steps 1 and 2 of a sleeper.
  [[gnu::noinline, gnu::cold]] Snapshot enter(unsigned worker, bool was_searching, bool is_timed) noexcept {
    sleepers_[worker / 64].fetch_or(std::uint64_t{1} << (worker % 64), std::memory_order_acq_rel);
    const std::uint64_t change = kSleeping + (is_timed ? kWatching : 0) - (was_searching ? kSearching : 0);
    std::uint64_t before = counts_.load(std::memory_order_relaxed), counts;
    do {
      counts = before + change;
      counts = watching_of(counts) != 0 ? counts & ~kFences : counts | fencing_;
    } while (!counts_.compare_exchange_weak(before, counts, std::memory_order_seq_cst, std::memory_order_relaxed));
    // The full fence pairs with the one in is_any_asleep().
    (counts & kTrusting) != 0 || fences_ ? full_fence() : platform::heavy_fence();
    // If the word has changed meanwhile, kFencing may have gone and come again: the next sleeper tries anew.
    std::uint64_t same = counts;
    (void)counts_.compare_exchange_strong(same, counts | (counts & kFencing) * kTrusting, std::memory_order_acq_rel,
                                          std::memory_order_relaxed);
    return {counts};
  }
  // The worker that entered was the last one awake, and no worker sleeps with a timeout.
  bool is_last(Snapshot entered) const noexcept {
    return sleeping_of(entered.counts) == workers_ && watching_of(entered.counts) == 0;
  }
  // If is_last() holds: all workers have slept from then until now (nobody-since).
  bool all_slept_since(Snapshot entered) const noexcept {
    const std::uint64_t counts = counts_.load(std::memory_order_acquire);  // pairs with claim() and leave()
    return ((counts ^ entered.counts) & ~kFences) == 0;
  }

  // Takes the calling worker out of the set; it goes on searching if it did before it entered. False: claim() has taken
  // it out already; a token is on its way, and the worker counts as searching.
  bool leave(unsigned worker, bool was_searching) noexcept {
    const std::uint64_t mask = std::uint64_t{1} << (worker % 64);
    if ((sleepers_[worker / 64].fetch_and(~mask, std::memory_order_acq_rel) & mask) == 0) return false;
    counts_.fetch_add(kDeparted - kSleeping + (was_searching ? kSearching : 0), std::memory_order_acq_rel);
    return true;
  }

  // More workers are awake than there are CPUs, so the calling one, which is awake, had better sleep.
  bool has_surplus() const noexcept { return workers_ - sleeping_of(counts_.load(std::memory_order_relaxed)) > cpus_; }
  // Whether the worker that entered need not look at the queues in step 3.
  bool may_leave_to_others(Snapshot entered) const noexcept { return is_left_to_others(entered.counts); }

  // The worker looks at every queue before it sleeps again. If there are more workers than CPUs, submitters and sleepers
  // have left their step 3 to it, so it executes the fence of step 2 for them.
  void end_timed_sleep() noexcept {
    counts_.fetch_sub(kWatching, std::memory_order_seq_cst);
    if (cpus_ < workers_) fence();
  }

  // When that worker had entered, exactly one other worker was awake.
  bool is_last_but_one(Snapshot entered) const noexcept { return sleeping_of(entered.counts) + 1 == workers_; }
  // How many workers neither slept nor searched when this looked.
  unsigned busy() const noexcept {
    const std::uint64_t counts = counts_.load(std::memory_order_relaxed);
    const unsigned others = sleeping_of(counts) + searching_of(counts);
    return others < workers_ ? workers_ - others : 0;
  }

  bool has_timed_sleeper() const noexcept { return watching_of(counts_.load(std::memory_order_relaxed)) != 0; }
  // True from step 1 of a sleeper on.
  bool is_asleep(unsigned worker) const noexcept {
    return (sleepers_[worker / 64].load(std::memory_order_acquire) >> (worker % 64) & 1) != 0;
  }
  // Whether a woken task that is alone in the deque of `waker` may be left there by a worker that goes to sleep: the
  // waker is awake, and should it run one task for long, a worker with a timeout will look. Otherwise the task counts
  // as work: the waker may have woken no worker because it saw one searching that had already passed its deque.
  bool may_leave_to(unsigned waker) const noexcept { return !is_asleep(waker) && has_timed_sleeper(); }
  bool all_sleep() const noexcept { return sleeping_of(counts_.load(std::memory_order_seq_cst)) == workers_; }
  unsigned sleeping() const noexcept { return sleeping_of(counts_.load(std::memory_order_relaxed)); }

 private:
  // Two bits of submitters-fence (docs/decisions/0355). Then twelve bits each count the workers that sleep, that search, and that sleep with a
  // timeout. The remaining 26 count departures, and may wrap: there are fewer than 2^26 while one worker looks at the queues.
  // A worker that is claimed before enter() has counted it is counted out first, so that for a moment the first count may be
  // below zero and borrow from the next; the bits below it stay as they are.
  static constexpr unsigned kBits = 12;
  static constexpr std::uint64_t kFencing = 1, kTrusting = 2, kFences = kFencing | kTrusting;
  static constexpr std::uint64_t kSleeping = 4, kSearching = kSleeping << kBits, kWatching = kSearching << kBits,
                                 kDeparted = kWatching << kBits, kMax = (1u << kBits) - 1;
  // As many fences take a submitter about as long as a heavy fence takes a sleeper and those whom it interrupts.
  static constexpr std::uint32_t kMaxVainFences = 256;
  static_assert(kMaxWorkers < kMax && kFencing == 1);
  static unsigned sleeping_of(std::uint64_t counts) noexcept { return (counts / kSleeping) & kMax; }
  static unsigned searching_of(std::uint64_t counts) noexcept { return (counts / kSearching) & kMax; }
  static unsigned watching_of(std::uint64_t counts) noexcept { return (counts / kWatching) & kMax; }

  bool will_look(std::uint64_t counts) const noexcept { return searching_of(counts) != 0 || has_backed_off(); }

  void fence() const noexcept { fences_ ? full_fence() : platform::heavy_fence(); }

  // Sets `counts` to what it was after step 2.
  bool is_any_asleep(std::uint64_t& counts) noexcept {
    counts = counts_.load(std::memory_order_relaxed);
    if ((counts & kFencing) == 0) return sleeping_of(counts) != 0;
    full_fence();  // pairs with the one in enter()
    counts = counts_.load(std::memory_order_relaxed);
    if (sleeping_of(counts) != 0) return true;
    // Several may lose each other's counts: then the fences last a little longer.
    const std::uint32_t vain = vain_fences_.load(std::memory_order_relaxed) + 1;
    vain_fences_.store(vain, std::memory_order_relaxed);
    if ((vain & vain_mask_) == 0)
      (void)counts_.compare_exchange_strong(counts, counts & ~kFences, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
    return false;
  }

  bool has_free_cpu(std::uint64_t counts) const noexcept { return workers_ - sleeping_of(counts) < cpus_; }
  bool is_left_to_others(std::uint64_t counts) const noexcept {
    return !has_free_cpu(counts) && watching_of(counts) != 0;
  }

  unsigned workers_ = 0, cpus_ = 0;
  std::uint32_t vain_mask_ = 0;
  std::uint32_t fencing_ = 0;  // kFencing, or 0: sleepers always fence themselves
  bool fences_ = false;
  alignas(arch::kCacheLine) Atomic<std::uint64_t> counts_{0};
  Atomic<std::uint32_t> backed_off_{0};
  Atomic<std::uint32_t> vain_fences_{0};  // of submitters that found nobody asleep
  alignas(arch::kCacheLine) Atomic<std::uint64_t> sleepers_[kMaxWorkers / 64] = {};
};

}  // namespace janus
