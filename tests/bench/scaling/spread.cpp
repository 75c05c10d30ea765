// SPDX-License-Identifier: Apache-2.0
// spread.cpp: linked into a user's program, it prints each worker's counters at the end, which the C ABI gives only as
// sums: `worker I TASKS STEALS STEALS_FAILED`, on stderr.
#include "rt/sched/scheduler.h"

#include <janus/rt.h>

namespace {

unsigned long long tasks_ended(const janus::Counters& counted) {
  return counted.completed.read() + counted.cancelled.read() + counted.failed.read() + counted.panicked.read();
}

[[gnu::destructor]] void print_spread() {
  janus::Scheduler& scheduler = *janus::current_worker().scheduler;
  for (unsigned i = 0; i < scheduler.worker_count(); ++i) {
    const janus::Counters& counted = scheduler.worker(i)->counters;
    const unsigned long long steals = counted.steals.read(), failed = counted.steals_failed.read();
    janus_print(2, "worker %u %llu %llu %llu\n", i, tasks_ended(counted), steals, failed);
  }
}

}  // namespace
