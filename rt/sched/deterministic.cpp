// SPDX-License-Identifier: Apache-2.0
// rt/sched/deterministic.cpp — chooses the logical worker that steps next, switches to it, and advances virtual time.
#include "rt/sched/deterministic.h"

#include "rt/sched/fiber_hooks.h"
#include "rt/sched/hooks.h"

namespace janus {

namespace {

// The class of the stack that a logical worker has in place of a thread's own.
constexpr unsigned kHomeStackClass = 2;

}  // namespace

void DeterministicScheduler::init(const Parts& parts, bool is_on, std::uint64_t seed) noexcept {
  is_on_ = is_on;
  parts_ = parts;
  rng_ = Rng::for_worker(seed, ~0u);
  now_ns_.store(kStepNs, std::memory_order_relaxed);
}

bool DeterministicScheduler::has_left(const Worker& worker) const noexcept {
  return worker.is_gone.load(std::memory_order_relaxed);
}

bool DeterministicScheduler::can_step(const Worker& worker) const noexcept {
  if (has_left(worker)) return false;
  return !worker.is_parked || worker.has_token.load(std::memory_order_acquire) ||
         worker.parked_until_ns <= now_ns_.load(std::memory_order_relaxed);
}

// One of the workers that can step, each with the same probability; nullptr if none can.
Worker* DeterministicScheduler::choose() noexcept {
  unsigned able = 0;
  for (const Worker& worker : parts_.workers) able += can_step(worker) ? 1 : 0;
  if (able == 0) return nullptr;
  std::uint64_t skip = rng_.below(able);
  for (unsigned i = 0;; ++i) {
    if (can_step(parts_.workers[i]) && skip-- == 0) return &parts_.workers[i];
  }
}

// The worker that steps next. If none can, advances virtual time to the nearest deadline, or blocks the thread until
// another thread sends something. nullptr: all workers have left.
Worker* DeterministicScheduler::next() noexcept {
  const std::uint64_t now = now_ns_.load(std::memory_order_relaxed);
  if (now < platform::kForever - kStepNs) now_ns_.store(now + kStepNs, std::memory_order_relaxed);
  for (;;) {
    if (Worker* const chosen = choose()) return chosen;
    bool all_left = true;
    std::uint64_t nearest = platform::kForever;
    for (const Worker& worker : parts_.workers) {
      if (has_left(worker)) continue;
      all_left = false;
      if (worker.parked_until_ns < nearest) nearest = worker.parked_until_ns;
    }
    if (all_left) return nullptr;
    if (nearest == platform::kForever)
      wait_for_somebody();
    else if (!parts_.timers->are_any() || !take_in_sent())  // tasks may sleep until something is sent
      now_ns_.store(nearest, std::memory_order_relaxed);
  }
}

// Takes in one item that another thread has sent, if there is one.
bool DeterministicScheduler::take_in_sent() noexcept {
  Runnable* const sent = inbox_.take();
  if (sent == nullptr) return false;
  if (queue_if_pinned != nullptr && queue_if_pinned(sent)) return true;
  parts_.injector->push(sent);
  wake_one();
  return true;
}

// No worker can step: takes in what other threads have sent, one item for each call, or waits for it.
void DeterministicScheduler::wait_for_somebody() noexcept {
  const std::uint32_t seen = outside_.load(std::memory_order_acquire);
  if (parts_.attention->has_event()) return wake_one();
  for (const Worker& worker : parts_.workers) {
    if (worker.has_token.load(std::memory_order_acquire)) return;
  }
  if (take_in_sent()) return;
  platform::wait(outside_, seen, platform::kForever);
}

bool DeterministicScheduler::is_on_worker() const noexcept {
  const auto* worker = static_cast<const Worker*>(static_cast<WorkerSlot*>(platform::worker_slot()));
  return worker != nullptr && worker->scheduler == parts_.workers.first->scheduler;
}

void DeterministicScheduler::step_to(arch::Context& from, void* from_fiber, Worker& to) noexcept {
  platform::set_worker_slot(static_cast<WorkerSlot*>(&to));
  fiber_hooks::before_switch(from_fiber, to.fiber);
  janus_context_switch(&from, &to.logical_context);
  fiber_hooks::after_switch(from_fiber);
}

[[gnu::noinline]] void DeterministicScheduler::step() noexcept {
  Worker& me = current_worker();
  Worker* const chosen = next();
  if (chosen != &me) step_to(me.logical_context, me.fiber, *chosen);
}

[[gnu::noinline]] void DeterministicScheduler::add_to_hash(const Worker& worker, Event event,
                                                           const Runnable* runnable) noexcept {
  order_hash_.add(event, worker.id, hooks::id_of(runnable));
}

bool DeterministicScheduler::park(std::uint64_t until_ns) noexcept {
  Worker& me = current_worker();
  me.parked_until_ns = until_ns;
  me.is_parked = true;
  step();
  me.is_parked = false;
  return me.has_token.exchange(false, std::memory_order_acquire);  // pairs with unpark()
}

void DeterministicScheduler::unpark(Worker& worker) noexcept {
  worker.has_token.store(true, std::memory_order_release);
  if (!is_on_worker()) nudge();
}

void DeterministicScheduler::submit(Runnable* runnable) noexcept {
  inbox_.push(runnable);
  nudge();
}

void DeterministicScheduler::nudge() noexcept {
  outside_.fetch_add(1, std::memory_order_release);
  platform::wake(outside_, 1);
}

// Entry of a logical worker's home stack, which takes the place of a thread's own.
std::int64_t DeterministicScheduler::logical_entry(void* argument) noexcept {
  auto& self = *static_cast<DeterministicScheduler*>(argument);
  Worker& worker = current_worker();
  fiber_hooks::after_switch(worker.fiber);
  self.parts_.main(worker);
  Worker* const other = self.next();
  if (other != nullptr) self.step_to(worker.logical_context, worker.thread_fiber, *other);
  fiber_hooks::before_switch(worker.thread_fiber, self.host_fiber_);
  janus_context_switch(&worker.logical_context, &self.host_context_);
  __builtin_unreachable();
}

bool DeterministicScheduler::take_home(Worker& worker) noexcept {
  worker.home = parts_.stacks->take(&worker.stacks, kHomeStackClass);
  return worker.home != nullptr;
}

void DeterministicScheduler::run() noexcept {
  void* const slot_before = platform::worker_slot();
  host_fiber_ = fiber_hooks::adopt_thread();
  for (Worker& worker : parts_.workers) {
    Stack* const home = worker.home;
    home->fiber = fiber_hooks::enter(home->fiber, home->limit, home->start);
    worker.fiber = home->fiber;
    arch::make_context(worker.logical_context, home->start, logical_entry, this, nullptr);
  }
  if (Worker* const first = next()) step_to(host_context_, host_fiber_, *first);
  for (Worker& worker : parts_.workers) {
    parts_.stacks->give(&worker.stacks, worker.home);
  }
  fiber_hooks::destroy(host_fiber_);
  platform::set_worker_slot(slot_before);
}

}  // namespace janus
