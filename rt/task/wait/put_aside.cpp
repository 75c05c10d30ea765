// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/put_aside.cpp — see put_aside.h. Linked into programs that call janus_shield (rt/optional.h).
#include "rt/task/wait/put_aside.h"

namespace janus {

namespace {

bool has(const Nursery& nursery, std::uint64_t flag) noexcept {
  return (nursery.word.load(std::memory_order_relaxed) & flag) != 0;
}

// Walks up from `nursery` to the first shield or the first cancel.
bool is_shield_nearer(const Nursery* nursery, unsigned& steps) noexcept {
  for (; nursery != nullptr; ++steps) {
    if (has(*nursery, NurseryWord::kCancelled)) return false;
    if (is_kept_by_shield(*nursery)) return true;
    Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr || owner->cancel.load(std::memory_order_relaxed) != 0) return false;
    nursery = owner->nursery_of_whoever_has_it();
  }
  return false;
}

}  // namespace

void enter_shield(Task& task, std::int64_t grace) noexcept {
  task.mark(TaskMarks::kHasContext);
  RunDetails& details = task.frame->details;
  details.context |= RunDetails::kInShield;
  if (!task.is_marked(TaskMarks::kSawCancel)) details.own_grace.store(grace, std::memory_order_relaxed);
}

bool is_put_aside_in(const Nursery& nursery) noexcept {
  unsigned steps = 0;
  return is_shield_nearer(&nursery, steps);
}

bool look_for_shield(const Task& task, unsigned& steps) noexcept {
  const Nursery* const nursery = std::atomic_ref(const_cast<Nursery*&>(task.nursery)).load(std::memory_order_relaxed);
  return task.cancel.load(std::memory_order_relaxed) == 0 && is_shield_nearer(nursery, steps);
}

bool is_put_aside(const Task& task) noexcept {
  unsigned steps = 0;
  return look_for_shield(task, steps);
}

// The topmost of the tasks above that have opened a nursery on the way in a shield, and were told to end: who is below a
// task that was told to end, was told, too.
std::atomic<std::int64_t>* shared_grace_of(const Task& task, unsigned& steps) noexcept {
  const Task* topmost = nullptr;
  const Task* shielding = nullptr;  // not known yet to be told
  for (const Nursery* nursery = task.nursery; nursery != nullptr; ++steps) {
    if (shielding != nullptr && has(*nursery, NurseryWord::kCancelled)) topmost = shielding;
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) break;
    if (has(*nursery, NurseryWord::kOwnersGrace)) shielding = owner;
    if (shielding != nullptr && owner->cancel.load(std::memory_order_relaxed) != 0) topmost = shielding;
    nursery = owner->nursery;
  }
  return topmost != nullptr ? &topmost->frame->details.own_grace : nullptr;
}

}  // namespace janus
