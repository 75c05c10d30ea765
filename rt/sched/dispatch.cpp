// SPDX-License-Identifier: Apache-2.0
// rt/sched/dispatch.cpp — what a worker runs next: its own queues, the injector, others' queues; then it sleeps.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

constexpr unsigned kTries = 4;             // victims per search, before the sweep
constexpr std::size_t kYieldedBatch = 32;  // yielded runnables stolen at once
constexpr unsigned kInjectedBatch = 16;
constexpr std::uint64_t kDeferToWakerNs = 50'000;  // how long a woken runnable is left to its waker
constexpr std::uint64_t kPoorStealNs = 5'000;      // stealing less work than this costs more than it brings ...
constexpr std::uint64_t kPoorStealTasks = 32;      // ... if the victim spawned and ran this much of its own meanwhile
constexpr std::uint32_t kMaxFailedSteals = 3;
constexpr std::uint64_t kMinTimedParkNs = 50'000;
constexpr std::uint64_t kMaxTimedParkNs = 1'000'000;
constexpr std::uint64_t kMaxBackoffParkNs = 250'000;
constexpr std::uint64_t kReclaimDelayNs = 1'000'000'000;
constexpr std::uint32_t kMaxIdleRounds = 8;  // naps in a row without any work to watch

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

// Spawned and ended on this worker: how it gets on.
std::uint64_t tasks_of(const Worker& worker) noexcept {
  return worker.counters.spawned.read() + worker.counters.completed.read() + worker.counters.completed_inline.read();
}

std::uint64_t timed_park_ns(std::uint32_t number) noexcept {
  const std::uint64_t ns = kMinTimedParkNs << (number < 5 ? number : 5);
  return ns < kMaxTimedParkNs ? ns : kMaxTimedParkNs;
}

}  // namespace

Runnable* Scheduler::next(Worker& worker) noexcept {
  sched_point();
  Runnable* const own = next_own(worker);
  return own != nullptr ? own : find_work(worker);
}

void Scheduler::fetch_ready_ahead(const Worker& worker) noexcept {
  if (const Runnable* const suspended = worker.ready.upcoming(kWokenAhead).runnable()) [[unlikely]]
    fetch_ahead<-5, 6>(worker.ready.upcoming(kRecordsAhead).runnable(), suspended);
}

void Scheduler::fetch_yielded_ahead(const Worker& worker) noexcept {
  if (const Runnable* const suspended = worker.yielded.upcoming(kStacksAhead))
    fetch_ahead<-1, 3>(worker.yielded.upcoming(kRecordsAhead), suspended);
}

Runnable* Scheduler::next_own(Worker& worker) noexcept {
  const std::uint32_t until_fair = worker.until_fair.load(std::memory_order_relaxed) - 1;
  worker.until_fair.store(until_fair, std::memory_order_relaxed);
  if (until_fair == 0) [[unlikely]] {
    if (Runnable* const oldest = next_fair(worker)) return oldest;
  }
  if (const Entry entry = worker.ready.pop()) {
    fetch_ready_ahead(worker);
    return entry.runnable();
  }
  if (Runnable* const yielded = worker.yielded.take()) {
    fetch_yielded_ahead(worker);
    return yielded;
  }
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

// Every so often the oldest goes first, so that what is spawned or woken last cannot starve the rest.
[[gnu::noinline]] Runnable* Scheduler::next_fair(Worker& worker) noexcept {
  worker.until_fair.store(options_.fair_interval, std::memory_order_relaxed);
  worker.counters.fair_rounds.add();
  if (Runnable* const injected = injector_.take()) {
    worker.counters.injected.add();
    return injected;
  }
  // Two old ends, and no time stamps to compare: they take turns.
  const bool yielded_first = (worker.counters.fair_rounds.read() & 1) != 0;
  if (yielded_first) {
    if (Runnable* const yielded = worker.yielded.take()) return yielded;
  }
  if (const Entry entry = worker.ready.take_oldest()) return entry.runnable();
  return worker.yielded.take();
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
    if (!worker.yielded.push(more)) {
      injector_.push(more);
      break;
    }
  }
  return first;
}

Runnable* Scheduler::find_work(Worker& worker) noexcept {
  bool is_searching = false;
  bool backs_off = worker.thief.failed_steals >
                   kMaxFailedSteals;  // once: who has nothing to do for longer sleeps, and counts as asleep
  for (;;) {
    if (stopping()) {
      if (is_searching) (void)idle_.end_search();
      return nullptr;
    }
    if (attention_.load(std::memory_order_relaxed)) handle_attention();
    bool was_deferred = false;
    // Attending, and finding that nothing runs any more, may have woken tasks into our own queue.
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
      worker.thief.idle_rounds = 0;
      if (is_searching && idle_.end_search() && has_work_anywhere(worker)) wake_one();
      return found;
    }
    is_searching = sleep(worker, is_searching, was_deferred);
    sched_point();
  }
}

