// SPDX-License-Identifier: Apache-2.0
// rt/task/run/pin.cpp — see pin.h. Linked into programs that pin only (rt/optional.h). docs/decisions/0342
#include "rt/task/run/pin.h"

#include "rt/task/record/runtime.h"
#include "rt/task/stacks/stack_growth.h"
#include "rt/task/wait/pinned.h"

namespace janus {

namespace {

// Undoes all pins of the running task but `most`. Precondition: it is pinned.
void limit_pins(Task& self, std::uint32_t most) noexcept {
  RunDetails& details = self.frame->details;
  Worker& worker = current_worker();
  JANUS_ASSERT(details.pinned_to == worker.id);
  if (details.pins > most) details.pins = most;
  if (details.pins_before > details.pins) details.pins_before = details.pins;
  if (details.pins != 0) return;
  details.context &= static_cast<std::uint8_t>(~RunDetails::kIsPinned);
  look_at_context(self);
  Scheduler::remove_pin(worker);
  worker.stack_limit = worker.scheduler->stack_limit_of(worker.stack);
  tell_limit(worker);
}

}  // namespace

bool pin(Task& self) noexcept {
  Worker& worker = current_worker();
  if (is_pinned(self)) {
    JANUS_ASSERT(self.frame->details.pinned_to == worker.id);
    std::uint32_t& pins = self.frame->details.pins;
    if (pins == ~std::uint32_t{0}) return false;
    ++pins;
    return true;
  }
  set_home(self, worker);
  Scheduler::add_pin(worker, self);
  worker.stack_limit = Scheduler::kAlwaysSlow;
  return true;
}

bool unpin(Task& self) noexcept {
  if (!is_pinned(self)) return false;
  limit_pins(self, self.frame->details.pins - 1);
  return true;
}

void end_pins(Task& self) noexcept {
  if (is_pinned(self)) limit_pins(self, 0);
}

void end_pins_of_half(Task& self) noexcept {
  if (!is_pinned(self)) return;
  limit_pins(self, self.frame->details.pins_before);
  if (is_pinned(self)) current_worker().stack_limit = Scheduler::kAlwaysSlow;  // the force has set the stack's own
}

}  // namespace janus
