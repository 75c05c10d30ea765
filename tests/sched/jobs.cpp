// SPDX-License-Identifier: Apache-2.0
// jobs.cpp — rt/sched/hooks.h, implemented for jobs: what the scheduler calls in the layer above it.
#include "tests/sched/jobs.h"

namespace janus::hooks {

using test::Job;

void run(Runnable* fresh) noexcept {
  auto& job = *static_cast<Job*>(fresh);
  job.worker_at_start = current_worker().id;
  job.body(job);
}

void refuse(Runnable*) noexcept {
  CHECK(false);
}

bool has_paid(const Runnable*) noexcept {
  return false;
}

Worker* home_of(const Runnable*) noexcept {
  return nullptr;
}

std::uint64_t id_of(const Runnable* runnable) noexcept {
  return static_cast<const Job*>(runnable)->id;
}

void on_all_idle(Worker& worker, IdleSet::Snapshot entered) noexcept {
  test::Yard& yard = test::yard_of(worker);
  yard.looking.store(1);
  const std::uint64_t until = platform::now_ns() + yard.patience_ns.load();
  while (yard.running.load() == 0 && platform::now_ns() < until) __builtin_ia32_pause();
  const int running = yard.running.load();
  if (worker.scheduler->all_slept_since(entered)) CHECK_EQ(running, 0);
  yard.looking.store(0);
  yard.on_all_idle.fetch_add(1);
}

Runnable* on_timer(Worker&, Timer& timer) noexcept {
  auto& alarm = static_cast<test::Alarm&>(timer);
  return alarm.job->parked.exchange(2) == 1 ? alarm.job : nullptr;
}

void go_on_firing(Worker&, void*&) noexcept {
  CHECK(false);
}

void on_timers_due(Worker& worker) noexcept {
  test::yard_of(worker).timers_due.fetch_add(1);
}

void on_attention(Worker& worker) noexcept {
  test::yard_of(worker).attended.fetch_add(1);
}

}  // namespace janus::hooks
