// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/cancelled.cpp — whether a task was told to end.
#include "rt/task/wait/cancelled.h"

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/slice.h"

namespace janus {

// A walk up to the root: the nurseries on the way, or kCancelledAbove.
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

[[gnu::noinline]] bool look_above(Nursery& nursery, std::uint64_t epoch) noexcept {
  const unsigned steps = walk_up(&nursery);
  if (steps == kCancelledAbove) return true;
  if (Worker* const worker = worker_of(*nursery.runtime)) take_fuel_unchecked(*worker, steps / price::kStepsPerOp);
  nursery.clean_epoch.store(epoch, std::memory_order_release);  // pairs with open_nursery
  return false;
}

}  // namespace

// Walks only when something has been cancelled since the last walk.
bool is_cancelled(Task& task) noexcept {
  return task.cancel.load(std::memory_order_relaxed) != 0 || is_cancelled(*task.nursery);
}

bool is_cancelled(Nursery& nursery) noexcept {
  const std::uint64_t epoch = nursery.runtime->cancel_epoch.load(std::memory_order_acquire);
  if (nursery.clean_epoch.load(std::memory_order_relaxed) == epoch) [[likely]]
    return false;
  return look_above(nursery, epoch);
}

bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept {
  if (task.cancel.load(std::memory_order_relaxed) != 0) return true;
  const std::uint64_t epoch = runtime.cancel_epoch.load(std::memory_order_acquire);
  return nursery.clean_epoch.load(std::memory_order_relaxed) != epoch && walk_up(&nursery) == kCancelledAbove;
}

}  // namespace janus
