// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/next_ended.cpp — waiting for any child to end.
#include "rt/task/nurseries/next_ended.h"

#include "rt/base/order_hooks.h"
#include "rt/task/nurseries/deadlock.h"
#include "rt/task/wait/wake.h"

namespace janus {

// A task cannot be freed while it is in the records.
bool take_untold(Nursery& nursery, Report& report, Task*& ended) noexcept {
  if (nursery.untold.load(std::memory_order_relaxed) == nullptr) return false;
  LockGuard guard(nursery.lock);
  Task* const task = nursery.untold.load(std::memory_order_relaxed);
  if (task == nullptr) return false;  // it was released meanwhile
  nursery.untold.store(task->record_previous, std::memory_order_relaxed);
  order_hooks::acquire(order_hooks::second(task));
  report = report_of(*task);
  ended = task;
  return true;
}

namespace {

// The end of a child of a shared nursery in whose word kWaitsForAny is set.
struct AwaitedAny : AwaitedUnlocked {
  Nursery& nursery;

  explicit AwaitedAny(Nursery& of) noexcept : nursery(of) {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kChildren; }
  static bool has_come(const Nursery& nursery) noexcept {
    return nursery.untold.load(std::memory_order_relaxed) != nullptr || !has_children(nullptr, nursery);
  }
  bool is_over() const noexcept { return has_come(nursery); }
  void* key() const noexcept { return &nursery; }
  static void publish(Task& task, void* nursery) noexcept {
    arch::full_fence();  // the partner is count_out()
    if (has_come(*static_cast<Nursery*>(nursery))) (void)wake(&current_worker(), task, reason());
  }
};

}  // namespace

int next_ended(Task& self, Nursery& nursery, Report& report) noexcept {
  for (;;) {
    if (sees_cancel(self)) return kCancelledCode;                     // also if what that has cancelled has ended
    const bool was_last = !has_children(&current_worker(), nursery);  // looked at first: it may just end
    Task* ended = nullptr;
    if (take_untold(nursery, report, ended)) return 0;
    if (was_last) return kErrorClosed;
    AwaitedAny any(nursery);
    const WaitEnd end = wait_for_any(self, nursery, any);
    if (end != WaitEnd::kOver) return result_of(end, self);
  }
}

[[gnu::noinline, gnu::cold]] int next_ended_outside(Nursery& nursery, std::uint64_t until_ns, Report& report) noexcept {
  for (;;) {
    const std::uint32_t seen = nursery.ended.load(std::memory_order_acquire);
    nursery.word.fetch_or(kWaitsForAny, std::memory_order_acq_rel);
    const bool was_last = !has_children(nullptr, nursery);
    Task* ended = nullptr;
    const bool has_it = take_untold(nursery, report, ended);
    if (!has_it && !was_last) {
      look_again_for_deadlock(nursery.runtime->scheduler);
      platform::wait(nursery.ended, seen, until_ns);
    }
    nursery.word.fetch_and(~kWaitsForAny, std::memory_order_relaxed);  // deadlock.cpp reads it
    if (has_it) return 0;
    if (was_last) return kErrorClosed;
    if (until_ns != platform::kForever && platform::now_ns() >= until_ns) return kErrorTimeout;
  }
}

}  // namespace janus
