// SPDX-License-Identifier: Apache-2.0
// rt/sched/runnable.h — what the scheduler moves about; the task layer derives from it.
#pragma once

#include <atomic>
#include <cstdint>

#include <arch/context.h>
#include "rt/mem/stack_pool.h"

namespace janus {

// Where a started runnable left off. Lives on the very stack that it describes.
struct Suspension {
  arch::Context context;
  Stack* stack;
  std::byte* stack_limit;  // the worker's word for it: who resumes need not look at the stack's record
};

struct Runnable {
  Runnable* next;  // while it is in the injector or a party; the slab's while nobody has the record
  std::atomic<Suspension*> suspended_at;  // as below; a worker may fetch ahead what a thief has already taken
  std::uint8_t stack_class;
  // The task layer's own, which the scheduler never looks at; here, they share a line with what a switch looks at.
  std::uint8_t marks;  // TaskMarks
  bool is_published;   // it and all tasks below it on the stack are members and have published their nurseries
  bool yielded_free;   // the last thing that it did was a yield
  // Whose turn it takes when it has used up a slice (rt/sched/parties.h). Does not change while it is queued.
  std::uint32_t party;

  // nullptr: has not started, any worker may call it from a base frame.
  Suspension* suspension() const noexcept { return suspended_at.load(std::memory_order_relaxed); }
  void suspend_at(Suspension* where) noexcept { suspended_at.store(where, std::memory_order_relaxed); }
};

}  // namespace janus
