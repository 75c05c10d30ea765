// SPDX-License-Identifier: Apache-2.0
// rt/task/run/blocking.cpp — see blocking.h. Linked into programs that call janus_blocking only (rt/optional.h).
// docs/decisions/0343
//
// INVARIANT one-wake: as in rt/task/locks/keyed_lock.cpp. Under the lock, a call belongs to a task that has left its stack
// or to one that is about to read the call's state. The helper that ends the call wakes the task before it releases the
// lock; the task reads only with the lock held, so it and its runtime exist until then.
//
// INVARIANT no-idle-helper: while a call is queued that may run, no helper is idle, and unless there are kMaxHelpers or the
// machine refuses more, one that is about to look for calls was started for it. Who queues a call gives it to an idle
// helper or starts one, and who ends a call looks for the next one, in the same hold of the lock.
#include "rt/task/run/blocking.h"

#include <arch/task_call.h>
#include "rt/base/format.h"
#include "rt/base/order_hooks.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/account/charge.h"
#include "rt/task/account/group.h"
#include "rt/task/locks/keyed_queue.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"
#include "rt/task/report/backtrace.h"
#include "rt/task/report/describe.h"
#include "rt/task/report/runtime_fault.h"
#include "rt/task/stacks/panic_report.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

constexpr unsigned kMaxHelpers = 64;
constexpr unsigned kMostOfACage = kMaxHelpers / 4;
constexpr std::uint64_t kIdleNs = 1'000'000'000;
constexpr std::uint64_t kKey = 1;  // of the one list that the queue has

}  // namespace

// On the stack of the task that waits.
//     kQueued --a helper takes it--> kRuns --the function has ended--> kDone
//        \--its task was cancelled--> kLeft
struct BlockingCall : QueuedWaiter {
  enum State : std::uint32_t { kQueued, kRuns, kDone, kLeft };

  Task* task;
  TaskFn fn;
  void* arg;
  void (*end)(std::int64_t code);
  std::int64_t code;
  Cause cause;            // why the function has ended by force; kNone: it has returned `code`
  TextWriter* lines;      // of the report of that, which the task makes: it may call the program's report function
  std::uint64_t address;  // of a fault, if that is in the lines
  bool is_hosts;          // the function may do what a thread outside tasks may
  bool does_thread_wait;  // instead of the task, which has no stack to leave its worker for, or is deterministic
  BlockingCall* also_runs;
  std::atomic<std::uint32_t> state;  // changes under the lock
};

// Of the report of a function that ends by force: all of its first line, if the reason is short, and some frames. A task that
// waits has this on its stack.
constexpr std::size_t kLinesBytes = 400;

// On the stack of its thread.
struct Helper {
  Worker worker;
  Helper* next_idle;
  BlockingCall* call;
  std::atomic<std::uint32_t> is_called;  // under the lock, but for the look of an idle helper
  std::uint64_t frame_sp;                // the target of janus_task_abandon while the function runs, else 0
  std::byte* lowest;                     // of the frames that a function leaves which ends by force
  int c_errno;
};

