// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/awaiting.cpp — see awaiting.h. The walk takes no lock. It reads records, which stay records, and words of
// users by loads that may fail. It goes along a chain twice: what a task waits for has a number that differs from wait to
// wait, so if both walks read the same, all of it was true at once when the first one ended.
#include "rt/task/wait/awaiting.h"

#include "rt/task/record/nursery.h"
#include "rt/task/wait/ancestry.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

struct Chain {
  bool comes_back;
  std::uint64_t sum;  // of all that was read
};

Chain follow(const Task& self, PaidWalk& paid) noexcept {
  const Runtime& runtime = *self.nursery->runtime;
  std::uint64_t sum = 0;
  const Task* at = &self;
  for (unsigned step = 0; step < Awaiting::kMaxChain; ++step) {
    if (step > 1) paid.step();  // the call has paid for a look at its own wait and the next one
    const Awaits what = Awaits::of(*at);
    const Task* const next = what.task(runtime);
    if (next == nullptr || next == at) break;  // it was woken, and holds what it has waited for
    sum = (sum ^ what.bits) * 0x9e3779b97f4a7c15;
    if (next == &self) return {true, sum};
    at = next;
  }
  return {false, 0};
}

}  // namespace

// The exchange is also the fence of last-wait-sees-the-cycle.
void Awaiting::publish(Awaits what) const noexcept {
  std::atomic_ref(self_.awaits).exchange(what.bits, std::memory_order_seq_cst);
}

Awaiting::Awaiting(Task& self, AwaitedKind kind, const void* what) noexcept : self_(self) {
  publish_before_wait(self);  // a member has details
  publish(Awaits::make(kind, what, ++self.frame->details.waits));
}

Awaiting::Awaiting(Task& self, const Task& other) noexcept : self_(self) {
  publish(Awaits::make(AwaitedKind::kTask, &other, other.id));
}

bool Awaiting::closes_cycle() const noexcept {
  PaidWalk paid;
  const Chain first = follow(self_, paid);
  if (!first.comes_back) return false;
  const Chain second = follow(self_, paid);
  return second.comes_back && second.sum == first.sum;
}

}  // namespace janus
