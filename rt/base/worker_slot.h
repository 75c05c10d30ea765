// SPDX-License-Identifier: Apache-2.0
// rt/base/worker_slot.h — the head of every worker's record, which the gs base points to. Compilers emit the fuel check
// against it, so JANUS_FUEL_OFFSET is frozen; tests/offsets checks the bytes of the program against this struct.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arch/worker_slot.h>
#include "rt/base/lock_order.h"

namespace janus {

struct WorkerSlot {
  WorkerSlot* self;        // read by a task to find its worker: one load, %gs:0
  std::int64_t fuel;       // ops left in the running task's slice; the yield check subtracts from it
  void* task;              // the running task; nullptr while the worker is in its own code
  std::byte* stack_limit;  // if rsp is below this, a call of the runtime takes the general path
#if JANUS_ASSERTIONS
  std::uint8_t locks_held[static_cast<unsigned>(LockRank::kCount)];  // how many it holds of each rank (lock_rank.h)
#endif
};

static_assert(offsetof(WorkerSlot, self) == 0 && offsetof(WorkerSlot, fuel) == 8);
static_assert(offsetof(WorkerSlot, task) == 16 && offsetof(WorkerSlot, stack_limit) == 24);

}  // namespace janus