// A few victims of the strategy's choice, then everyone once.
Runnable* Scheduler::search(Worker& worker, bool& was_deferred) noexcept {
  const unsigned tries = worker_count_ - 1 < kTries ? worker_count_ - 1 : kTries;
  for (unsigned i = 0; i < tries; ++i) {
    const unsigned victim = choose_victim(worker);
    if (victim == worker.id) continue;
    if (Runnable* const stolen = steal_from(worker, workers_[victim], was_deferred)) return stolen;
  }
  return sweep(worker, was_deferred);
}

Runnable* Scheduler::sweep(Worker& worker, bool& was_deferred) noexcept {
  unsigned victim = static_cast<unsigned>(worker.rng.below(worker_count_));
  for (unsigned i = 0; i < worker_count_; ++i, victim = victim + 1 == worker_count_ ? 0 : victim + 1) {
    if (victim == worker.id) continue;
    if (Runnable* const stolen = steal_from(worker, workers_[victim], was_deferred)) return stolen;
  }
  return nullptr;
}

unsigned Scheduler::choose_victim(Worker& worker) noexcept {
  switch (options_.victim) {
    case Victim::kRoundRobin:
      worker.next_victim = (worker.next_victim + 1) % worker_count_;
      return worker.next_victim;
    case Victim::kLeastLoaded: {
      unsigned fullest = worker.id;
      std::int64_t most = 0;
      for (unsigned i = 0; i < worker_count_; ++i) {
        const std::int64_t size = i == worker.id ? 0 : workers_[i].ready.size() + workers_[i].yielded.size();
        if (size > most) {
          most = size;
          fullest = i;
        }
      }
      return fullest;
    }
    case Victim::kRandom:
      break;
  }
  // One of the others, evenly.
  const unsigned other = static_cast<unsigned>(worker.rng.below(worker_count_ - 1));
  return other < worker.id ? other : other + 1;
}

Runnable* Scheduler::steal_from(Worker& worker, Worker& victim, bool& was_deferred) noexcept {
  Entry entry;
  Deque::Steal outcome = Deque::Steal::kEmpty;
  if (const Entry oldest = victim.ready.oldest()) {
    if (defer_to_waker(worker, victim, oldest))
      was_deferred = true;
    else
      outcome = victim.ready.steal(entry);
  }
  Runnable* const stolen = outcome == Deque::Steal::kTaken ? entry.runnable() : steal_yielded(worker, victim);
  if (stolen == nullptr) {
    worker.counters.steals_failed.add();
    return nullptr;
  }
  worker.counters.steals.add();
  update_steal_backoff(worker, victim);
  trace_event(worker, Event::kSteal, stolen);
  return stolen;
}

// Half of them: the first to run, the others to the end of our own.
Runnable* Scheduler::steal_yielded(Worker& worker, Worker& victim) noexcept {
  Runnable* stolen[kYieldedBatch];
  const std::size_t count = victim.yielded.steal(stolen, kYieldedBatch);
  for (std::size_t i = 1; i < count; ++i) {
    if (!worker.yielded.push(stolen[i])) injector_.push(stolen[i]);
  }
  return count != 0 ? stolen[0] : nullptr;
}

// A woken runnable that is alone waits for its waker, which mostly stops soon: so partners stay together. A waker that
// has not been in the scheduler for a while gets no more patience.
bool Scheduler::defer_to_waker(Worker& worker, Worker& victim, Entry oldest) noexcept {
  if (!oldest.was_woken() || victim.ready.size() > 1) return false;
  // A clock that ticks with each dispatch: rounds, and where in the round it stands.
  const std::uint64_t dispatches =
      victim.counters.fair_rounds.read() << 32 | victim.until_fair.load(std::memory_order_relaxed);
  const std::uint64_t now = now_ns();
  auto& seen = worker.thief;
  if (seen.victim == victim.id && seen.dispatches == dispatches && seen.since_ns != 0)
    return now - seen.since_ns < kDeferToWakerNs;
  seen.victim = victim.id;
  seen.dispatches = dispatches;
  seen.since_ns = now;
  return true;
}

// A theft is worth its fences and cache lines unless the last one from this victim is hardly over and the victim got on
// with its own meanwhile. Where it runs something long, anything is: nobody else would have run what was stolen.
void Scheduler::update_steal_backoff(Worker& worker, const Worker& victim) noexcept {
  auto& thief = worker.thief;
  const std::uint64_t now = now_ns(), tasks = tasks_of(victim);
  const bool is_next = thief.last_victim == victim.id && now - thief.stolen_at_ns < kPoorStealNs;
  thief.failed_steals = is_next && tasks - thief.victims_tasks >= kPoorStealTasks ? thief.failed_steals + 1 : 0;
  thief.last_victim = victim.id;
  thief.stolen_at_ns = now;
  thief.victims_tasks = tasks;
}

