// SPDX-License-Identifier: Apache-2.0
// rt/sched/among_groups.cpp — while a worker has runnables of groups other than group 0 (groups.h): chooses the group
// that has the next turn, and the runnable that begins it. With group 0 alone it is not used, unless a runnable is pinned
// to the worker. docs/decisions/0303, 0323
#include <arch/cpu.h>
#include "rt/sched/dispatcher.h"
#include "rt/sched/thieves.h"

namespace janus {

namespace {

// The most runnables that one dispatch moves from the deque to their groups' queues, since it delays the next task.
constexpr unsigned kMaxMoved = 64;
constexpr std::uint64_t kDigInterval = 16;

// Whether group 0 waits while `group` has the turn.
bool does_group_0_wait(const Worker& worker, std::uint32_t group) noexcept {
  return worker.yielded.size() != 0 || (group != 0 && worker.may_hide_group_0);
}

Runnable* take_newest_in_turn(Worker& worker) noexcept {
  const Entry newest = worker.ready.pop_apart();
  if (!newest || newest.runnable()->group == worker.turn_of) return newest.runnable();
  worker.ready.put_back(newest);
  return nullptr;
}

// Moves the newest runnables of the deque to their groups' queues, up to the first of group 0 or of `kept`.
void queue_newest(Worker& worker, std::uint32_t kept) noexcept {
  for (unsigned moved = 0; moved < kMaxMoved; ++moved) {
    const Entry newest = worker.ready.pop_apart();
    if (!newest) return;
    const std::uint32_t group = newest.runnable()->group;
    if (group == 0 || group == kept) {
      worker.ready.put_back(newest);
      return;
    }
    (void)Dispatcher::queue_yielded(worker, newest.runnable());
  }
}

}  // namespace

// The group whose turn it is goes on until the turn is over (a-turn-lasts, worker.h; docs/decisions/0303).
[[gnu::noinline]] Runnable* Dispatcher::next_among_groups(Worker& worker, const Runnable* yielding) noexcept {
  Runnable* const own = next_in_turn(worker);
  const bool goes_on = yielding != nullptr && worker.until_fair > 0 && worker.turn_of == yielding->group;
  return own != nullptr || goes_on ? own : begin_next_turn(worker, yielding);
}

// Takes the next runnable of the group whose turn it is. nullptr: there is none, or the turn is over.
[[gnu::always_inline]] inline Runnable* Dispatcher::next_in_turn(Worker& worker) noexcept {
  if (arch::rdtsc() > worker.turn_until) [[unlikely]]
    TurnMeter::end_early(worker);
  if (worker.until_fair <= 0 || worker.turn_of == WorkerFairness::kNobody) [[unlikely]]
    return nullptr;
  worker.until_fair -= worker.dispatch_ops;
  if (const Entry newest = worker.ready.pop()) {
    Runnable* const runnable = newest.runnable();
    const std::uint32_t group = runnable->group;
    if (group == worker.turn_of) [[likely]] {
      fetch_ready_ahead(worker);
      return runnable;
    }
    worker.ready.put_back(newest);
    worker.may_hide_group_0 = true;
    if (group != 0) {  // has become ready in this turn, and waits in no queue of its group
      TurnMeter::end_early(worker);
      return nullptr;
    }
  }
  return take_queued_in_turn(worker);
}

// Called when a turn is over: it is used up, or nothing of its group is ready. `yielding` is the running runnable,
// which is in no queue, or nullptr. If this returns nullptr, `yielding` goes on.
[[gnu::noinline]] Runnable* Dispatcher::begin_next_turn(Worker& worker, const Runnable* yielding) noexcept {
  const std::uint32_t last = yielding != nullptr ? yielding->group : worker.turn_of;
  const bool is_used_up = worker.until_fair <= 0;
  turn_meter_.end(worker);
  if (is_used_up) {
    worker.until_fair = fair_ops_;
    worker.counters.fair_rounds.add();
    queue_injected(worker);
    look_at_others(worker, last);
  }
  worker.until_fair -= worker.dispatch_ops;
  Runnable* next = nullptr;
  queue_newest(worker, last);
  const bool has_pinned = worker.counters.pinned.read() != 0;
  if (has_pinned) [[unlikely]]
    next = begin_pinned_turn(worker, false);
  const bool may_renew = next != nullptr ? false : is_used_up ? last != WorkerFairness::kNobody : yielding != nullptr;
  const bool is_renewed = may_renew && worker.groups.is_due(last, does_group_0_wait(worker, last));
  if (is_renewed) next = begin_turn_of(worker, last);
  if (next == nullptr && !(is_renewed && yielding != nullptr)) next = begin_least_turn(worker);
  if (next == nullptr && yielding == nullptr && has_pinned) next = begin_pinned_turn(worker, true);
  const Runnable* const runs = next != nullptr ? next : yielding;
  worker.turn_of = runs != nullptr ? runs->group : WorkerFairness::kNobody;
  if (worker.turn_of != last) worker.may_hide_group_0 = !worker.ready.is_empty();
  // A runnable that yields is queued only after this.
  const bool is_group_0_alone = worker.groups.size() == 0 && (yielding == nullptr || yielding->group == 0);
  const bool is_calm = is_group_0_alone && !has_pinned && ((is_used_up && last == 0) || worker.ready.is_empty());
  worker.yield_bar = worker.turn_of == 0 ? 0 : WorkerFairness::kOutOfReach;
  if (worker.turn_of == 0 && is_calm) {
    worker.dispatch_bar = 0;
    worker.turn_of = WorkerFairness::kNobody;
  }
  return next;
}

// Begins a turn of the group that has spent least. nullptr: nothing is ready.
Runnable* Dispatcher::begin_least_turn(Worker& worker) noexcept {
  queue_newest(worker, 0);
  const bool is_group_0_ready = worker.yielded.size() != 0 || !worker.ready.is_empty();
  if (is_group_0_ready && worker.groups.is_due(0, true)) {
    if (Runnable* const first = begin_turn_of(worker, 0)) return first;
  }
  if (Runnable* const first = worker.groups.take_turn(worker.yielded)) return first;
  if (Runnable* const newest = worker.ready.pop_apart().runnable()) return newest;
  return injector_.is_empty() ? nullptr : take_injected(worker);
}

// Begins a turn of `group` with its runnable that has waited longest, alternately in the group's queue and in the
// deque. nullptr: the group has none here.
Runnable* Dispatcher::begin_turn_of(Worker& worker, std::uint32_t group) noexcept {
  worker.groups.begin_turn(group);
  worker.turn_of = group;
  worker.fair_source = worker.fair_source == FairSource::kReady ? FairSource::kYielded : FairSource::kReady;
  Runnable* first = worker.fair_source == FairSource::kYielded ? take_queued_in_turn(worker) : nullptr;
  if (first == nullptr) first = take_oldest_in_turn(worker);
  if (first == nullptr) first = take_queued_in_turn(worker);
  return first != nullptr ? first : take_newest_in_turn(worker);
}

// Takes the oldest runnable of the deque if it is of the group whose turn it is. Runnables of other groups before it
// move to their groups' queues, so that they do not hide it for long. While may_hide_group_0, runnables of the group
// whose turn it is move as well. Each is moved at most once, and its group has paid an op for it.
Runnable* Dispatcher::take_oldest_in_turn(Worker& worker) noexcept {
  const bool is_dug_for = worker.counters.fair_rounds.read() % kDigInterval == 0;  // to find a woken one of group 0
  worker.may_hide_group_0 |= is_dug_for;
  for (unsigned moved = 0; moved < kMaxMoved; ++moved) {
    Runnable* const oldest = worker.ready.take_oldest().runnable();
    worker.may_hide_group_0 &= oldest != nullptr;
    if (oldest == nullptr) break;
    const std::uint32_t group = oldest->group;
    if (group == worker.turn_of && !(group != 0 && worker.may_hide_group_0)) return oldest;
    queue(worker, oldest);
    if (group == 0) break;
  }
  return nullptr;
}

// Moves one runnable from the injector to the queue of its group.
void Dispatcher::queue_injected(Worker& worker) noexcept {
  Runnable* const injected = injector_.is_empty() ? nullptr : injector_.take();
  if (injected == nullptr) return;
  worker.counters.injected.add();
  queue(worker, injected);
}

// Precondition: `running` is in no queue. Settles its turn first, so that its group's spent amount is up to date.
[[gnu::noinline]] bool Dispatcher::keeps_turn_among_groups(Worker& worker, const Runnable& running) noexcept {
  if (worker.until_fair > 0 && worker.turn_of == running.group) return false;  // a yield costs less
  turn_meter_.end(worker);
  worker.turn_of = running.group;
  if (!injector_.is_empty() || worker.pinned.is_any_ready()) return false;
  queue_newest(worker, running.group);
  if (const Entry newest = worker.ready.pop_apart()) {
    const bool is_own = newest.runnable()->group == running.group;
    worker.ready.put_back(newest);
    if (is_own) return false;
    worker.may_hide_group_0 = true;
  }
  if (!worker.groups.keeps_turn(running.group, does_group_0_wait(worker, running.group))) return false;
  worker.groups.begin_turn(running.group);
  return true;
}

}  // namespace janus
