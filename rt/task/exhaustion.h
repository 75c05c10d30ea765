// SPDX-License-Identifier: Apache-2.0
// rt/task/exhaustion.h — the tasks that wait for somebody to recharge their budget.
#pragma once

#include "rt/task/runtime.h"

namespace janus {

// On the waiting task's stack; linked under the runtime's exhausted_lock.
struct Exhausted {
  Task* task;
  Component component;
  std::uint64_t amount;
  Exhausted* previous;
  Exhausted* next;
  bool is_recharged;
  bool is_unrechargeable;  // nobody will ever
};

// Until recharged, cancelled or doomed.
void wait_for_recharge(Runtime& runtime, Exhausted& wait) noexcept;
// Those who live on `nursery`'s account look again.
void wake_recharged(Worker* worker, Nursery& nursery) noexcept;
// Nobody who could recharge them can run: they end. True: there were some.
bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept;

}  // namespace janus
