// SPDX-License-Identifier: Apache-2.0
// rt/task/record/runtime.h — one runtime, with all its parts; a process can have any number of them.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/budget/accounts.h"
#include "rt/budget/pool_charge.h"
#include "rt/mem/heap.h"
#include "rt/mem/slab.h"
#include "rt/mem/stack_pool.h"
#include "rt/sched/scheduler.h"
#include "rt/task/record/task.h"

namespace janus {

inline constexpr std::size_t kChannelBytes = 192;  // the record size of the slab of channels

struct BudgetWaits;
struct Keepers;
struct CapTable;
struct Reporting;

struct RuntimeOptions {
  unsigned workers = 0;  // 0: as many as the machine's CPUs allow; 4 in deterministic mode
  std::uint64_t seed = 0;
  bool deterministic = false;
  int pin = -1;  // -1: if each worker can have a CPU of its own
  Victim victim = Victim::kRandom;
  std::uint32_t fair_interval = 61;
  std::uint32_t yield_interval = 1024;
  std::uint8_t stack_class = 0;
  std::size_t stack_max = std::size_t{256} << 10;  // the size that a stack may grow to, if stacks grow
  std::uint64_t memory = 0;                        // 0: three quarters of the machine's, or 8 GiB if deterministic
  bool has_root_budget = false;                    // else the root task uses the root account
  Amounts root_budget = {};
  std::uint32_t cancel_grace_ops = 65536;
  std::uint32_t profile = 1;      // JANUS_PROFILE_*; only reported
  bool confines_all = false;      // sovereign: without a token, nobody has any right
  std::uint32_t grace_ms = 5000;  // destroy_runtime() reports tasks that take longer to end
  bool with_caller = false;       // the calling thread becomes worker 0 when it runs
  bool handles_faults = true;
  bool prints_stats = false;  // at its end, on descriptor 2
  bool is_program = false;    // no thread outside can end a deadlock: report it and exit with 3
  // A write to descriptor 1 or 2 that has no reader any more ends the program as SIGPIPE would. A host decides for
  // itself.
  bool ends_by_closed_pipe = false;
  bool ends_by_panic = false;  // a panic of any task ends the process on the spot, for a core dump that shows it
};

// The maximum stack depth of the tasks of each name (rt/task/stacks/stack_marks.h). The number of names is unlimited,
// so only the deepest are kept.
struct StackMarks {
  struct Mark {
    char name[sizeof TaskExtra::name];  // or, for a task without a name:
    TaskFn fn;
    std::size_t bytes;  // 0: unused
  };
  RankedLock<LockRank::kStackMarks> lock;
  Mark marks[32];
};

struct StopRequest;

// Who has stopped the world, and who waits for that (rt/task/run/stop_world.h). Under `lock`, except what says otherwise.
struct WorldStops {
  RankedLock<LockRank::kStops> lock;
  bool is_taken;    // somebody has the turn: `holder`, or if that is nullptr the thread
  bool is_stopped;  // and it has stopped the world, `depth` times
  bool is_walked;
  std::atomic<bool> is_used;    // somebody has asked; without the lock
  std::atomic<bool> is_closed;  // threads outside are refused, since the runtime ends; without the lock
  int thread;
  unsigned depth;
  Task* holder;
  StopRequest* first;  // of those that wait, the oldest first
  void* walk_pages;    // of who walks, without the lock
};

struct Runtime {
  Scheduler scheduler;
  Heap heap;
  StackPool stacks;
  Slab tasks, nurseries, channels;
  Accounts accounts;
  PoolCharge pool_charge;  // of records and stacks
  Account* root_account;
  RuntimeOptions options;
  std::size_t child_stack_bytes;  // of options.stack_class
  // Ops of a fresh slice: the yield interval, or 0 from a request for attention until a check has handled it: tasks
  // that only yield or use channels never use up a slice, and would not check.
  std::atomic<std::uint32_t> slice_ops;
  std::uint64_t memory_limit;
  std::uint64_t started_ns;
  unsigned number;  // unique in the process; identifies the runtime in a handle
  std::uint64_t handle_key[2];

  alignas(64) std::atomic<std::uint64_t> cancel_epoch;  // grows with each cancel of tasks on the root's account
  std::atomic<Task*> terminable;  // the program's root task: SIGTERM cancels it, and its end stops the workers
  std::atomic<int> terminate_signal;
  std::atomic<std::uint64_t> spawned_outside;  // by threads that are no workers
  // Grows with each cancel, and before cancel_epoch does. Never less than cancel_epoch, so a clean_epoch that a cage's
  // nursery takes over from its owner can only be too old.
  alignas(64) std::atomic<std::uint64_t> epoch_of_all_cancels;
  alignas(64) std::atomic<std::uint64_t> next_id;
  std::atomic<std::uint32_t> exhausted;  // tasks that wait for a recharge
  // The functions for these waits; nullptr before let_wait_for_budgets(): then no account below the root task's is open.
  std::atomic<const BudgetWaits*> budget_waits;
  std::atomic<const Keepers*> keepers;  // nullptr until a budget has a keeper (rt/task/account/keepers.h)
  RankedLock<LockRank::kOutside> outside_lock;
  Nursery* outside;                            // nurseries that threads outside tasks have opened
  std::atomic<bool> is_fed_from_outside;       // outside threads may wake its tasks (deadlock.cpp); never reset
  std::atomic<std::uint32_t> waits_for_locks;  // tasks that wait for a keyed lock, whichever runtime holds it
  // Tasks that no task need wake: they wait for a reader to make room (rt/task/wait/room.h), or for a helper thread
  // (rt/task/run/blocking.h).
  std::atomic<std::uint32_t> waits_outside;
  std::atomic<std::uint32_t>
      timed_awaits;            // threads outside tasks that await a nursery until a time, or stop the world
  const Reporting* reporting;  // nullptr: reports go to stderr (rt/task/report/reporting.h)
  void (*report)();            // with `reporting`: the janus_report_fn, or nullptr
  void* report_context;
  bool reports_failures;  // with `reporting`
  StackMarks stack_marks;
  WorldStops stops;
  std::atomic<CapTable*> caps;         // nullptr until there are tokens (rt/task/nurseries/cap.h)
  Atomic<std::uint64_t> revoke_epoch;  // grows with each revoke (CapLife)
};

// The calling thread's worker, if it belongs to this runtime, else nullptr.
Worker* worker_of(const Runtime& runtime) noexcept;
// The same, called by a task, whose worker is known without asking the machine.
[[nodiscard]] inline Worker* tasks_worker_of(const Runtime& runtime) noexcept {
  Worker& worker = current_worker();
  return worker.runtime == &runtime ? &worker : nullptr;
}
// Any thread, any signal handler. Makes a worker call hooks::on_attention() soon, whatever its tasks do.
void request_attention(Runtime& runtime) noexcept;
// Slices that begin from now on end at once, until a check has seen it and polled all sources (yield_slow).
inline void end_slices(Runtime& runtime) noexcept {
  runtime.slice_ops.store(0, std::memory_order_release);
}
// The calling task, of any runtime; nullptr: outside tasks.
Task* calling_task() noexcept;

}  // namespace janus
