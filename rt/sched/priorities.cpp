// SPDX-License-Identifier: Apache-2.0
// rt/sched/priorities.cpp — groups with another priority than the normal one (priority.h). Linked into programs that spawn
// with options only (rt/optional.h). docs/decisions/0352
//
// INVARIANT priority-in-its-group: a runnable with such a priority waits in its group's queue, or in the injector, or in its
// worker's queue of those that are pinned: never in the deque, where newer ones of other groups would hide it, and who
// awaits it could run it in its own place. tests/api/priority_test.cpp
#include "rt/sched/scheduler.h"

namespace janus {

std::size_t GroupTable::priorities_bytes(unsigned number) const noexcept {
  return ((2 * workers_ * sizeof(GroupNode) << (kFirstBits + number)) + 4095) & ~std::size_t{4095};
}

GroupNode* GroupTable::with_priority(unsigned worker, std::uint32_t group) noexcept {
  const Place place = place_of(cage_of(group));
  GroupNode* const segment =
      priorities_[place.segment].load(std::memory_order_acquire);  // pairs with make_priorities()
  if (segment == nullptr) return nullptr;
  return &segment[2 * (std::size_t{worker} * place.capacity + place.offset) + (is_high(group) ? 0 : 1)];
}

// The circle of a cage's number stays where it is, so what is made once serves the next cages of that number, too.
bool GroupTable::make_priorities(std::uint32_t cage) noexcept {
  const unsigned number = place_of(cage).segment;
  std::atomic<GroupNode*>& slot = priorities_[number];
  if (slot.load(std::memory_order_acquire) == nullptr) {
    LockGuard guard(growing_);
    if (slot.load(std::memory_order_relaxed) == nullptr) {
      auto* const made = reinterpret_cast<GroupNode*>(platform::map(priorities_bytes(number)));
      if (made == nullptr) return false;
      slot.store(made, std::memory_order_release);
      has_priorities_.store(true, std::memory_order_relaxed);
    }
  }
  if (cage == 0) return true;
  for (unsigned worker = 0; worker < workers_; ++worker) {
    for (const Priority priority : {Priority::kHigh, Priority::kLow})
      with_priority(worker, group_with(cage, priority))
          ->parent.store(&of(worker, cage).circle, std::memory_order_relaxed);
  }
  return true;
}

void GroupTable::forget_priorities(std::uint32_t cage) noexcept {
  for (unsigned worker = 0; worker < workers_; ++worker) {
    for (const Priority priority : {Priority::kHigh, Priority::kLow}) {
      GroupNode* const node = with_priority(worker, group_with(cage, priority));
      if (node != nullptr) node->spent.store(0, std::memory_order_relaxed);
    }
  }
}

void GroupTable::destroy_priorities() noexcept {
  for (unsigned number = 0; number < kSegments; ++number) {
    GroupNode* const segment = priorities_[number].exchange(nullptr, std::memory_order_relaxed);
    if (segment != nullptr) platform::unmap(reinterpret_cast<std::byte*>(segment), priorities_bytes(number));
  }
  has_priorities_.store(false, std::memory_order_relaxed);
}

Runnable* Groups::steal_high() noexcept {
  if (size() == 0 || !lock_.try_lock()) return nullptr;
  GroupNode* const high = table_->with_priority(worker_, group_with(0, Priority::kHigh));
  Runnable* const oldest = high != nullptr && high->first_runnable != nullptr ? pop_runnable_of(*high) : nullptr;
  lock_.unlock();
  return oldest;
}

void Scheduler::push_with_priority(Worker& worker, Runnable* runnable) noexcept {
  const std::uint32_t group = runnable->group;
  push_yielded(worker, runnable);
  Dispatcher::end_turn_for_high(worker, group);
}

}  // namespace janus
