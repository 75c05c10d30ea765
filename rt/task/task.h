// SPDX-License-Identifier: Apache-2.0
// rt/task/task.h — a task: what spawn makes. Two cache lines; it has a stack only from its start to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "rt/base/biased_lock.h"
#include "rt/base/errors.h"
#include "rt/base/list.h"
#include "rt/base/spinlock.h"
#include "rt/budget/account.h"
#include "rt/sched/worker.h"

namespace janus {

struct Channel;
struct Nursery;
struct Runtime;
struct RunFrame;
struct Task;

using TaskFn = std::int64_t (*)(void*);

// What the table of the C ABI knows, and two that only we tell apart.
//
//     Created --start--> Running --block--> Blocked --wake--> Ready --resume--> Running --return--> Completed, Failed,
//     Cancelled
//                           |  \--send, receive--> AtChannel --partner, close, cancel--> Ready
//                           |  \--park--> Parked --unpark--> Ready          a fresh one is Created while it is queued
//                           |  \--budget--> Exhausted --recharge--> Ready
//                           \--runs a child on its own stack--> Buried --child ends--> Running
//
// INVARIANT wake-once: who turns Blocked, Parked or Exhausted into Ready queues the task, nobody else. These three are
// stored only after the stack has been left. Any wait may end early: the waiter looks again at what it waited for.
// AtChannel is left and entered under the lock of the channel `waits_at`, so no two can do so at once.
enum class TaskState : std::uint8_t {
  kCreated,
  kReady,
  kRunning,
  kBlocked,
  kExhausted,
  kCompleted,
  kFailed,
  kCancelled,
  kParked,
  kNesting,
  kAtChannel,
};

// How a task ended; the numbers are the ABI's JANUS_KIND_*.
enum class Outcome : std::uint8_t { kSuccess, kFailed, kCancelled, kPanic, kBudget, kPending };

struct TaskFlags {
  static constexpr std::uint8_t kKept = 1;          // the record stays when the task ends, until it is released
  static constexpr std::uint8_t kExposed = 2;       // somebody may hold a handle
  static constexpr std::uint8_t kRunCancelled = 4;  // is called even if it was cancelled before its start
  static constexpr std::uint8_t kOwnAccount = 8;    // has an explicit budget
  static constexpr std::uint8_t kEnded = 16;        // final state and result are in place (under `lock`)
  static constexpr std::uint8_t kRecorded = 32;     // linked in its nursery's records (under the nursery's lock)
  static constexpr std::uint8_t kDraws = 64;        // its record and stack are charged to an account below the root
  static constexpr std::uint8_t kNamed = 128;       // has an `extra`
};

// What most tasks never come to; only the task itself looks at its marks and sets them. They stay until its end, which
// looks at all of them at once. With the first one come the details of its frame.
struct TaskMarks {
  static constexpr std::uint8_t kHasMigrated = 1;  // it has left its worker
  static constexpr std::uint8_t kSawCancel = 2;    // it was told to end
  static constexpr std::uint8_t kWasForced = 4;    // it is ended by force
  static constexpr std::uint8_t kHasLocals = 8;
  static constexpr std::uint8_t kHasError = 16;  // janus_last_error
};

struct Join;

// What only some tasks have.
struct TaskExtra {
  char name[32];
};

// INVARIANT zeroed-when-free: a record that no task has is as init_task() takes for granted: `suspended_at`, `frame`,
// `waiters`, `cancel`, `token`, `flags`, `marks`, `is_published`, `yielded_free` and `has_migrated` are zero. What most
// tasks never touch costs them nothing. The state of a task that is not exposed says something only while it waits.
struct alignas(64) Task : Runnable {
  TaskFn fn;
  void* arg;
  Nursery* nursery;
  Account* account;  // who pays for what it does
  std::atomic<TaskState> state;
  std::atomic<std::uint8_t> cancel;  // told to end; sticky
  std::atomic<std::uint8_t> token;   // of janus_park
  std::atomic<std::uint8_t> flags;   // TaskFlags
  std::atomic<std::uint32_t>
      generation;  // half of the handle; another one for each exposed task that the record served