namespace {

RankedLock<LockRank::kKeyedLock> helpers_lock;
// Under the lock:
KeyedQueue queued_calls;
BlockingCall* running_calls;
Helper* idle_helpers;  // the one that was busy last is the first
unsigned helper_count;

// --- Under the lock --------------------------------------------------------------------------------------------------

bool may_run(const QueuedWaiter& call) noexcept {
  if (call.group == nullptr) return true;
  unsigned running = 0;
  for (const BlockingCall* other = running_calls; other != nullptr; other = other->also_runs)
    running += other->group == call.group ? 1 : 0;
  return running < kMostOfACage;
}

BlockingCall* take_call() noexcept {
  auto* const call = static_cast<BlockingCall*>(queued_calls.find(kKey, may_run));
  if (call == nullptr) return nullptr;
  queued_calls.serve(*call);
  call->also_runs = running_calls;
  running_calls = call;
  call->state.store(BlockingCall::kRuns, std::memory_order_relaxed);
  return call;
}

QueuedWaiter* oldest_of_group(const BlockingCall& call) noexcept {
  return queued_calls.find(kKey, [&call](const QueuedWaiter& each) { return each.group == call.group; });
}

void leave_queue(BlockingCall& call) noexcept {
  queued_calls.leave(call, *oldest_of_group(call));
  call.state.store(BlockingCall::kLeft, std::memory_order_relaxed);
}

void give_to_idle() noexcept {
  Helper& helper = *idle_helpers;
  helper.call = take_call();
  if (helper.call == nullptr) return;
  idle_helpers = helper.next_idle;
  helper.is_called.store(1, std::memory_order_relaxed);
  platform::wake(helper.is_called, 1);
}

void end_call(BlockingCall& call) noexcept {
  BlockingCall** at = &running_calls;
  while (*at != &call) at = &(*at)->also_runs;
  *at = call.also_runs;
  call.state.store(BlockingCall::kDone, std::memory_order_release);
  if (call.does_thread_wait) return platform::wake(call.state, 1);
  Task& task = *call.task;
  order_hooks::release(&task.frame);
  for (const WaitReason reason : {WaitReason::kHelper, WaitReason::kHelperQueue}) {
    TaskState state = waits_for(reason);
    if (task.state.compare_exchange_strong(state, TaskState::kReady, std::memory_order_acq_rel))
      return queue_ready(nullptr, task);
  }
}

// --- The helper ------------------------------------------------------------------------------------------------------

void run_call(Helper& helper) noexcept {
  BlockingCall& call = *helper.call;
  Worker& worker = helper.worker;
  worker.task = call.is_hosts ? nullptr : kNoTaskNorHost;
  helper.c_errno = 0;
  order_hooks::acquire(&call);
  const std::int64_t code = janus_task_call(call.fn, call.arg, &helper.frame_sp);
  helper.frame_sp = 0;
  worker.task = nullptr;
  call.code = code;
  call.end(code);
}

// Called and returns with the lock held. False: for kIdleNs nobody has called.
bool wait_for_call(Helper& helper) noexcept {
  helper.is_called.store(0, std::memory_order_relaxed);
  helper.next_idle = idle_helpers;
  idle_helpers = &helper;
  helpers_lock.unlock();
  const std::uint64_t until = platform::now_ns() + kIdleNs;
  while (helper.is_called.load(std::memory_order_relaxed) == 0 && platform::now_ns() < until)
    platform::wait(helper.is_called, 0, until);
  helpers_lock.lock();
  if (helper.is_called.load(std::memory_order_relaxed) != 0) return true;
  Helper** at = &idle_helpers;
  while (*at != &helper) at = &(*at)->next_idle;
  *at = helper.next_idle;
  return false;
}

void serve_calls(Helper& helper) noexcept {
  LockGuard guard(helpers_lock);
  do {
    if (helper.call == nullptr) helper.call = take_call();
    for (; helper.call != nullptr; helper.call = take_call()) {
      helpers_lock.unlock();
      run_call(helper);
      helpers_lock.lock();
      end_call(*helper.call);
    }
  } while (wait_for_call(helper));
  --helper_count;
}

void help(void*) noexcept {
  {
    Helper helper{};
    helper.worker.self = &helper.worker;
    helper.worker.stack_limit = Scheduler::kAlwaysSlow;
    helper.worker.helper = &helper;
    put_fuel_back(helper.worker, INT64_MAX);  // checks in functions never end a slice
    platform::set_worker_slot(static_cast<WorkerSlot*>(&helper.worker));
    serve_calls(helper);
    platform::set_worker_slot(nullptr);
  }
  platform::exit_thread();
}

// --- The task --------------------------------------------------------------------------------------------------------

struct AwaitedHelper : Awaited {
  BlockingCall& call;

  explicit AwaitedHelper(BlockingCall& its) noexcept : call(its) {}
  bool is(BlockingCall::State state) const noexcept { return call.state.load(std::memory_order_relaxed) == state; }
  // Once the function runs, the wait lasts until it has ended: it may use what is on the task's stack.
  WaitReason reason() const noexcept {
    return is(BlockingCall::kQueued) ? WaitReason::kHelperQueue : WaitReason::kHelper;
  }
  bool is_over() const noexcept { return is(BlockingCall::kDone); }
  static void lock() noexcept { helpers_lock.lock(); }
  static void unlock() noexcept { helpers_lock.unlock(); }
  void leave() const noexcept {
    if (is(BlockingCall::kQueued)) leave_queue(call);
    if (is(BlockingCall::kRuns)) call.does_thread_wait = true;
  }
};

// Under the lock. False: there is no helper, and none can be started.
bool queue_call(BlockingCall& call) noexcept {
  queued_calls.join_group(call, oldest_of_group(call));
  if (!may_run(call)) return true;
  if (idle_helpers != nullptr) {
    give_to_idle();
  } else if (helper_count < kMaxHelpers) {
    ++helper_count;
    if (platform::start_thread(help, nullptr, -1, "janus/helper")) return true;
    if (--helper_count != 0) return true;
    leave_queue(call);
    return false;
  }
  return true;
}

void wait_as_thread(const BlockingCall& call) noexcept {
  for (std::uint32_t seen; (seen = call.state.load(std::memory_order_acquire)) != BlockingCall::kDone;)
    platform::wait(const_cast<std::atomic<std::uint32_t>&>(call.state), seen, platform::kForever);
  LockGuard guard(helpers_lock);  // the helper no longer uses the call once it has unlocked
}

WaitEnd await_call(Task& self, BlockingCall& call) noexcept {
  helpers_lock.lock();
  if (!queue_call(call)) {
    helpers_lock.unlock();
    return WaitEnd::kNoStack;
  }
  if (call.does_thread_wait) {
    helpers_lock.unlock();
    wait_as_thread(call);
    return WaitEnd::kOver;
  }
  AwaitedHelper awaited(call);
  const WaitEnd end = wait(self, awaited);
  if (end == WaitEnd::kOver || !call.does_thread_wait) return end;
  wait_as_thread(call);
  return WaitEnd::kOver;
}

// Whether the task has all that a thread outside tasks may do.
bool is_as_the_host(const Task& self) noexcept {
  return !confinement_of(self).is_confined && implicit_rights_of(self) == kAllRights;
}

// On the task's worker.
[[gnu::noinline, gnu::cold]] void report_for_helper(Worker& worker, const BlockingCall& call) noexcept {
  take_fuel_unchecked(worker, price::kPanic);
  TextWriter lines(worker.report, sizeof worker.report);
  lines.append("%s", call.lines->data());
  platform::Fault fault{};
  fault.has_address = call.address != 0;
  fault.address = call.address;
  tell_panic(worker, lines, &fault);
}

}  // namespace

