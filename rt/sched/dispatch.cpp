// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — what a worker runs next: what is its own, what came from outside, what others have; and where
// that is queued which has no place of its own. Taking from others is in steal.cpp, sleeping in parking.cpp.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

constexpr unsigned kInjectedBatch = 16;

// With many in a queue each has long left the cache when its turn comes: its record, its registers and the top of its
// stack are on their way while others run.
template <int First, int Last>  // lines of its stack, from where it stands
[[gnu::always_inline]] inline void fetch_ahead(const Runnable* record, const Runnable* suspended) noexcept {
  if (record == nullptr || suspended == nullptr) return;
  __builtin_prefetch(record);
  __builtin_prefetch(reinterpret_cast<const char*>(record) + 64);
  if (const auto* const stack = reinterpret_cast<const char*>(suspended->suspension()))
    for (int line = First; line <= Last; ++line) __builtin_prefetch(stack + 64 * line);
}
constexpr std::int64_t kRecordsAhead = 16, kStacksAhead = 8;
// What was woken stands deeper in the runtime than what has yielded: from below the registers that it saved up to its
// task's frame. So many lines are on their way to the cache at once that they had better not be early.
constexpr std::int64_t kWokenAhead = 4;

}  // namespace

void Scheduler::fetch_ready_ahead(const Worker& worker) noexcept {
  if (const Runnable* const suspended = worker.ready.upcoming(kWokenAhead).runnable()) [[unlikely]]
    fetch_ahead<-5, 6>(worker.ready.upcoming(kRecordsAhead).runnable(), suspended);
}

void Scheduler::fetch_yielded_ahead(const Worker& worker) noexcept {
  if (const Runnable* const suspended = worker.yielded.upcoming(kStacksAhead))
    fetch_ahead<-1, 3>(worker.yielded.upcoming(kRecordsAhead), suspended);
}

template <Path kPath>
Runnable* Scheduler::next_own(Worker& worker) noexcept {
  if (worker.until_fair <= worker.yield_bar) [[unlikely]] {
    if (worker.has_other_parties()) return next_among_parties(worker);
    if (Runnable* const oldest = next_fair(worker)) return oldest;
  }
  worker.until_fair -= worker.dispatch_ops;
  if (const Entry entry = worker.ready.pop<kPath>()) [[likely]] {
    fetch_ready_ahead(worker);
    return entry.runnable();
  }
  return next_waiting(worker);
}
template Runnable* Scheduler::next_own<Path::kGeneral>(Worker& worker) noexcept;
template Runnable* Scheduler::next_own<Path::kFast>(Worker& worker) noexcept;

Runnable* Scheduler::next(Worker& worker) noexcept {
  sched_point();
  Runnable* const own = next_own<Path::kGeneral>(worker);
  if (own != nullptr) return own;
  Runnable* const found = find_work(worker);
  if (found != nullptr && worker.has_other_parties()) begin_turn(worker, found->party);
  return found;
}