  RunFrame* frame;  // from start to end
  std::uint64_t id;
  union {
    std::int64_t result;  // once kEnded
    Channel* waits_at;    // kAtChannel: whose lock rules the state; through channel_of()
  };
  Join* waiters;  // under `lock`
  TaskExtra* extra;
  Task* record_previous;  // ended, in the nursery's records; under its lock
  Task* record_next;
  SpinLock lock;                   // exposed tasks: the end, waiters, the handle
  Outcome outcome;                 // once kEnded
  std::atomic<bool> has_migrated;  // its frame is in the nursery's members (under the nursery's lock)

  // Who walks up from a task that may be gone reads this of a record that may be somebody else's by now
  // (may_be_cancelled), so it is written whole.
  void belong_to(Nursery& where) noexcept { std::atomic_ref(nursery).store(&where, std::memory_order_relaxed); }
  Nursery* nursery_of_whoever_has_it() noexcept { return std::atomic_ref(nursery).load(std::memory_order_relaxed); }

  bool is_marked(std::uint8_t mark) const noexcept { return (marks & mark) != 0; }
  inline void mark(std::uint8_t mark) noexcept;

  // Flags: read by anyone; written by its spawner and itself until it is exposed, then under `lock` or, once it has
  // ended, under its nursery's: never by two at once.
  bool has(std::uint8_t flag) const noexcept { return (flags.load(std::memory_order_relaxed) & flag) != 0; }
  void set(std::uint8_t flag) noexcept {
    flags.store(static_cast<std::uint8_t>(flags.load(std::memory_order_relaxed) | flag), std::memory_order_relaxed);
  }
  void clear(std::uint8_t flag) noexcept {
    flags.store(static_cast<std::uint8_t>(flags.load(std::memory_order_relaxed) & ~flag), std::memory_order_relaxed);
  }
};
static_assert(sizeof(Task) == 128, "two lines: a million tasks that have not started are a million of these");

struct MigratedTasks;  // tag: the tasks of a nursery that have been off their worker at least once

// Of the frame of a task that has any mark. The link counts while the task is a member.
struct RunDetails : ListLink<MigratedTasks> {
  explicit RunDetails(Task* self) noexcept : task(self) {}

  Task* task;
  Nursery* published = nullptr;  // opened before it last left its worker; under the lock of task->nursery
  void** locals = nullptr;
  Stack* abandoned = nullptr;  // a panicked task ends on a spare stack; this is the one it had
  std::int64_t grace = 0;      // ops left to clean up, once kSawCancel
  int last_error = 0;
  Outcome outcome = Outcome::kPending;  // once kWasForced
};

// What a task has while it runs, at the top of its part of the stack.
struct RunFrame {
  RunFrame(Task* self, RunFrame* outer) noexcept : task(self), outer_frame(outer) {}

