// SPDX-License-Identifier: Apache-2.0
// rt/sched/queues.cpp — queueing runnables that have yielded, taking from the injector, and prefetching queued runnables
// ahead of their turn.
#include "rt/sched/dispatcher.h"

namespace janus {

namespace {

constexpr unsigned kInjectedBatch = 16;

// In a long queue each runnable has left the cache when its turn comes, so its record, its registers and the top of its
// stack are prefetched while others run.
template <int First, int Last>  // cache lines of its stack, relative to its Suspension
[[gnu::always_inline]] inline void fetch_ahead(const Runnable* record, const Runnable* suspended) noexcept {
  if (record == nullptr || suspended == nullptr) return;
  __builtin_prefetch(record);
  __builtin_prefetch(reinterpret_cast<const char*>(record) + 64);
  if (const auto* const stack = reinterpret_cast<const char*>(suspended->suspension()))
    for (int line = First; line <= Last; ++line) __builtin_prefetch(stack + 64 * line);
}
constexpr std::int64_t kRecordsAhead = 16, kStacksAhead = 8;
// A woken runnable was suspended deeper in the runtime than one that yielded, so more lines are prefetched: from below
// its saved registers up to the record of its stack. They are too many to prefetch at once: first come those that the
// switch reads, and then the frames, which would be evicted if they came as early.
constexpr std::int64_t kWokenAhead = 4, kFramesAhead = 2;
constexpr int kFirstFrame = 2, kLastFrame = 16;  // cache lines

[[gnu::always_inline]] inline void fetch_frames(const Runnable* woken) noexcept {
  if (woken == nullptr) return;
  const auto* const stack = reinterpret_cast<const char*>(woken->suspension());
  if (stack == nullptr) return;
#pragma GCC unroll 1
  for (int line = kFirstFrame; line <= kLastFrame; ++line) __builtin_prefetch(stack + 64 * line);
}

}  // namespace

void Dispatcher::fetch_ready_ahead(const Worker& worker) noexcept {
  const Runnable* const record = worker.ready.upcoming(kRecordsAhead).runnable();
  if (record == nullptr) [[likely]]
    return;
  fetch_ahead<-6, kFirstFrame - 1>(record, worker.ready.upcoming(kWokenAhead).runnable());
  fetch_frames(worker.ready.upcoming(kFramesAhead).runnable());
}

void Dispatcher::fetch_yielded_ahead(const Worker& worker) noexcept {
  if (const Runnable* const suspended = worker.yielded.upcoming(kStacksAhead))
    fetch_ahead<-1, 3>(worker.yielded.upcoming(kRecordsAhead), suspended);
}

bool Dispatcher::queue_yielded(Worker& worker, Runnable* runnable) noexcept {
  if (runnable->group == 0) [[likely]]
    return worker.yielded.push(runnable);
  worker.groups.push(runnable);
  if (!worker.has_other_groups()) worker.dispatch_bar = worker.yield_bar = WorkerFairness::kOutOfReach;
  return true;
}

// Takes from the queue of the group whose turn it is.
Runnable* Dispatcher::take_queued_in_turn(Worker& worker) noexcept {
  if (worker.turn_of != 0) return worker.groups.take_own(worker.turn_of);
  Runnable* const yielded = worker.yielded.take();
  if (yielded != nullptr) fetch_yielded_ahead(worker);
  return yielded;
}

[[gnu::noinline, gnu::cold]] Runnable* Dispatcher::take_injected(Worker& worker) noexcept {
  Runnable* const first = injector_.take();
  if (first == nullptr) return nullptr;
  worker.counters.injected.add();
  // Takes this worker's share at once, since all workers contend for the injector's lock.
  std::uint64_t share = injector_.size() / workers_;
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

}  // namespace janus
