// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — what a worker runs next: what is its own, what came from outside, what others have; and where
// that is queued which has no place of its own. Taking from others is in steal.cpp, sleeping in parking.cpp.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

constexpr unsigned kInjectedBatch = 16;
constexpr std::uint64_t kDigInterval = 16;
constexpr unsigned kMaxMoved = 64;  // from the deque to their parties in one fair round

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
  if (worker.until_fair <= 0) [[unlikely]] {
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
  return own != nullptr ? own : find_work(worker);
}

// The deque is empty: what has yielded, and then what comes from outside.
Runnable* Scheduler::next_waiting(Worker& worker) noexcept {
  if (worker.yield_bar != 0) [[unlikely]] {
    if (Runnable* const next = take_turn(worker)) return next;
  } else if (Runnable* const yielded = worker.yielded.take()) {
    fetch_yielded_ahead(worker);
    return yielded;
  }
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

// Of those that have used up a slice, where there may be other parties than party 0.
[[gnu::noinline]] Runnable* Scheduler::take_turn(Worker& worker) noexcept {
  if (worker.parties.size() == 0) {
    worker.yield_bar = 0;
    return worker.yielded.take();
  }
  Runnable* const next = worker.parties.take_turn(worker.yielded);
  worker.may_bury_party_0 |= next != nullptr && next->party == 0;
  return next;
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
      return worker.yield_bar == 0 ? worker.yielded.take() : take_turn(worker);
    case FairSource::kReady:
      return take_oldest_ready(worker);
    case FairSource::kInjector:
      break;
  }
  Runnable* const injected = injector_.take();
  if (injected != nullptr) worker.counters.injected.add();
  return injected;
}

// What is woken or spawned is in the deque, whatever its party. The oldest there has its turn, but a crowd has one turn
// together: while anybody else waits, what is not of party 0 goes to its party's queue and has its turns there. So
// whoever is behind many of one party is soon the oldest himself. Each is moved once, and has cost its party an op.
Runnable* Scheduler::take_oldest_ready(Worker& worker) noexcept {
  worker.may_bury_party_0 |= worker.counters.fair_rounds.read() % kDigInterval == 0;  // one that was woken, say
  for (unsigned moved = 0; moved < kMaxMoved; ++moved) {
    Runnable* const oldest = worker.ready.take_oldest().runnable();
    worker.may_bury_party_0 &= oldest != nullptr;
    if (oldest == nullptr) break;
    const bool others_wait = oldest->party != 0 && (worker.may_bury_party_0 || worker.yielded.size() != 0 ||
                                                    !injector_.is_empty() || worker.parties.has_others(oldest->party));
    if (!others_wait) {
      worker.may_bury_party_0 |= oldest->party == 0 && worker.yield_bar != 0;
      return oldest;
    }
    (void)queue_yielded(worker, oldest);
  }
  return worker.parties.size() != 0 ? take_turn(worker) : nullptr;
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
