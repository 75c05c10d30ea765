// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/supervision.cpp — see supervision.h. The runner goes round a loop: it takes note of the children that
// have ended, decides about one of them, or starts one, and waits when there is nothing to do. What it does with children
// that run is in runner.h, which of them it starts in starts.h.
#include "rt/task/supervise/supervision.h"

#include "rt/task/account/exhaustion.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/record/why.h"
#include "rt/task/run/abort_task.h"
#include "rt/task/run/await.h"
#include "rt/task/supervise/starts.h"
#include "rt/task/wait/shield.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

class Supervision : protected Starts {
 public:
  Supervision(Task& task, Channel& of, std::uint32_t its_secret) noexcept : Starts(task, of, its_secret) {}

  [[nodiscard]] EndOfRun run() noexcept;

 private:
  [[nodiscard]] int begin() noexcept;
  [[nodiscard]] EndOfRun go_on() noexcept;
  void forget_run() noexcept;
  void leave() noexcept;
};

EndOfRun Supervision::go_on() noexcept {
  for (;; let_others_run(self)) {
    forget_news();
    if (is_told_to_end()) return {kCancelledCode, 0};
    {
      const ChannelHold held = hold();
      if (its().is_closed) return {0, 0};
    }
    note_ends();
    int error = 0;
    if (Child* const dead = next_dead()) {
      error = act_on(*dead);
    } else {
      const std::uint64_t due = queue_due();
      if (its().is_group_down() && its().group_due_ns <= now_ns()) queue_group();
      if (Child* const child = next_to_start())
        error = start(*child);
      else if (due > now_ns() && wait_until(due, true) == WaitEnd::kNoStack)
        error = kErrorNoMemory;
    }
    if (error != 0 && !is_told_to_end()) return {kErrorState, error};
  }
}

// 0, or why it does not begin.
int Supervision::begin() noexcept {
  Supervisor& supervisor = its();
  {
    const ChannelHold held = hold();
    if (!record.is_alive(secret) || supervisor.is_closed) return kErrorStale;
    if (supervisor.runner != nullptr) return kErrorState;
    supervisor.runner = &self;
    supervisor.group_after = 0;  // all start
    supervisor.group_due_ns = 0;
    supervisor.restarts.forget();
  }
  if (supervisor.options.has_budget) let_wait_for_budgets(runtime());
  NurseryOptions asked;
  asked.on_error = ErrorPolicy::kCollect;
  asked.on_exhaustion = ExhaustionPolicy::kFail;
  asked.budget = supervisor.options.has_budget ? &supervisor.options.budget : nullptr;
  asked.name = supervisor.options.name[0] != 0 ? supervisor.options.name : nullptr;
  const OrError<Nursery*> opened = open_nursery(runtime(), &self, asked);
  if (!opened) {
    leave();
    return opened.error;
  }
  nursery = opened.value;
  find_above();
  forget_news();
  const ChannelHold held = hold();
  supervisor.nursery = nursery;
  supervisor.run = this;
  return 0;
}

// Nobody runs it from now on; if it was closed, it ends.
void Supervision::leave() noexcept {
  bool is_closed;
  {
    const ChannelHold held = hold();
    its().runner = nullptr;
    is_closed = its().is_closed;
  }
  if (is_closed) end_supervisor(self, record, secret);
}

// Makes the children that are left as they were before the run, when their tasks have ended.
void Supervision::forget_run() noexcept {
  for (std::uint64_t at = 0, forgotten = 1;; ++forgotten) {
    Child* gone = nullptr;
    {
      const ChannelHold held = hold();
      Child* const child = its().children.after(at);
      if (child == nullptr) return;
      at = child->number;
      if (child->is_linked()) List<Child>::remove(child);  // its death, and what was to follow from it
      child->state = ChildState::kWaits;
      child->level = 0;
      child->has_failed = false;
      if (child->spec.restart == RestartPolicy::kTemporary && child->task_id != 0) {
        take_out(its(), *child);
        gone = child;
      }
    }
    free_child(record, gone);
    if (forgotten % price::kRecordsAtOnce == 0) let_others_run(self);
  }
}

EndOfRun Supervision::run() noexcept {
  const int error = begin();
  if (error != 0) return {error == kErrorStale ? kErrorStale : kErrorState, error};
  const EndOfRun end = go_on();
  (void)take_down_after(0);
  (void)await_nursery(self, *nursery);
  note_ends();
  end_graces();
  (void)report_of(*nursery);  // its failures were acted upon
  forget_run();
  {
    const ChannelHold held = hold();
    its().nursery = nullptr;  // whose record may serve another one
    its().run = nullptr;
  }
  destroy_nursery(&current_worker(), *nursery);
  leave();
  return end;
}

struct Run {
  Supervision supervision;
  EndOfRun end;
};

}  // namespace

// Called through a pointer, like a user's function. So it asks for a stack of its own, before it holds anything; and its
// name begins as those of calls do, whose needs tests/arch/stack_need_test.py knows.
extern "C" std::int64_t janus_supervise_in_shield(void* run) noexcept {
  require_stack(current_worker());
  auto& its = *static_cast<Run*>(run);
  its.end = its.supervision.run();
  return 0;
}

EndOfRun supervise(Task& self, Channel& record, std::uint32_t secret) noexcept {
  Run run{Supervision(self, record, secret), {0, 0}};
  (void)call_in_shield(self, janus_supervise_in_shield, &run);
  return run.end;
}

}  // namespace janus
