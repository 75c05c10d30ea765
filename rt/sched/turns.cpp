// SPDX-License-Identifier: Apache-2.0
// rt/sched/turns.cpp — what a worker runs next where there are other parties than party 0: whose turn it is, and what
// each turn has taken. That is time, since a budget bounds what a party does, not how long the machine needs for it; in
// deterministic mode it is ops. With party 0 alone nothing here is called.
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

constexpr std::uint64_t kDigInterval = 16;
constexpr unsigned kOldestMoved = 64;  // from the deque to their parties, in a fair round
// What a turn takes for certain, in ns: the prices of operations keep a slice well below that. Of one that seems
// longer, the machine may have taken the processor away meanwhile.
constexpr std::uint64_t kCertainTurn = 2'000'000;
// After so long what the thread has waited is nothing to a turn that begins now.
constexpr std::uint64_t kAskedLongAgo = 100'000'000;

}  // namespace

std::uint64_t Scheduler::turn_clock(const Worker& worker) noexcept {
  return is_deterministic_ ? worker.counters.ops.read() : platform::now_ns();
}

// Of a turn that seems to have taken long, and ends now. The machine tells how long it has let this thread run, by a
// system call, so it is asked here, and where it was asked long ago or before the worker slept. What it has let it wait
// since then counts as if all of that had been in this turn: so what counts was spent, if it is more than what is
// certain.
[[gnu::noinline, gnu::cold]] std::uint64_t Scheduler::time_of_long_turn(Worker& worker, std::uint64_t now,
                                                                        std::uint64_t seems) noexcept {
  const std::uint64_t ran = platform::thread_ns();
  const auto before = worker.asked;
  worker.asked = {now, ran};
  if (ran < before.ran_ns) return kCertainTurn;
  const std::uint64_t passed = now - before.at_ns, ran_meanwhile = ran - before.ran_ns;
  const std::uint64_t waited = passed > ran_meanwhile ? passed - ran_meanwhile : 0;
  return seems > waited + kCertainTurn ? seems - waited : kCertainTurn;
}

// Whoever had it.
void Scheduler::end_turn(Worker& worker) noexcept {
  const std::uint64_t now = turn_clock(worker);
  if (worker.turn_of != WorkerFairness::kNobody) {
    std::uint64_t taken = now > worker.turn_began ? now - worker.turn_began : 0;
    if (taken > kCertainTurn && !is_deterministic_) [[unlikely]]
      taken = time_of_long_turn(worker, now, taken);
    worker.parties.spend(worker.turn_of, taken);
  }
  worker.turn_of = WorkerFairness::kNobody;
  worker.turn_began = now;
  if (now - worker.asked.at_ns > kAskedLongAgo && !is_deterministic_) [[unlikely]]
    worker.asked = {now, platform::thread_ns()};
}

// Where none has it. What is taken from elsewhere is not judged: others have waited there.
void Scheduler::begin_turn(Worker& worker, std::uint32_t party) noexcept {
  worker.turn_of = party;
  worker.turn_began = turn_clock(worker);
  if (party != 0) worker.calm = 0;
}

[[gnu::noinline]] void Scheduler::change_turn(Worker& worker, std::uint32_t party) noexcept {
  if (party == 0 && !worker.has_other_parties()) return;
  end_turn(worker);
  worker.yield_bar = WorkerFairness::kOutOfReach;
  begin_turn(worker, party);
}

// What is woken or spawned is in the deque, whatever its party. The oldest there has its turn, but a crowd has one turn
// together: while anybody else waits, what is not of party 0 goes to its party's queue and has its turns there. So
// whoever is behind many of one party is soon the oldest himself. Each is moved once, and has cost its party an op. One
// of party 0 that is early waits with those that have yielded.
Runnable* Scheduler::take_oldest_ready(Worker& worker) noexcept {
  worker.may_bury_party_0 |= worker.counters.fair_rounds.read() % kDigInterval == 0;  // one that was woken, say
  for (unsigned moved = 0; moved < kOldestMoved; ++moved) {
    Runnable* const oldest = worker.ready.take_oldest().runnable();
    worker.may_bury_party_0 &= oldest != nullptr;
    if (oldest == nullptr) break;
    const bool others_wait = oldest->party != 0 && (worker.may_bury_party_0 || worker.yielded.size() != 0 ||
                                                    !injector_.is_empty() || worker.parties.has_others(oldest->party));
    const bool is_early = oldest->party == 0 && worker.has_other_parties() && !worker.parties.is_due(0, true);
    if (!others_wait && !is_early) {
      worker.may_bury_party_0 |= oldest->party == 0 && worker.has_other_parties();
      return oldest;
    }
    if (!queue_yielded(worker, oldest)) injector_.push(oldest);
    if (is_early) break;
  }
  return worker.parties.size() != 0 ? worker.parties.take_turn(worker.yielded) : nullptr;
}

}  // namespace janus