  std::uint64_t frame_sp = 0;  // where janus_task_abandon goes; 0 while the task's function does not run
  Task* task;
  RunFrame* outer_frame;       // the task that we were called by, instead of its waiting: outer until we end
  Nursery* open = nullptr;     // opened by this task since it last left its worker, innermost first ...
  Nursery* current = nullptr;  // ... but those of janus_nursery_create are only in this chain until link_current()
  union {
    RunDetails details;
  };
};

inline void Task::mark(std::uint8_t mark) noexcept {
  if (marks == 0) new (&frame->details) RunDetails(this);
  marks |= mark;
}

inline Task* current_task(Worker& worker) noexcept {
  return static_cast<Task*>(static_cast<Runnable*>(worker.task));
}
inline Runtime& runtime_of(Worker& worker) noexcept {
  return *static_cast<Runtime*>(worker.runtime);
}

// --- Life (run.cpp) --------------------------------------------------------------------------------------------------

// Calls a task that has not started on the stack we stand on, and ends it.
void run_from_base(Runnable* fresh) noexcept;
// Runs the children of `nursery` that are next on this worker and have not started, in place of waiting for them.
void run_children(Task& self, Nursery& nursery) noexcept;
// The same for who need not look everywhere (Scheduler::kAlwaysSlow), as long as the nursery is private.
void run_children_fast(Task& self, Nursery& nursery) noexcept;
void refuse_start(Runnable* fresh) noexcept;

// --- Waiting (wait.cpp) ----------------------------------------------------------------------------------------------

// Leaves the stack. Once it has been left: state := `state`; then `publish(task, what)`, which makes the task findable
// and releases what it holds. Returns after a wake. False: no stack to go on with; nothing happened, nothing released.
using Publish = void (*)(Task& task, void* what);
[[nodiscard]] bool block(Task& task, TaskState state, Publish publish, void* what) noexcept;
// The same for what a lock guards, which is held: kBlocked, and then the lock is released. False: it is still held.
[[nodiscard]] bool block_unlocking(Task& task, SpinLock& lock) noexcept;
// The same at a channel, whose lock is held as `hold` says: kAtChannel, and then the lock is released. False: it is
// still held. `task` is published, of the channel's runtime, and what the channel knows of it is in place.
[[nodiscard]] bool block_at(Channel& channel, Task& task, BiasedLock::Hold hold) noexcept;
// The same for the owner of the lock, and a task that lives on the root's account and has paid.
[[nodiscard]] bool block_at_hand(Channel& channel, Worker& worker, Task& task) noexcept;
// Wakes `task` if it is in `from`. Any thread of its runtime, or `worker` nullptr from outside.
bool wake(Worker* worker, Task& task, TaskState from) noexcept;
// For a task that waits at a channel whose lock is held. `worker` is of its runtime, or nullptr.
void wake_held(Worker* worker, Task& task) noexcept;
// Whatever it waits for, if it waits. The caller sees to it that it cannot end.
bool wake_to_look(Worker* worker, Task& task) noexcept;
int yield(Task& task) noexcept;
int park(Task& task, bool forever) noexcept;
void unpark(Worker* worker, Task& task) noexcept;
// Panics when too little of the stack is left for code of ours, or when something ran over the end of a stack that no
// guard page ends, before that code has taken anything.
void look_at_stack(Worker& worker) noexcept;
inline void require_stack(Worker& worker) noexcept {
  if (arch::stack_pointer() < reinterpret_cast<std::uintptr_t>(worker.stack_limit)) [[unlikely]]
    look_at_stack(worker);
}

// --- Cancellation (cancel.cpp) ---------------------------------------------------------------------------------------

// Whether `task` was told to end: itself, its nursery, or an ancestor of either.
bool is_cancelled(Task& task) noexcept;
// The same for a child of `nursery` that nobody else knows.
bool is_cancelled(Nursery& nursery) noexcept;
// The same for a task that may already be gone, and its nursery with it, so that their memory serves others: the answer
// is a hint then, and nothing is written.
bool may_be_cancelled(const Runtime& runtime, const Task& task, const Nursery& nursery) noexcept;
// As is_cancelled, at a place where the task learns it: its grace begins.
bool sees_cancel(Task& task) noexcept;
// At the door of every call that may block, before anything is held: a task that was told to end and goes on all the
// same pays an op of its grace, and ends as a panic when there is none left.
void pay_grace(Task& task) noexcept;
void cancel_task(Worker* worker, Task& task) noexcept;

// --- Fuel and budgets (slice.cpp)
// -------------------------------------------------------------------------------------

void begin_slice(Worker& worker, Task& task) noexcept;
void commit_slice(Worker& worker) noexcept;
int yield_slow(Task& task) noexcept;
// `amount` of `component` is not to be had: by the policy that rules the account this waits and gives 0 when it is
// worth another try, gives an error, or ends the task.
int exhausted(Task& task, Component component, std::uint64_t amount) noexcept;
// One operation: `ops` fuel and `amount` of `component`. 0, or why not.
int charge(Task& task, Component component, std::uint64_t amount) noexcept;

// --- Ends by force (panic.cpp) ---------------------------------------------------------------------------------------

inline constexpr char kGraceIsGone[] = "it was cancelled, and has used up its grace";
[[noreturn]] void panic(Task& task, const char* why) noexcept;
[[noreturn]] void end_for_budget(Task& task) noexcept;

void report_panic(const Task& task, const char* why, const platform::Fault* fault) noexcept;
bool contain_fault(platform::Fault& fault) noexcept;

// --- Handles (handle.cpp) --------------------------------------------------------------------------------------------

std::uint64_t handle_of(Runtime& runtime, Task& task) noexcept;
// The task of a handle, locked, or nullptr: the handle is {0}, forged or stale.
Task* lock_handle(Runtime& runtime, std::uint64_t handle) noexcept;
// The task's lock is held.
void wake_joiners(Worker& worker, Task& task) noexcept;
// Nothing of the task is left; its record goes back, and its handles are stale.
void free_record(Worker* worker, Task& task) noexcept;
int release_handle(Worker* worker, Runtime& runtime, std::uint64_t handle) noexcept;
int join(Task& self, std::uint64_t handle, std::int64_t* result) noexcept;

}  // namespace janus
