// SPDX-License-Identifier: Apache-2.0
#include "rt/sched/turn_meter.h"

#include <arch/cpu.h>
#include "rt/platform.h"

namespace janus {
namespace {

// A turn of up to this many ns counts in full. During a longer one the kernel may have preempted the thread, so the
// worker asks for the thread's CPU time. Other turns are seldom that long, and a question costs much less.
constexpr std::uint64_t kCertainTurn = 100'000;
// Up to this many ns count in full if the thread was not preempted: then it has waited in a system call, and the other
// tasks of the worker with it. In deterministic mode, which measures ops, no turn counts for more: ops beyond two
// maximal slices are only costs that programs claim in yield checks.
constexpr std::uint64_t kMaxUncertain = 2'000'000;
// If the times in `asked` are older than this, in ns, they are renewed when a turn begins, so that earlier waits of the
// thread are not deducted from that turn.
constexpr std::uint64_t kAskedLongAgo = 100'000'000;

constexpr std::uint64_t at_most(std::uint64_t limit, std::uint64_t value) noexcept {
  return value < limit ? value : limit;
}

}  // namespace

std::uint64_t TurnMeter::clock(const Worker& worker) const noexcept {
  return is_deterministic_ ? worker.counters.ops.read() : platform::now_ns();
}

// A turn begins at `now`. Sets when it has to end.
void TurnMeter::start(Worker& worker, std::uint64_t now) const noexcept {
  worker.turn_began = now;
  worker.turn_until = is_deterministic_ ? ~std::uint64_t{0} : arch::rdtsc() + WorkerFairness::kMaxTurnTicks;
  if (now - worker.asked.at_ns > kAskedLongAgo && !is_deterministic_) [[unlikely]]
    ask(worker, now);
}

// Reads the thread's CPU time. Begins the watch if it has ended (groups-are-watched).
[[gnu::noinline, gnu::cold]] void TurnMeter::ask(Worker& worker, std::uint64_t now) const noexcept {
  worker.asked = {now, platform::thread_ns()};
  arch::compiler_barrier();
  if (const TurnWatch* const watching = watch();
      watching != nullptr && !worker.watch.is_set.load(std::memory_order_relaxed))
    watching->begin(worker);
}

// Returns the time to charge for a turn that ends now and seems to have taken `seems`. The thread's CPU time costs a
// system call, so it is read only here, and in start() if the last reading is old or from before a sleep. All the time
// since the last reading in which the thread did not run is deducted from this turn, if it is more than kCertainTurn:
// the rest was certainly used.
[[gnu::noinline, gnu::cold]] std::uint64_t TurnMeter::time_of_long_turn(Worker& worker, std::uint64_t now,
                                                                        std::uint64_t seems) const noexcept {
  const auto before = worker.asked;
  ask(worker, now);
  const std::uint64_t passed = now - before.at_ns, ran_meanwhile = worker.asked.ran_ns - before.ran_ns;
  const std::uint64_t waited = passed > ran_meanwhile ? passed - ran_meanwhile : 0;
  if (waited <= kCertainTurn) return seems;
  const std::uint64_t preemptions = platform::preemptions();
  const bool is_preempted = preemptions != worker.preemptions;
  worker.preemptions = preemptions;
  const std::uint64_t at_least = at_most(is_preempted ? kCertainTurn : kMaxUncertain, seems);
  return seems > waited + at_least ? seems - waited : at_least;
}

void TurnMeter::end(Worker& worker) noexcept {
  const std::uint64_t now = clock(worker);
  if (worker.turn_of != WorkerFairness::kNobody) {
    std::uint64_t taken = now > worker.turn_began ? now - worker.turn_began : 0;
    if (taken > kCertainTurn) [[unlikely]] {
      taken = is_deterministic_ ? at_most(kMaxUncertain, taken) : time_of_long_turn(worker, now, taken);
      if (!is_deterministic_ && Groups::notes_long_turns())
        Groups::note_long_turn(worker.groups, worker.turn_of, taken);
    }
    worker.groups.spend(worker.turn_of, taken);
  }
  worker.turn_of = WorkerFairness::kNobody;
  start(worker, now);
}

void TurnMeter::begin(Worker& worker, std::uint32_t group) noexcept {
  worker.groups.begin_turn(group);
  worker.turn_of = group;
  start(worker, clock(worker));
  worker.yield_bar = group == 0 ? 0 : WorkerFairness::kOutOfReach;
  worker.may_hide_group_0 = !worker.ready.is_empty();
}

std::uint64_t TurnMeter::charge_outside_turn(Worker& worker, std::uint32_t group, std::uint64_t began) const noexcept {
  const std::uint64_t now = clock(worker);
  if (group == 0 || now <= began) return now;
  worker.groups.spend_outside_turn(group, at_most(kCertainTurn, now - began));
  worker.turn_began += now - began;
  return now;
}

[[gnu::noinline]] void TurnMeter::change(Worker& worker, std::uint32_t group) noexcept {
  if (group == 0 && !worker.has_other_groups()) return;
  end(worker);
  worker.dispatch_bar = WorkerFairness::kOutOfReach;
  begin(worker, group);
}

}  // namespace janus
