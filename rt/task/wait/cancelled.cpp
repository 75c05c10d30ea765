// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancelled.cpp — tests whether a task was told to end.
#include "rt/task/wait/cancelled.h"

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/slice.h"

namespace janus {

// The result of a walk up to the root: the number of nurseries on the way, or kCancelledAbove.
constexpr unsigned kCancelledAbove = 0;
namespace {

[[gnu::noinline]] unsigned walk_up(const Nursery* nursery) noexcept {
  unsigned steps = 1;
  for (; nursery != nullptr; ++steps) {
    if ((nursery->word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0) return kCancelledAbove;
    Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) break;
    if (owner->cancel.load(std::memory_order_relaxed) != 0) return kCancelledAbove;
    nursery = owner->nursery_of_whoever_has_it();
  }
  return steps;
}

bool look_above(Nursery& nursery, std::uint64_t epoch) noexcept {
  const unsigned steps = walk_up(&nursery);
  if (steps == kCancelledAbove) return true;
  if (Worker* const worker = worker_of(*nursery.runtime)) take_fuel_unchecked(*worker, steps / price::kStepsPerOp);
  nursery.clean_epoch.store(epoch, std::memory_order_release);  // pairs with attach_to_owner()
  return false;
}

// Relaxed: may_be_told() may read it after the record was recycled for another nursery.
[[gnu::always_inline]] inline bool is_on_root(const Runtime& runtime, const Nursery& nursery) noexcept {
  return std::atomic_ref(const_cast<Account*&>(nursery.account)).load(std::memory_order_relaxed) ==
         runtime.root_account;
}

// A cancel of tasks on another account than the root's concerns no task on the root's account. So tasks on the root's
// account make only this check, which reads no cache line that such a cancel writes.
[[gnu::always_inline]] inline bool is_clean_on_root(const Runtime& runtime, const Nursery& nursery) noexcept {
  return is_on_root(runtime, nursery) &&
         nursery.clean_epoch.load(std::memory_order_relaxed) == runtime.cancel_epoch.load(std::memory_order_acquire);
}

// A number that grows with each cancel that may concern the tasks of `nursery`.
std::uint64_t epoch_of(const Runtime& runtime, const Nursery& nursery) noexcept {
  return (is_on_root(runtime, nursery) ? runtime.cancel_epoch : runtime.epoch_of_all_cancels)
      .load(std::memory_order_acquire);
}

[[gnu::noinline]] bool look_again(Nursery& nursery) noexcept {
  const std::uint64_t epoch = epoch_of(*nursery.runtime, nursery);
  return nursery.clean_epoch.load(std::memory_order_relaxed) != epoch && look_above(nursery, epoch);
}

[[gnu::noinline]] bool may_be_told_above(const Runtime& runtime, const Nursery& nursery) noexcept {
  return nursery.clean_epoch.load(std::memory_order_relaxed) != epoch_of(runtime, nursery) &&
         walk_up(&nursery) == kCancelledAbove;
}

}  // namespace

// Walks only when something has been cancelled since the last walk.
bool is_told(Task& task) noexcept {
  return task.cancel.load(std::memory_order_relaxed) != 0 || is_told(*task.nursery);
}

// A task that is in no cage is in a nursery that is in none.
template <bool kIsCaged>
bool is_clean_at_once(const Runtime& runtime, const Task& task) noexcept {
  return arch::cmp_relaxed(task.cancel, std::uint8_t{0}) &&
         arch::cmp_relaxed(task.nursery->clean_epoch, kIsCaged ? epoch_of(runtime, *task.nursery)
                                                               : runtime.cancel_epoch.load(std::memory_order_acquire));
}
template bool is_clean_at_once<true>(const Runtime& runtime, const Task& task) noexcept;
template bool is_clean_at_once<false>(const Runtime& runtime, const Task& task) noexcept;

bool is_told_on_root(const Runtime& runtime, Nursery& nursery) noexcept {
  JANUS_ASSERT(is_on_root(runtime, nursery));
  return !arch::cmp_relaxed(nursery.clean_epoch, runtime.cancel_epoch.load(std::memory_order_acquire)) &&
         look_again(nursery);
}

bool is_told(Nursery& nursery) noexcept {
  return !is_clean_on_root(*nursery.runtime, nursery) && look_again(nursery);
}

bool may_be_told(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept {
  if (task.cancel.load(std::memory_order_relaxed) != 0) return true;
  return !is_clean_on_root(runtime, nursery) && may_be_told_above(runtime, nursery);
}

}  // namespace janus
