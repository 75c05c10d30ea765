// SPDX-License-Identifier: Apache-2.0
// rt/abi/reports/queues.cpp — see queues.h. Spawns, wakes and ends count nothing for this: the queues know their lengths,
// and who is neither queued nor on a worker waits.
#include "rt/abi/reports/queues.h"

#include <initializer_list>

namespace janus {

namespace {

std::uint64_t length_of(std::int64_t size) noexcept {
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;  // a thief and the owner may both be about to take the last
}

// If the task ends meanwhile, its record stays the record of a task.
std::uint64_t running_on(const Worker& worker) noexcept {
  const auto* const task = static_cast<const Task*>(
      static_cast<Runnable*>(__atomic_load_n(&static_cast<const WorkerSlot&>(worker).task, __ATOMIC_RELAXED)));
  return task != nullptr ? std::atomic_ref(const_cast<Task*>(task)->id).load(std::memory_order_relaxed) : 0;
}

}  // namespace

janus_worker_stats statistics_of(const Worker& worker) noexcept {
  const Counters& counters = worker.counters;
  janus_worker_stats stats{};
  stats.size = sizeof stats;
  stats.running_task = running_on(worker);
  stats.queued_ready = length_of(worker.ready.size());
  stats.queued_yielded = length_of(worker.yielded.size());
  stats.queued_caged = length_of(worker.groups.size());
  stats.tasks_spawned = counters.spawned.read();
  for (const Counter* ended :
       {&counters.completed, &counters.completed_inline, &counters.cancelled, &counters.failed, &counters.panicked})
    stats.tasks_ended += ended->read();
  stats.switches = counters.switches.read();
  stats.yields = counters.yields.read();
  stats.steals = counters.steals.read();
  stats.steals_failed = counters.steals_failed.read();
  stats.parks = counters.parks.read();
  stats.wakes = counters.wakes.read();
  stats.ops_used = counters.ops.read();
  return stats;
}

void add_states(Runtime& runtime, janus_stats& sum) noexcept {
  for (unsigned i = 0; i < runtime.scheduler.worker_count(); ++i) {
    const janus_worker_stats each = statistics_of(*runtime.scheduler.worker(i));
    sum.tasks_running += each.running_task != 0 ? 1 : 0;
    sum.tasks_queued += each.queued_ready + each.queued_yielded + each.queued_caged;
  }
  sum.queued_shared = runtime.scheduler.dispatcher().shared_queue_length();
  sum.tasks_queued += sum.queued_shared;
  const std::uint64_t active = sum.tasks_running + sum.tasks_queued;
  sum.tasks_waiting = sum.tasks_live > active ? sum.tasks_live - active : 0;
  sum.tasks_exhausted = runtime.exhausted.load(std::memory_order_relaxed);
}

}  // namespace janus