// The deque is empty: what has yielded, and then what comes from outside.
Runnable* Scheduler::next_waiting(Worker& worker) noexcept {
  if (Runnable* const yielded = worker.yielded.take()) {
    fetch_yielded_ahead(worker);
    return yielded;
  }
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

// What was spent beyond the round counts for the next, but for no more than one: who has once spent very much does not
// turn the deque into a queue for long.
[[gnu::noinline]] Runnable* Scheduler::next_fair(Worker& worker) noexcept {
  const std::int64_t round = options_.fair_ops, over = worker.until_fair + round;
  worker.until_fair = (over < -round ? -round : over) - worker.dispatch_ops;
  worker.counters.fair_rounds.add();
  for (unsigned i = 0; i < kFairSources; ++i) {
    const FairSource source = worker.fair_source;
    worker.fair_source = static_cast<FairSource>((static_cast<unsigned>(source) + 1) % kFairSources);
    if (Runnable* const found = take_longest_waiting(worker, source)) return found;
  }
  return nullptr;
}

Runnable* Scheduler::take_longest_waiting(Worker& worker, FairSource source) noexcept {
  switch (source) {
    case FairSource::kYielded:
      return worker.has_other_parties() ? worker.parties.take_turn(worker.yielded) : worker.yielded.take();
    case FairSource::kReady:
      return take_oldest_ready(worker);
    case FairSource::kInjector:
      break;
  }
  Runnable* const injected = injector_.take();
  if (injected != nullptr) worker.counters.injected.add();
  return injected;
}

// False: its queue is full, and there is no memory for a larger one.
bool Scheduler::queue_yielded(Worker& worker, Runnable* runnable) noexcept {
  if (runnable->party == 0) [[likely]]
    return worker.yielded.push(runnable);
  worker.parties.push(runnable);
  worker.yield_bar = WorkerFairness::kOutOfReach;
  return true;
}

[[gnu::noinline]] Runnable* Scheduler::take_injected(Worker& worker) noexcept {
  Runnable* const first = injector_.take();
  if (first == nullptr) return nullptr;
  worker.counters.injected.add();
  // A fair share at once: every take is a lock that all workers meet on.
  std::uint64_t share = injector_.size() / worker_count_;
  for (unsigned i = 0; i < kInjectedBatch && share != 0; ++i, --share) {
    Runnable* const more = injector_.take();
    if (more == nullptr) break;
    worker.counters.injected.add();
    if (!queue_yielded(worker, more)) {
      injector_.push(more);
      break;
    }
  }
  return first;
}

Runnable* Scheduler::find_work(Worker& worker) noexcept {
  bool is_searching = false;
  // Once: who has nothing to do for longer sleeps, and counts as asleep.
  bool backs_off = worker.backoff.is_backed_off();
  for (;;) {
    if (stopping()) {
      if (is_searching) (void)idle_.end_search();
      return nullptr;
    }
    if (wants_attention()) handle_attention(worker);
    bool was_deferred = false;
    // That, and finding that nothing runs any more, may have woken tasks into our own queue.
    Runnable* found = worker.ready.pop().runnable();
    if (found == nullptr && !injector_.is_empty()) found = take_injected(worker);
    if (found == nullptr && backs_off) {
      backoff_park(worker);
      backs_off = false;
      continue;
    }
    if (found == nullptr && worker_count_ > 1 && worker.is_steal_enabled) {
      if (!is_searching) is_searching = idle_.begin_search();
      if (is_searching) found = search(worker, was_deferred);
    }
    if (found != nullptr) {
      worker.backoff.end_watch();
      if (is_searching && idle_.end_search() && has_work_anywhere(worker)) wake_one();
      if (pinning_ == Pinning::kWhileSeveralWork) keep_to_cpu(worker);
      return found;
    }
    is_searching = sleep(worker, is_searching, was_deferred);
    sched_point();
  }
}

// Through the injector, so that the woken one need not fence us to get at our deque.
[[gnu::noinline]] void Scheduler::wake_with_newest(Worker& worker) noexcept {
  const Entry newest = worker.ready.pop();
  if (newest && !newest.was_woken())
    injector_.push(newest.runnable());
  else if (newest)
    (void)worker.ready.push(newest);  // the place that it has just left
  wake_one();
}

[[gnu::noinline]] void Scheduler::push_back(Worker& worker, Entry entry) noexcept {
  entry.was_woken() ? push_woken(worker, entry.runnable()) : push_fresh(worker, entry.runnable());
}

[[gnu::noinline, gnu::cold]] void Scheduler::push_with_room(Worker& worker, Entry entry) noexcept {
  if (!worker.ready.make_room()) return overflow(worker, entry.runnable());
  push_back(worker, entry);
}

// No deque has room and the machine no memory for a larger one: the injector is intrusive and always has.
[[gnu::noinline]] void Scheduler::overflow(Worker&, Runnable* runnable) noexcept {
  injector_.push(runnable);
  if (idle_.wants_wake(false)) wake_one();
}

}  // namespace janus
