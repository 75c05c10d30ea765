// SPDX-License-Identifier: Apache-2.0
// rt/task/cancelled.cpp — whether a task was told to end.
#include "rt/task/cancelled.h"

#include "rt/task/price.h"
#include "rt/task/runtime.h"
#include "rt/task/slice.h"

namespace janus {

// A walk up to the root, of `steps` steps.
[[gnu::noinline]] static bool was_cancelled_above(const Nursery* nursery, std::int64_t& steps) noexcept {
  for (steps = 0; nursery != nullptr; ++steps) {
    if ((nursery->word.load(std::memory_order_relaxed) & NurseryWord::kCancelled) != 0) return true;
    Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) return false;
    if (owner->cancel.load(std::memory_order_relaxed) != 0) return true;
    nursery = owner->nursery_of_whoever_has_it();
  }
  return false;
}

[[gnu::noinline]] static bool look_above(Nursery& nursery, std::uint64_t epoch) noexcept {
  std::int64_t steps;
  const bool was_cancelled = was_cancelled_above(&nursery, steps);
  take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
  if (!was_cancelled) nursery.clean_epoch.store(epoch, std::memory_order_release);  // pairs with open_nursery
  return was_cancelled;
}

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
  std::int64_t steps;
  return nursery.clean_epoch.load(std::memory_order_relaxed) != epoch && was_cancelled_above(&nursery, steps);
}

}  // namespace janus