std::int64_t call_on_helper(Task& self, TaskFn fn, void* arg, void (*end)(std::int64_t code)) noexcept {
  Runtime& runtime = runtime_of(current_worker());
  Text<kLinesBytes> lines;
  BlockingCall call{};
  call.lines = &lines;
  call.key = kKey;
  call.group = group_of(&self);
  call.task = &self;
  call.fn = fn;
  call.arg = arg;
  call.end = end;
  call.is_hosts = is_as_the_host(self);
  call.does_thread_wait = runtime.scheduler.is_deterministic();
  order_hooks::release(&call);
  runtime.waits_outside.fetch_add(1, std::memory_order_release);
  const WaitEnd ended = await_call(self, call);
  runtime.waits_outside.fetch_sub(1, std::memory_order_release);
  if (ended != WaitEnd::kOver) return result_of(ended, self);
  order_hooks::acquire(&self.frame);
  if (call.cause == Cause::kNone) return call.code;
  report_for_helper(current_worker(), call);
  end_as_panicked(self, call.cause);
}

// --- Functions that end by force -------------------------------------------------------------------------------------

namespace {

// In the fault handler, too.
void note_panic(BlockingCall& call, Cause cause, const char* why, const platform::Fault* fault) noexcept {
  call.cause = cause;
  if (fault != nullptr && fault->has_address) call.address = fault->address;
  TextWriter& lines = *call.lines;
  append_panic(lines, *call.task, "panicked in janus_blocking", why, fault);
  lines.end_line();
  const std::uint64_t ip = fault != nullptr ? fault->ip : reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  const std::uint64_t fp = fault != nullptr ? fault->fp : reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  append_frames(lines, nullptr, ip, fp);
}

[[noreturn]] void leave_function(void* pointer) noexcept {
  auto& helper = *static_cast<Helper*>(pointer);
  fiber_hooks::forget_frames(helper.lowest, reinterpret_cast<std::byte*>(helper.frame_sp));
  janus_task_abandon(helper.frame_sp, code_of(Outcome::kPanic));
}

}  // namespace

bool contain_on_helper(Worker& worker, platform::Fault& fault) noexcept {
  Helper& helper = *worker.helper;
  const Reason why = reason_of(fault, worker);
  if (helper.frame_sp == 0 || is_in_runtime(fault)) {
    worker.task = nullptr;  // the report looks at it
    end_for_runtime_fault(fault, worker, why.text);
  }
  note_panic(*helper.call, why.cause, why.text, &fault);
  constexpr std::uint64_t kRoom = 512;
  helper.lowest = reinterpret_cast<std::byte*>(fault.sp);
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&leave_function);
  fault.resume_sp = ((helper.frame_sp - kRoom) & ~std::uint64_t{15}) - 8;
  fault.resume_arg = reinterpret_cast<std::uint64_t>(&helper);
  return true;
}

void panic_on_helper(Worker& worker, Cause cause, const char* why) noexcept {
  Helper& helper = *worker.helper;
  note_panic(*helper.call, cause, why, nullptr);
  helper.lowest = static_cast<std::byte*>(__builtin_frame_address(0));
  leave_function(&helper);
}

void refuse_on_helper(Worker& worker) noexcept {
  worker.task = nullptr;
  panic_on_helper(worker, Cause::kMisuse, "it called the runtime there, and is in a cage or confined");
}

// --- What functions may call -----------------------------------------------------------------------------------------

std::int64_t syscall_on_helper(Worker& worker, long number, const long (&arguments)[6]) noexcept {
  const Task& task = *worker.helper->call->task;
  const Runtime& runtime = *task.nursery->runtime;
  const Confinement to = confinement_of(task);
  if (to.is_confined && !does_give(runtime, to.cap, Right::kSyscall)) return kErrorNoCap;
  if (!charge_at_once(task, Component::kSyscalls, 1))
    return why_not_paid(runtime.accounts, task.account, Component::kSyscalls);
  worker.counters.syscalls.add();
  return platform::syscall(number, arguments);
}

int* errno_of_helper(Worker& worker) noexcept {
  return &worker.helper->c_errno;
}

}  // namespace janus
