// SPDX-License-Identifier: Apache-2.0
// rt/sched/runnable.h — the unit that the scheduler queues and runs; the task layer derives its Task from it.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/context.h>
#include "rt/mem/stack_pool.h"

namespace janus {

// Where a started runnable was suspended. Stored on the very stack that it describes.
struct Suspension {
  arch::Context context;
  Stack* stack;
  std::byte* stack_limit;  // copied to the worker on resumption, so that it need not read the stack's record
};

struct Runnable {
  Runnable* next;  // link in the injector or a group's queue; the slab's link while the record is free
  std::atomic<Suspension*> suspended_at;  // see suspension(); a prefetch may read it after a thief has taken this
  std::uint8_t stack_class;
  // The next three belong to the task layer, and the scheduler never reads them. They are here to share a cache line
  // with what a switch reads.
  std::uint8_t marks;  // TaskMarks
  bool is_published;   // it and all tasks below it on the stack are members and have published their nurseries
  bool yielded_free;   // its last operation was a yield
  // The group whose turns it takes (rt/sched/groups.h), which names a cage and a priority (rt/sched/priority.h). Does not
  // change while it is queued.
  std::uint32_t group;

  // nullptr: it has not started, and any worker may call it from a base frame.
  Suspension* suspension() const noexcept { return suspended_at.load(std::memory_order_relaxed); }
  void suspend_at(Suspension* where) noexcept { suspended_at.store(where, std::memory_order_relaxed); }
};

}  // namespace janus
