// SPDX-License-Identifier: Apache-2.0
// rt/sched/runnable.h — what the scheduler moves about; the task layer derives from it.
#pragma once

#include "arch/x86_64/context.h"
#include "rt/mem/stack_pool.h"

namespace janus {

// Where a started runnable left off. Lives on the very stack that it describes.
struct Suspension {
  arch::Context context;
  Stack* stack;
};

struct Runnable {
  Runnable* next;          // while it is in the injector; the slab's while nobody has the record
  Suspension* suspension;  // nullptr: has not started, any worker may call it from a base frame
  std::uint8_t stack_class;
};

}  // namespace janus
