// SPDX-License-Identifier: Apache-2.0
// rt/abi/open_nursery.cpp — opening a nursery, and spawning in it: the calls that take options.
#include <utility>

#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/entry.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/abi/read_options.h"
#include "rt/abi/start/global_runtime_life.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/account/reclaim.h"
#include "rt/task/nurseries/cap.h"
#include "rt/task/nurseries/gate.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/priority.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/report/runtime_text.h"
#include "rt/task/wait/nursery_deadline.h"
#include "rt/task/wait/records.h"

namespace janus {

namespace {

// The sizes that version 1 began with.
constexpr std::uint32_t first_size_of(const janus_nursery_options&) noexcept {
  return offsetof(janus_nursery_options, max_running);
}
constexpr std::uint32_t first_size_of(const janus_spawn_options&) noexcept {
  return sizeof(janus_spawn_options);
}

// A token that the caller presents, for the time of the call; without one, for {0}.
class Presented {
 public:
  explicit Presented(Runtime& runtime) noexcept : runtime_(runtime) {}
  ~Presented() {
    if (cap_ != nullptr) drop_cap(runtime_, *cap_);
  }
  Presented(const Presented&) = delete;
  Presented& operator=(const Presented&) = delete;

  // 0, or why the token is none.
  int find(const Caller& me, janus_cap cap) noexcept {
    if (cap.raw == 0) return 0;
    Worker* const caller = me.task != nullptr ? worker_in(runtime_, me) : nullptr;
    const bool are_any = runtime_.caps.load(std::memory_order_acquire) != nullptr;  // else find_cap() may not be linked
    cap_ = are_any ? find_cap(caller, runtime_, cap.raw) : nullptr;
    return cap_ != nullptr && is_in_force(runtime_, *cap_) ? 0 : with_why(JANUS_E_NO_CAP, Why::kCap);
  }
  [[nodiscard]] Cap* get() const noexcept { return cap_; }
  // The reference goes to a nursery or a task.
  Cap* pass_on() noexcept { return std::exchange(cap_, nullptr); }