bool Scheduler::has_work_anywhere(const Worker& worker) noexcept {
  if (!injector_.is_empty()) return true;
  for (unsigned i = 0; i < worker_count_; ++i) {
    const Worker& other = workers_[i];
    if (other.id == worker.id) continue;
    if (other.yielded.size() != 0) return true;
    const Entry oldest = other.ready.oldest();
    if (oldest && !(oldest.was_woken() && other.ready.size() <= 1)) return true;
  }
  return false;
}

// Until somebody has work for us; true if somebody claimed us, so that we count as searching. Where others are awake, a
// few short naps come first: what is left alone now may need a thief soon.
bool Scheduler::sleep(Worker& worker, bool was_searching, bool was_deferred) noexcept {
  auto& thief = worker.thief;
  const bool others_work = worker_count_ > 1 && idle_.sleeping() + 1 < worker_count_;
  const bool is_timed =
      was_deferred || (others_work && thief.idle_rounds < kMaxIdleRounds && !idle_.has_timed_sleeper());
  // The first to rest for a while gives back what the program no longer needs.
  const bool reclaims = !is_timed && !is_deterministic_ && stacks_->has_excess();
  const std::uint64_t until = is_timed   ? now_ns() + timed_park_ns(thief.idle_rounds)
                              : reclaims ? now_ns() + kReclaimDelayNs
                                         : platform::kForever;
  thief.idle_rounds = is_timed ? thief.idle_rounds + 1 : 0;
  const bool last = idle_.enter(worker.id, was_searching, is_timed);
  bool has_token = false;
  // Ours too: a thief that took its claim back may have hidden an entry from us for a moment.
  const bool has_own = worker.ready.size() != 0;
  if (!stopping() && !has_own && !has_work_anywhere(worker)) {
    if (last) options_.on_all_idle(options_.runtime);
    worker.counters.parks.add();
    has_token = park(worker, until);
    if (has_token) worker.counters.wakes.add();
  }
  const bool claimed = !idle_.leave(worker.id);
  while (claimed && !has_token)
    has_token = park(worker, platform::kForever);  // whoever claimed us is about to unpark us
  if (is_timed) idle_.end_timed_sleep();
  if (reclaims && !claimed && !has_token) stacks_->give_excess();
  return claimed;
}

// Stealing has not paid off lately: stays away for a while, whatever is pushed, and the longer the more often. The time
// does not count: another theft right afterwards is the next in the row.
void Scheduler::backoff_park(Worker& worker) noexcept {
  auto& thief = worker.thief;
  const std::uint64_t started = now_ns();
  const std::uint64_t ns = timed_park_ns(thief.failed_steals - kMaxFailedSteals);
  idle_.begin_timed_sleep();
  (void)park(worker, started + (ns < kMaxBackoffParkNs ? ns : kMaxBackoffParkNs));
  idle_.end_timed_sleep();
  thief.stolen_at_ns += now_ns() - started;
  sched_point();
}

bool Scheduler::park(Worker& worker, std::uint64_t until_ns) noexcept {
  return is_deterministic_ ? deterministic_.park(until_ns) : worker.parker.park(until_ns);
}

void Scheduler::unpark(Worker& worker) noexcept {
  if (is_deterministic_)
    deterministic_.unpark(worker);
  else
    worker.parker.unpark();
}

[[gnu::noinline]] void Scheduler::wake_one() noexcept {
  const unsigned sleeper = idle_.claim();
  if (sleeper != IdleSet::kNobody) unpark(workers_[sleeper]);
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

// No deque has room and the machine no memory for a larger one: the injector is intrusive and always has.
[[gnu::noinline]] void Scheduler::overflow(Worker&, Runnable* runnable) noexcept {
  injector_.push(runnable);
  if (idle_.wants_wake(false)) wake_one();
}

[[gnu::noinline]] void Scheduler::inject(Runnable* runnable) noexcept {
  if (is_deterministic_ && !is_own_thread()) return deterministic_.submit(runnable);
  injector_.push(runnable);
  arch::full_fence();
  if (idle_.wants_wake(false)) wake_one();
}

bool Scheduler::is_own_thread() const noexcept {
  const auto* worker = static_cast<const Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr && worker->scheduler == this;
}

void Scheduler::request_attention() noexcept {
  attention_.store(true, std::memory_order_seq_cst);
  if (is_deterministic_)
    deterministic_.nudge();
  else
    wake_one();
}

void Scheduler::handle_attention() noexcept {
  if (attention_.exchange(false, std::memory_order_acq_rel)) options_.handle_attention(options_.runtime);
}

}  // namespace janus
