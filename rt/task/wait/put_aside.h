// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/put_aside.h — whether a shield puts aside the cancel that a task was told of, and whose grace is spent
// then. rt/task/wait/shield.h has the rules. docs/decisions/0334
#pragma once

#include "rt/optional.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

// The running task is in a shield from here on. `grace`: what it has if it is told to end now. Not a weak symbol: a program
// in which no task enters a shield is linked without the rest.
void enter_shield(Task& task, std::int64_t grace) noexcept;

// Whether a cancel from above leaves the nursery out.
inline bool is_kept_by_shield(const Nursery& nursery) noexcept {
  return (nursery.word.load(std::memory_order_relaxed) & NurseryWord::kShielded) != 0;
}

// Whether a task above has a shield that puts aside the cancel that `task` was told of. Mere reads, which are a hint if
// the task has ended.
[[nodiscard, JANUS_OPTIONAL]] bool is_put_aside(const Task& task) noexcept;
// The same for the children of a nursery.
[[nodiscard, JANUS_OPTIONAL]] bool is_put_aside_in(const Nursery& nursery) noexcept;
// is_put_aside(task) for the running task, which pays for the `steps` that this adds.
[[nodiscard, JANUS_OPTIONAL]] bool look_for_shield(const Task& task, unsigned& steps) noexcept;
// The grace from which a task that was told to end lives, if that is another task's. It pays for the `steps`.
[[nodiscard, JANUS_OPTIONAL]] std::atomic<std::int64_t>* shared_grace_of(const Task& task, unsigned& steps) noexcept;

}  // namespace janus
