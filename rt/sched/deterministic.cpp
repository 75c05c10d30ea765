// SPDX-License-Identifier: Apache-2.0
// rt/sched/deterministic.cpp — the only loop that differs in deterministic mode: who steps next.
#include "rt/sched/deterministic.h"

#include "rt/sched/fiber_hooks.h"
#include "rt/sched/scheduler.h"

namespace janus {

namespace {

// What a logical worker has in place of a thread's own stack.
constexpr unsigned kHomeStackClass = 2;

}  // namespace

void DeterministicScheduler::init(Scheduler& scheduler, std::uint64_t seed) noexcept {
  scheduler_ = &scheduler;
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

// One of those that can step, evenly; nullptr if none can.
Worker* DeterministicScheduler::choose() noexcept {
  const unsigned count = scheduler_->worker_count_;
  unsigned able = 0;
  for (unsigned i = 0; i < count; ++i) able += can_step(scheduler_->workers_[i]) ? 1 : 0;
  if (able == 0) return nullptr;
  std::uint64_t skip = rng_.below(able);
  for (unsigned i = 0;; ++i) {
    if (can_step(scheduler_->workers_[i]) && skip-- == 0) return &scheduler_->workers_[i];
  }
}

// Whoever steps next; lets virtual time jump, or real time pass, until somebody can. nullptr: all have left.
Worker* DeterministicScheduler::next() noexcept {
  now_ns_.store(now_ns_.load(std::memory_order_relaxed) + kStepNs, std::memory_order_relaxed);
  for (;;) {
    if (Worker* const chosen = choose()) return chosen;
    bool all_left = true;
    std::uint64_t nearest = platform::kForever;
    for (unsigned i = 0; i < scheduler_->worker_count_; ++i) {
      const Worker& worker = scheduler_->workers_[i];
      if (has_left(worker)) continue;
      all_left = false;
      if (worker.parked_until_ns < nearest) nearest = worker.parked_until_ns;
    }
    if (all_left) return nullptr;
    if (nearest != platform::kForever)
      now_ns_.store(nearest, std::memory_order_relaxed);
    else
      wait_for_somebody();
  }
}

// Nobody can step: what other threads sent comes in now, one at a time.
void DeterministicScheduler::wait_for_somebody() noexcept {
  const std::uint32_t seen = outside_.load(std::memory_order_acquire);
  if (scheduler_->wants_attention()) return scheduler_->wake_one();
  for (unsigned i = 0; i < scheduler_->worker_count_; ++i) {
    if (scheduler_->workers_[i].has_token.load(std::memory_order_acquire)) return;
  }
  if (Runnable* const sent = inbox_.take()) {
    scheduler_->injector_.push(sent);
    return scheduler_->wake_one();
  }
  platform::wait(outside_, seen, platform::kForever);
}

void DeterministicScheduler::step_to(arch::Context& from, void* from_fiber, Worker& to) noexcept {
  platform::set_worker_slot(static_cast<WorkerSlot*>(&to));
  fiber_hooks::before_switch(from_fiber, to.fiber);
  janus_context_switch(&from, &to.logical_context);
  fiber_hooks::after_switch(from_fiber);
}

[[gnu::noinline]] void DeterministicScheduler::sched_point() noexcept {
  Worker& me = current_worker();
  Worker* const chosen = next();
  if (chosen != &me) step_to(me.logical_context, me.fiber, *chosen);
}

bool DeterministicScheduler::park(std::uint64_t until_ns) noexcept {
  Worker& me = current_worker();
  me.parked_until_ns = until_ns;
  me.is_parked = true;
  sched_point();
  me.is_parked = false;
  return me.has_token.exchange(false, std::memory_order_acquire);  // pairs with unpark()
}

void DeterministicScheduler::unpark(Worker& worker) noexcept {
  worker.has_token.store(true, std::memory_order_release);
  if (!scheduler_->is_own_thread()) nudge();
}

void DeterministicScheduler::submit(Runnable* runnable) noexcept {
  inbox_.push(runnable);
  nudge();
}

void DeterministicScheduler::nudge() noexcept {
  outside_.fetch_add(1, std::memory_order_release);
  platform::wake(outside_, 1);
}

// The home stack of a logical worker, where a real one has its thread's.
std::int64_t DeterministicScheduler::logical_entry(void* argument) noexcept {
  auto& worker = *static_cast<Worker*>(argument);
  DeterministicScheduler& self = worker.scheduler->deterministic_;
  fiber_hooks::after_switch(worker.fiber);
  worker.scheduler->worker_main(worker);
  Worker* const other = self.next();
  if (other != nullptr) self.step_to(worker.logical_context, worker.thread_fiber, *other);
  fiber_hooks::before_switch(worker.thread_fiber, self.host_fiber_);
  janus_context_switch(&worker.logical_context, &self.host_context_);
  __builtin_unreachable();
}

void DeterministicScheduler::run() noexcept {
  void* const slot_before = platform::worker_slot();
  host_fiber_ = fiber_hooks::adopt_thread();
  for (unsigned i = 0; i < scheduler_->worker_count_; ++i) {
    Worker& worker = scheduler_->workers_[i];
    Stack* const home = scheduler_->stacks_->take(&worker.stacks, kHomeStackClass);
    if (home == nullptr) {
      worker.is_gone.store(true, std::memory_order_relaxed);
      continue;
    }
    home->fiber = fiber_hooks::enter(home->fiber, home->limit, home->start);
    worker.home = home;
    worker.fiber = home->fiber;
    arch::make_context(worker.logical_context, home->start, logical_entry, &worker, nullptr);
  }
  if (Worker* const first = next()) step_to(host_context_, host_fiber_, *first);
  for (unsigned i = 0; i < scheduler_->worker_count_; ++i) {
    Worker& worker = scheduler_->workers_[i];
    if (worker.home != nullptr) scheduler_->stacks_->give(&worker.stacks, worker.home);
  }
  fiber_hooks::destroy(host_fiber_);
  platform::set_worker_slot(slot_before);
}

}  // namespace janus
