// SPDX-License-Identifier: Apache-2.0
// rt/abi/global_runtime.cpp — the adapter: the process's runtime, and the C illusion of a current nursery. In a task
// that is the task's own, so that it survives migration; outside tasks it belongs to the thread.
#include "rt/abi/global_runtime.h"

#include "rt/abi/budget_convert.h"
#include "rt/abi/caller.h"
#include "rt/abi/config.h"

namespace janus {

namespace {

// The one mutable global of the runtime, for hosts and compilers that name none.
std::atomic<Runtime*> the_runtime{nullptr};
SpinLock beginning;
std::atomic<bool> is_program{false};

// A thread outside tasks that has a current nursery. Threads are told apart by their thread pointer, which the psABI
// puts at %fs:0.
struct ThreadEntry {
  const void* thread;
  Nursery* current;
  int last_error;
};
constexpr unsigned kThreads = 64;
SpinLock threads_lock;
ThreadEntry threads[kThreads];

const void* this_thread() noexcept {
  const void* pointer;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

// Under threads_lock. nullptr: all are taken.
[[gnu::noinline]] ThreadEntry* entry_of_thread() noexcept {
  const void* const me = this_thread();
  ThreadEntry* spare = nullptr;
  for (ThreadEntry& entry : threads) {
    if (entry.thread == me) return &entry;
    if (entry.current == nullptr && (spare == nullptr || spare->thread != nullptr)) spare = &entry;
  }
  if (spare != nullptr) *spare = {me, nullptr, 0};
  return spare;
}

[[gnu::noinline]] Nursery* current_of_thread() noexcept {
  LockGuard guard(threads_lock);
  ThreadEntry* const entry = entry_of_thread();
  return entry != nullptr ? entry->current : nullptr;
}

// --- The slow half ---

[[gnu::noinline]] Nursery* create_slowly() noexcept {
  const Caller me = caller();
  int error = JANUS_E_STATE;
  if (me.task != nullptr) {
    Nursery* const nursery = open_current(*me.worker, *me.task, &error);
    if (nursery == nullptr) set_error(me, error);
    return nursery;
  }
  Runtime* const runtime = process_runtime_or_new();
  Nursery* const nursery = runtime != nullptr ? open_nursery(*runtime, nullptr, {}, &error) : nullptr;
  if (nursery == nullptr) return set_error(me, error), nullptr;
  LockGuard guard(threads_lock);
  ThreadEntry* const entry = entry_of_thread();
  if (entry == nullptr) {
    close_nursery(nullptr, *nursery);
    destroy_nursery(nullptr, *nursery);
    return nullptr;
  }
  nursery->traits.has_current = true;
  nursery->previous_current = entry->current;
  entry->current = nursery;
  return nursery;
}

[[gnu::noinline]] int spawn_slowly(janus_task_fn fn, void* arg) noexcept {
  const Caller me = caller();
  int error = JANUS_E_STATE;
  if (me.task != nullptr) me.worker->fuel -= 1;
  Nursery* const nursery = me.task != nullptr ? me.task->frame->current : current_of_thread();
  Task* child = nullptr;
  if (me.task != nullptr && nursery != nullptr && fn != nullptr && !Scheduler::is_always_slow(*me.worker))
    child = spawn_quickly(*me.worker, *nursery, fn, arg);
  if (child != nullptr) return launch_quickly(*me.worker, *child);
  if (fn == nullptr)
    error = JANUS_E_INVALID;
  else if (nursery != nullptr)
    child = spawn(me.worker, *nursery, fn, arg, {nursery->runtime->options.stack_class, 0, nullptr, nullptr}, &error);
  if (child == nullptr) {
    if (me.worker != nullptr) me.worker->counters.spawns_failed.add();
    return set_error(me, error), -1;
  }
  launch(me.worker, *child);
  return 0;
}

[[gnu::noinline]] long await_slowly() noexcept {
  const Caller me = caller();
  Nursery* nursery = nullptr;
  if (me.task != nullptr) {
    nursery = me.task->frame->current;
    if (nursery == nullptr) return JANUS_E_STATE;
    const bool hurries = !Scheduler::is_always_slow(*me.worker);
    return static_cast<long>(hurries ? await_current_quickly(*me.task, *nursery) : await_current(*me.task, *nursery));
  }
  {
    LockGuard guard(threads_lock);
    ThreadEntry* const entry = entry_of_thread();
    if (entry == nullptr || entry->current == nullptr) return JANUS_E_STATE;
    nursery = entry->current;
    entry->current = nursery->previous_current;
  }
  await_from_thread(*nursery);
  const Report report = report_of(*nursery);
  destroy_nursery(nullptr, *nursery);
  return static_cast<long>(report.code);
}

[[gnu::noinline]] int begin(const janus_rt_config* config) noexcept {
  if (is_program.load(std::memory_order_relaxed)) return JANUS_E_STATE;
  LockGuard guard(beginning);
  if (the_runtime.load(std::memory_order_relaxed) != nullptr) return JANUS_E_STATE;
  const janus_rt_config merged = merge({}, config);
  Complaint complaint;
  if (!check_config(merged, complaint)) return JANUS_E_INVALID;
  int error = 0;
  Runtime* const runtime = create_runtime(options_of(merged), &error);
  if (runtime == nullptr) return error;
  the_runtime.store(runtime, std::memory_order_release);
  return 0;
}

}  // namespace

Runtime* process_runtime() noexcept {
  return the_runtime.load(std::memory_order_acquire);
}
void set_process_runtime(Runtime* runtime) noexcept {
  the_runtime.store(runtime, std::memory_order_release);
}
bool every_thread_is_worker = false;
void mark_as_program() noexcept {
  is_program.store(true, std::memory_order_relaxed);
  every_thread_is_worker = true;
}

Runtime* process_runtime_or_new() noexcept {
#ifdef JANUS_NO_AUTOINIT
  return process_runtime();
#else
  if (Runtime* const runtime = process_runtime()) return runtime;
  (void)begin(nullptr);
  return process_runtime();
#endif
}

RuntimeOptions options_of(const janus_rt_config& config) noexcept {
  RuntimeOptions options;
  options.workers = config.worker_count;
  options.seed = config.deterministic_seed;
  options.deterministic = (config.flags & JANUS_RT_DETERMINISTIC) != 0;
  if ((config.flags & JANUS_RT_NO_PIN) != 0) options.pin = 0;
  if ((config.flags & JANUS_RT_PIN) != 0) options.pin = 1;
  options.victim = static_cast<Victim>(config.victim_strategy);
  if (config.fair_interval != 0) options.fair_interval = config.fair_interval;
  options.yield_interval = config.profile == JANUS_PROFILE_CLUSTER ? 512 : 1024;
  if (config.yield_interval != 0) options.yield_interval = config.yield_interval;
  if (config.stack_size != 0) options.stack_class = static_cast<std::uint8_t>(stack_class_for(config.stack_size));
  options.memory = config.memory;
  options.has_root_budget = is_given(config.root_budget);
  options.root_budget = amounts_of(config.root_budget);
  if (config.cancel_grace_ops != 0) options.cancel_grace_ops = config.cancel_grace_ops;
  options.handles_faults = (config.flags & JANUS_RT_NO_SIGNALS) == 0;
  return options;
}

[[gnu::noinline]] void set_error(const Caller& caller, int error) noexcept {
  if (caller.task != nullptr) {
    caller.task->mark(TaskMarks::kHasError);
    caller.task->frame->details.last_error = error;
    return;
  }
  LockGuard guard(threads_lock);
  if (ThreadEntry* const entry = entry_of_thread()) entry->last_error = error;
}

}  // namespace janus

using namespace janus;

extern "C" {

void janus_rt_init(janus_rt_config config) {
  (void)begin(&config);
}

int janus_rt_try_init(const janus_rt_config* config) {
  return begin(config);
}

void janus_rt_shutdown(void) {
  if (is_program.load(std::memory_order_relaxed) || calling_task() != nullptr) return;
  LockGuard guard(beginning);
  if (Runtime* const runtime = the_runtime.exchange(nullptr, std::memory_order_acq_rel)) destroy_runtime(runtime);
}

janus_rt* janus_rt_get(void) {
  return reinterpret_cast<janus_rt*>(process_runtime());
}

[[gnu::flatten]] void* janus_nursery_create(void) {
  const Caller me = caller_at_hand();
  Nursery* const nursery = me.task != nullptr ? open_quickly(*me.worker, *me.task) : nullptr;
  return nursery != nullptr ? nursery : create_slowly();
}

[[gnu::flatten]] int janus_nursery_spawn(janus_task_fn fn, void* arg) {
  const Caller me = caller_at_hand();
  Nursery* const nursery = me.task != nullptr ? me.task->frame->current : nullptr;
  if (nursery == nullptr || fn == nullptr) [[unlikely]]
    return spawn_slowly(fn, arg);
  Task* const child = spawn_quickly(*me.worker, *nursery, fn, arg);
  if (child == nullptr) [[unlikely]]
    return spawn_slowly(fn, arg);
  me.worker->fuel -= 1;
  return launch_quickly(*me.worker, *child);
}

[[gnu::flatten]] long janus_nursery_await_all(void) {
  const Caller me = caller_at_hand();
  if (me.task == nullptr) [[unlikely]]
    return await_slowly();
  Nursery* const nursery = me.task->frame->current;
  if (nursery == nullptr) [[unlikely]]
    return await_slowly();
  return static_cast<long>(await_current_quickly(*me.task, *nursery));
}

int janus_last_error(void) {
  const Caller me = caller();
  if (me.task != nullptr) return me.task->is_marked(TaskMarks::kHasError) ? me.task->frame->details.last_error : 0;
  LockGuard guard(threads_lock);
  const ThreadEntry* const entry = entry_of_thread();
  return entry != nullptr ? entry->last_error : 0;
}

}  // extern "C"
