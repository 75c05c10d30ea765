// SPDX-License-Identifier: Apache-2.0
// jobs.cpp — what the scheduler asks of the layer above it, for jobs.
#include "tests/sched/jobs.h"

// What the runnables of these tests stand for: jobs.
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

std::uint64_t id_of(const Runnable* runnable) noexcept {
  return static_cast<const Job*>(runnable)->id;
}

void on_all_idle(Worker& worker) noexcept {
  test::yard_of(worker).on_all_idle.fetch_add(1);
}

void on_attention(Worker& worker) noexcept {
  test::yard_of(worker).attended.fetch_add(1);
}

}  // namespace janus::hooks