 private:
  Runtime& runtime_;
  Cap* cap_ = nullptr;
};

int check_options(const janus_nursery_options& options) noexcept {
  if (options.on_error > JANUS_ON_ERROR_COLLECT) return invalid(Why::kOnError);
  if (options.on_exhaustion > JANUS_ON_EXHAUSTION_DENY) return invalid(Why::kOnExhaustion);
  if ((options.flags & ~JANUS_NURSERY_RECLAIM) != 0) return invalid(Why::kFlags);
  // If the nursery has no budget of its own, the blocks of its tasks cannot be distinguished from others.
  if (options.flags != 0 && !is_given(options.budget)) return invalid(Why::kReclaim);
  if (options.reserved != 0) return invalid(Why::kReserved);
  if (options.turn_ns != 0 && !is_given(options.budget)) return invalid(Why::kTurn);
  return 0;
}

int check_options(const janus_spawn_options& options) noexcept {
  if (options.priority > JANUS_PRIORITY_LOW) return invalid(Why::kPriority);
  if (options.stack_size > kMaxStackBytes) return invalid(Why::kStackSize);
  if ((options.flags & ~std::uint64_t{JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED}) != 0)
    return invalid(Why::kFlags);
  return 0;
}

// Reads the options, and checks what was read. 0, or the error.
template <typename Options>
int read_and_check(const Options* from, Options& options) noexcept {
  const int error = read_options(from, options, first_size_of(options));
  return error != 0 ? error : check_options(options);
}

// Sets the error of a failed open. A request for a larger budget than the opener has does not end the opener, even
// under JANUS_ON_EXHAUSTION_FAIL.
void fail_open(const Caller& me, const Runtime* runtime, const NurseryOptions& asked, int error) noexcept {
  const Account* const payer = me.task != nullptr   ? me.task->account
                               : runtime != nullptr ? runtime->root_account
                                                    : nullptr;
  const auto set = asked.budget == nullptr ? set_error_of : set_error_left;
  set(me, runtime, payer, error);
}

OrError<Nursery*> open_with(Runtime& runtime, const Caller& me, NurseryOptions& asked, janus_cap cap) noexcept {
  Presented presented(runtime);
  if (const int error = presented.find(me, cap)) return Failed{error};
  asked.cap = presented.pass_on();
  return open_nursery(runtime, worker_in(runtime, me) != nullptr ? me.task : nullptr, asked);
}

OrError<Task*> spawn_with(const Caller& me, Nursery& nursery, TaskFn fn, void* arg, SpawnOptions& asked,
                          const Amounts* budget, janus_cap cap) noexcept {
  Presented presented(*nursery.runtime);
  if (const int error = presented.find(me, cap)) return Failed{error};
  Confinement its;
  SpawnExtras extras{budget, presented.get(), nullptr};
  if (me.task != nullptr && !may_spawn_into(*me.task, nursery, its, extras.within))
    return Failed{with_why(JANUS_E_NO_CAP, Why::kRight)};
  if (budget != nullptr || extras.cap != nullptr || extras.within != nullptr) asked.extras = &extras;
  const OrError<Task*> task = spawn<Path::kGeneral>(worker_in(*nursery.runtime, me), nursery, fn, arg, asked);
  if (task) (void)presented.pass_on();
  return task;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_nursery* janus_nursery_open(janus_rt* rt, const janus_nursery_options* options) {
  const Caller me = enter();
  Runtime* runtime = runtime_or_own(rt, me);
  if (runtime == nullptr && rt == nullptr) runtime = process_runtime_or_new();
  NurseryOptions asked;
  Amounts budget;
  char name[kNameBytes];
  // A task may open nurseries only in its own runtime: in another one no task could await them.
  const bool is_elsewhere = runtime != nullptr && me.task != nullptr && me.worker->runtime != runtime;
  int error = runtime == nullptr ? with_why(JANUS_E_STATE, Why::kNoRuntime) : 0;
  if (is_elsewhere) error = with_why(JANUS_E_STATE, Why::kOtherRuntime);
  if (me.task == nullptr && rt != nullptr && !is_runtime(rt)) {
    error = JANUS_E_STALE;
    runtime = nullptr;
  }
  janus_nursery_options given;
  if (options != nullptr && error == 0) error = read_and_check(options, given);
  if (options != nullptr && error == 0) {
    asked.on_error = static_cast<ErrorPolicy>(given.on_error);
    asked.on_exhaustion = static_cast<ExhaustionPolicy>(given.on_exhaustion);
    asked.name = read_name(given.name, name);
    budget = amounts_of(given.budget);
    if (is_given(given.budget)) {
      let_wait_for_budgets(*runtime);
      asked.budget = &budget;
      asked.hold_ns = given.turn_ns != 0 ? given.turn_ns : kDefaultHoldNs;
    }
    asked.reclaims_blocks = wants_reclaim((given.flags & JANUS_NURSERY_RECLAIM) != 0);
    asked.has_deadline = given.deadline_ns != 0;
    asked.gate = gate_of(given.max_running);
  }
  OrError<Nursery*> nursery = Failed{error};
  if (error == 0) nursery = open_with(*runtime, me, asked, options != nullptr ? given.cap : janus_cap{0});
  if (!nursery) fail_open(me, runtime, asked, nursery.error);
  if (nursery && asked.has_deadline && me.task != nullptr) take_fuel_unchecked(*me.worker, price::kCancel);
  if (nursery && asked.has_deadline) set_deadline(worker_in(*runtime, me), *nursery.value, given.deadline_ns);
  return handle_of(nursery.value);
}

janus_task janus_nursery_spawn_in(janus_nursery* pointer, janus_task_fn fn, void* arg,
                                  const janus_spawn_options* options) {
  const Caller me = enter();
  const OrError<Nursery*> found = check(pointer, me);
  Nursery* const nursery = found.value;
  int error = found.error;
  if (error == JANUS_E_INVALID) error = invalid(Why::kNoNursery);
  if (error == JANUS_E_NO_CAP) error = with_why(error, Why::kStranger);
  if (error == 0) error = why_no_task_function(fn);
  janus_spawn_options given;
  if (error == 0 && options != nullptr) error = read_and_check(options, given);
  // A high priority takes nothing from others than the tasks of the same cage; a low one takes nothing from anybody.
  if (error == 0 && options != nullptr && given.priority == JANUS_PRIORITY_HIGH && me.task != nullptr &&
      !is_permitted(*me.task, Right::kPriority))
    error = with_why(JANUS_E_NO_CAP, Why::kRight);
  OrError<Task*> task = Failed{error};
  if (error == 0) {
    SpawnOptions asked{nursery->runtime->options.stack_class, TaskFlags::kExposed | TaskFlags::kKept, nullptr, nullptr};
    Amounts amounts;
    const Amounts* budget = nullptr;
    char name[kNameBytes];
    if (options != nullptr) {
      if (given.stack_size != 0) asked.stack_class = static_cast<std::uint8_t>(stack_class_for(given.stack_size));
      if ((given.flags & JANUS_SPAWN_DETACHED) != 0) asked.flags = TaskFlags::kExposed;
      if ((given.flags & JANUS_SPAWN_RUN_CANCELLED) != 0) asked.flags |= TaskFlags::kRunCancelled;
      amounts = amounts_of(given.budget);
      if (is_given(given.budget)) {
        let_wait_for_budgets(*nursery->runtime);
        budget = &amounts;
      }
      asked.name = read_name(given.name, name);
    }
    if (me.task != nullptr && asked.stack_class > kLargestCachedClass) take_fuel_unchecked(*me.worker, price::kMapping);
    task = spawn_with(me, *nursery, fn, arg, asked, budget, options != nullptr ? given.cap : janus_cap{0});
  }
  if (!task) {
    if (me.worker != nullptr) me.worker->counters.spawns_failed.add();
    set_error_of(me, nursery != nullptr ? nursery->runtime : nullptr, nursery != nullptr ? nursery->account : nullptr,
                 task.error);
    return {0};
  }
  const janus_task handle = {handle_of(*nursery->runtime, *task.value)};
  if (options != nullptr) give_priority(*task.value, given.priority);
  launch(worker_in(*nursery->runtime, me), *task.value);
  return handle;
}

}  // extern "C"
