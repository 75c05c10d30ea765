// SPDX-License-Identifier: Apache-2.0
// rt/task/cancel.h — telling tasks and nurseries to end.
#pragma once

#include "rt/task/cancelled.h"
#include "rt/task/nursery.h"
#include "rt/task/price.h"
#include "rt/task/task.h"

namespace janus {

[[gnu::cold]] void learn_of_cancel(Task& task) noexcept;
// As is_cancelled, at a place where the task learns it: its grace begins.
// With nothing held: it passes it on to what it has opened, and may give way meanwhile.
[[nodiscard]] inline bool sees_cancel(Task& task) noexcept {
  if (!is_cancelled(task)) [[likely]]
    return false;
  learn_of_cancel(task);
  return true;
}

// Nurseries that are marked, and kept from their ends until their members are told.
struct Descent {
  enum class Fence : std::uint8_t { kNotNeeded, kWanted, kMade };

  Nursery* first = nullptr;
  Fence fence = Fence::kNotNeeded;
  std::uint32_t unpaid = 0;  // ops of the part that is under way
  std::uint32_t marked = 0;  // nurseries in it, which are paid when their members are told
  [[nodiscard]] bool is_part() const noexcept { return unpaid >= price::kWakesAtOnce || marked >= price::kWakesAtOnce; }
};

// Members are told price::kWakesAtOnce at a time. What happens then, with nothing held:
enum class Pace : std::uint8_t {
  kAtOnce,       // nothing: for who holds other locks, or is at its end; and for threads outside tasks always
  kInParts,      // others of the same runtime run; the task may be on another worker afterwards
  kInPartsPaid,  // the task pays an op for each, and others run
};

// `worker`: as for wake(). All that were members when it was marked are told when this returns; who became one later
// has seen the mark.
void cancel_nursery(Worker* worker, Nursery& nursery, Pace pace) noexcept;
// By a child: if somebody above `nursery` was cancelled, it is cancelled by the same.
void pass_cancel_on(Worker* worker, Nursery& nursery, Pace pace) noexcept;
// In two steps. The first under the task's lock: it cannot end meanwhile, and neither can its nursery.
Descent cancel_task(Worker* worker, Task& task) noexcept;
void tell_members(const Runtime& runtime, Worker* worker, Descent descent, Pace pace) noexcept;

}  // namespace janus
