// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/shield.cpp — a call in which the cancel of its task is put aside. docs/decisions/0334
#include "rt/task/wait/shield.h"

#include <arch/task_call.h>
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/put_aside.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// Nurseries that were opened in the shield, the newest of the list, are ordinary ones from now on.
void uncover(Task& task, Nursery* newest, bool are_cancelled) noexcept {
  unsigned uncovered = 0;
  for (Nursery* nursery = newest; nursery != nullptr && is_kept_by_shield(*nursery);) {
    if (are_cancelled) {
      take_fuel_unchecked(current_worker(), price::kCancel);
      cancel_nursery(&current_worker(), *nursery, Cause::kParent, Pace::kInParts);
    }
    const std::uint64_t flags = NurseryWord::kShielded | (are_cancelled ? 0 : NurseryWord::kOwnersGrace);
    nursery->word.fetch_and(~flags, std::memory_order_acq_rel);
    nursery = nursery->outer;  // others may have run, but only this task takes nurseries out of its list
    if (++uncovered % price::kRecordsAtOnce == 0) let_others_run(task);
  }
}

// A cancel that comes after the test finds the task running: it sees the cancel at its next check.
void end_shield(Task& task) noexcept {
  const bool is_to_end = is_told(task);
  if (is_to_end) (void)learn_of_cancel(task);
  RunFrame& frame = *task.frame;
  frame.details.context &= static_cast<std::uint8_t>(~RunDetails::kInShield);
  look_at_context(task);
  const bool are_cancelled = is_to_end && !is_put_aside(task);
  link_current(frame);
  uncover(task, frame.open, are_cancelled);  // if others run meanwhile, goes on into the published ones
  uncover(task, frame.details.published, are_cancelled);
}

std::int64_t call(TaskFn fn, void* arg) noexcept {
  std::uint64_t frame_sp;  // who ends by force leaves this frame, too
  return janus_half_call(arg, fn, &frame_sp);
}

}  // namespace

// The task is a member from here on, and so its details stay until its end.
std::int64_t call_in_shield(Task& task, TaskFn fn, void* arg) noexcept {
  if (is_shielded(task)) return call(fn, arg);
  publish_before_wait(task);
  enter_shield(task, runtime_of(current_worker()).options.cancel_grace_ops);
  const std::int64_t code = call(fn, arg);
  end_shield(task);
  return code;
}

}  // namespace janus
