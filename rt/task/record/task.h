// SPDX-License-Identifier: Apache-2.0
// rt/task/record/task.h — the record of a task, of two cache lines. A task has a stack only from its start to its end.
// docs/decisions/0075, 0329
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include <arch/opaque.h>
#include "rt/base/assert.h"
#include "rt/base/biased_lock.h"
#include "rt/base/errors.h"
#include "rt/base/list.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"
#include "rt/sched/worker.h"
#include "rt/task/record/cause.h"

namespace janus {

struct Cap;
struct Channel;
struct DeadlineActions;
struct Nursery;
struct Runtime;
struct RunFrame;
struct Task;
struct LockWaiter;
struct LocksBefore;

using TaskFn = std::int64_t (*)(void*);

// The states of a task. Those of the C ABI have its numbers. There they are one state; here a wait's reason is part of
// its state: waits_for(reason).
//
//     Created --start--> Running --wait--> waits --wake--> Ready --resume--> Running --return--> Completed
//                           |                                                                    or Failed, Cancelled
//                           \--runs a child on its own stack--> Nesting --child ends--> Running
//
//     a fresh task is Created while it is queued
//
// INVARIANT wake-once: the thread that turns a wait into Ready queues the task, and no other does. A wait's state is
// stored only after the stack has been left. Any wait may end early: the waiter looks again at what it waited for. A
// wait at a channel is entered and left under the lock of the channel `waits_at`, so no two threads can do so at once.
enum class TaskState : std::uint8_t {
  kCreated = 0,
  kReady = 1,
  kRunning = 2,
  kCompleted = 5,
  kFailed = 6,
  kCancelled = 7,
  kNesting = 8,
  kWaits = 16,  // and larger values, by reason
};

// What a task waits for.
enum class WaitReason : std::uint8_t {
  kChannel,
  kChannelApart,  // of another runtime; or any, if the task is pinned
  kSelect,        // several channels
  kToken,         // janus_park
  kBudget,
  kTask,         // its end
  kChildren,     // their end
  kTime,         // nothing else
  kSync,         // a lock or condition of janus/sync.h
  kSafepoint,    // its turn to stop the world
  kHelperQueue,  // a helper thread that takes its call
  // No cancel ends these.
  kLock,    // a keyed lock
  kRoom,    // in a descriptor
  kRelock,  // a mutex that a wait for a condition has released, and needs to return
  kHelper,  // the end of its call on a helper thread
};

constexpr TaskState waits_for(WaitReason reason) noexcept {
  return static_cast<TaskState>(static_cast<unsigned>(TaskState::kWaits) + static_cast<unsigned>(reason));
}
// Whether the task waits for an action of another task or thread.
constexpr bool is_waiting(TaskState state) noexcept {
  return state >= TaskState::kWaits;
}
// Precondition: is_waiting(state).
constexpr WaitReason reason_of(TaskState state) noexcept {
  return static_cast<WaitReason>(static_cast<unsigned>(state) - static_cast<unsigned>(TaskState::kWaits));
}
// Whether a cancel ends the wait. What the others wait for comes soon, or call_room_waiters() ends the wait; or, for
// kRelock and kHelper, the call cannot return without it.
constexpr bool is_ended_by_cancel(WaitReason reason) noexcept {
  return reason < WaitReason::kLock;
}
// Whether a worker may be running the task. A task without a handle that runs on its parent's stack gets the state
// kRunning only after its first wait; until then the state is left over from the record's previous task.
constexpr bool may_be_running(TaskState state) noexcept {
  return state == TaskState::kRunning || state == TaskState::kCreated;
}

// How a task ended; the numbers are the ABI's JANUS_KIND_*.
enum class Outcome : std::uint8_t { kSuccess, kFailed, kCancelled, kPanic, kBudget, kPending };

// The result of a task.
struct TaskEnd {
  Outcome outcome;
  std::int64_t code;
  Cause cause;
};

struct TaskFlags {
  static constexpr std::uint8_t kKept = 1;          // the record stays after the task's end until it is released
  static constexpr std::uint8_t kExposed = 2;       // a handle of it may exist
  static constexpr std::uint8_t kRunCancelled = 4;  // its function is called even if it was cancelled before its start
  static constexpr std::uint8_t kOwnAccount = 8;    // has an explicit budget
  static constexpr std::uint8_t kEnded = 16;        // final state and result are in place (under `lock`)
  static constexpr std::uint8_t kRecorded = 32;     // linked in its nursery's records (under the nursery's lock)
  static constexpr std::uint8_t kDraws = 64;        // its record and stack are charged to an account below the root
  static constexpr std::uint8_t kNamed = 128;       // has an `extra`
};

// Rare conditions of a task. Only the task itself, and tasks that run on its stack, read and set its marks. They stay
// until its end, which tests all of them at once. The first mark creates the details in the task's frame.
struct TaskMarks {
  static constexpr std::uint8_t kHasMigrated = 1;  // it has left its worker
  static constexpr std::uint8_t kSawCancel = 2;    // it was told to end
  static constexpr std::uint8_t kWasForced = 4;    // it is ended by force
  static constexpr std::uint8_t kHasLocals = 8;
  static constexpr std::uint8_t kHasError = 16;    // janus_last_error, or errno
  static constexpr std::uint8_t kHoldsLocks = 32;  // it may have to release some at its end, or tell those who wait
  static constexpr std::uint8_t kHasGrown = 64;    // it has grown its stack, and shrinks it at its end
  // It has a deadline, is in a shield, is pinned, carries a token or has derived some, has inherited values, or has stopped
  // the world; unlike the others, only as long as that.
  static constexpr std::uint8_t kHasContext = 128;
};

using TaskLock = RankedLock<LockRank::kTask>;

struct Join;
struct LocalTable;
struct InheritedValues;

// The part of a task that only some tasks have.
struct TaskExtra {
  char name[32];
};

// INVARIANT zeroed-when-free: a record that serves no task is as init_task() expects it: `suspended_at`, `frame`,
// `waiters`, `extra`, `cancel`, `token`, `flags`, `secret`, `marks`, `is_published`, `yielded_free`, `group`,
// `has_migrated` and `holdings` are zero, and `state` is kCreated or kRunning. So fields that most tasks never use cost them nothing. A
// task without flags begins with the state that was left in the record, so until it first waits, yields or runs a child
// on its own stack, its state does not say whether it has started. What `awaits` shares its place with is a multiple of 8,
// which names nothing.
//
// INVARIANT a-cage-is-a-group: from the spawn to its end, the cage that a task's group names is 0 exactly if its account is
// the root account. So is_caged() needs one comparison. docs/decisions/0328
struct alignas(64) Task : Runnable {
  TaskFn fn;
  void* arg;
  Nursery* nursery;
  Account* account;  // pays for the task's operations; the root account unless is_caged()
  std::atomic<TaskState> state;
  std::atomic<std::uint8_t> cancel;   // 0, or the Cause for which it was told to end; sticky
  std::atomic<std::uint8_t> token;    // of janus_park
  std::atomic<std::uint8_t> flags;    // TaskFlags
  std::atomic<std::uint32_t> secret;  // of its handle (rt/task/nurseries/handle.h); 0: it has none

  RunFrame* frame;  // valid from the task's start to its end, else nullptr
  std::uint64_t id;
  union {
    std::int64_t result;  // valid once kEnded is set
    Channel* waits_at;    // in a wait for kChannel: the lock of this one guards the state; read through std::atomic_ref
  };
  Join* waiters;  // under `lock`
  TaskExtra* extra;
  union {
    Task*
        record_previous;  // of an ended task, in its nursery's records; under the nursery's lock, by set_record_previous()
    std::uint64_t awaits;  // before: what it waits for, or nothing (rt/task/record/awaits.h); through std::atomic_ref
  };
  Task* record_next;
  TaskLock lock;                       // for exposed tasks: guards the end of the task, `waiters` and the handle
  Outcome outcome;                     // once kEnded
  Cause cause;                         // once kEnded
  std::atomic<bool> has_migrated;      // its frame is in the nursery's members (under the nursery's lock)
  std::atomic<std::uint8_t> holdings;  // 1 once its function has ended: what it held before is nobody's (under `lock`)

  // Atomic: may_be_told() may read it after the record was recycled for another task.
  void belong_to(Nursery& where) noexcept { std::atomic_ref(nursery).store(&where, std::memory_order_relaxed); }
  Nursery* nursery_of_whoever_has_it() noexcept { return std::atomic_ref(nursery).load(std::memory_order_relaxed); }

  // Atomic: others may read `awaits`. An address says that it awaits nothing.
  void set_record_previous(Task* previous) noexcept {
    std::atomic_ref(record_previous).store(previous, std::memory_order_relaxed);
  }

  // Whether it is in a cage, and so draws on another account than the root's.
  bool is_caged() const noexcept { return !arch::has_none<kCageMask>(group); }
  // Another one than the normal.
  bool has_priority() const noexcept { return janus::has_priority(group); }
  // Whether it is in a cage or has a priority: then each of its slices begins a turn of its group.
  bool takes_turns() const noexcept { return !arch::is_zero(group); }
  bool is_marked(std::uint8_t mark) const noexcept { return (marks & mark) != 0; }
  // Whether it has one of `some` marks, or is_published. One test of the neighbouring bytes.
  bool is_marked_or_published(std::uint8_t some) const noexcept {
    static_assert(offsetof(Runnable, is_published) == offsetof(Runnable, marks) + 1);
    std::uint16_t both;
    __builtin_memcpy(&both, &marks, sizeof both);
    return (both & (std::uint16_t{1} << 8 | some)) != 0;
  }
  inline void mark(std::uint8_t mark) noexcept;

  // Flags may be read by any thread. They are written by the spawner and the task itself until the task is exposed,
  // then under `lock` or, once it has ended, under its nursery's lock: never by two at once.
  bool has(std::uint8_t flag) const noexcept { return (flags.load(std::memory_order_relaxed) & flag) != 0; }
  void set(std::uint8_t flag) noexcept {
    flags.store(static_cast<std::uint8_t>(flags.load(std::memory_order_relaxed) | flag), std::memory_order_relaxed);
  }
  void clear(std::uint8_t flag) noexcept {
    flags.store(static_cast<std::uint8_t>(flags.load(std::memory_order_relaxed) & ~flag), std::memory_order_relaxed);
  }
};
static_assert(sizeof(Task) == 128, "two lines: a million tasks that have not started are a million of these");

struct MigratedTasks;  // tag: the tasks of a nursery that have left their worker at least once

// The part of a task's frame that is only used if the task has a mark (TaskMarks). The link is valid while the task is
// a member of its nursery's list.
struct RunDetails : ListLink<MigratedTasks> {
  explicit RunDetails(Task* self) noexcept : task(self) {}

  Task* task;
  Nursery* published = nullptr;         // opened before the task last left its worker; under the lock of task->nursery
  LocalTable* locals = nullptr;         // rt/task/account/locals.h
  Stack* abandoned = nullptr;           // its own stack, if it ends by force on a spare one
  LockWaiter* held_locks = nullptr;     // with kHoldsLocks
  LocksBefore* locks_before = nullptr;  // of the innermost half that began with kHoldsLocks (rt/task/run/fork.cpp)
  static constexpr std::uint8_t kInShield = 1, kHasCaps = 2, kHoldsWorld = 4, kLostWorld = 8, kInherits = 16,
                                kIsPinned = 32;
  const DeadlineActions* deadline = nullptr;  // with kHasContext; nullptr: none
  InheritedValues* inherited = nullptr;       // with kInherits (rt/task/account/inherited.h)
  // With kHasCaps (rt/task/nurseries/cap.h):
  Cap* cap = nullptr;      // the token that it was spawned with; nullptr: it has that of its nursery
  Cap* derived = nullptr;  // by this task, and in force until it ends
  // With kHasGrown: the stack's limit before it grew, and the bytes of growth that the account has paid for.
  std::byte* limit_before = nullptr;
  std::size_t growth_paid = 0;
  // Once kSawCancel: the ops left to clean up, its own or those of the task whose shield it is below. Tasks below this
  // one may spend from its own.
  std::atomic<std::int64_t> own_grace{0};
  std::atomic<std::int64_t>* shared_grace = nullptr;
  std::atomic<std::int64_t>& grace() noexcept { return shared_grace != nullptr ? *shared_grace : own_grace; }
  std::int64_t outer_fuel = -1;  // the rest of the slice (maybe the parent's) when the grace began; -1: no grace
  int last_error = 0;            // with its Why; and the amount left of the component that the Why names
  std::uint64_t last_error_left = 0;
  std::uint64_t holder_bits = 0;  // of the words that the task locks (rt/task/record/awaits.h), once it has locked one
  int c_errno = 0;                // of our C library
  std::uint8_t held_count = 0;    // the length of held_locks
  std::uint16_t waits = 0;        // counts what `task->awaits` was, so that no two waits are alike
  bool was_told = false;          // the cancel of task->nursery has told it; under that nursery's lock
  bool has_passed_cancel_on = false;  // with kSawCancel: no shield above it puts its cancel aside (any more)
  std::uint8_t context = 0;           // with kHasContext, beside a deadline: kInShield ... kIsPinned
  bool is_half_shielded = false;      // with kHasContext: the innermost half that runs began so (rt/task/run/fork.cpp)
  Outcome outcome = Outcome::kPending;  // once kWasForced
  Cause cause = Cause::kNone;           // once kWasForced
  // With kIsPinned: how many pins are to be undone, and how many of them the innermost half began with; `pins` is no less.
  // The worker that it stays on.
  std::uint32_t pins, pins_before;
  std::uint16_t pinned_to;
};

// The frame of a running task, at the top of its part of the stack.
struct RunFrame {
  RunFrame(Task* self, RunFrame* outer) noexcept : task(self), outer_frame(outer) {}

  std::uint64_t frame_sp = 0;  // the target of janus_task_abandon; 0 while the task's function does not run
  Task* task;
  RunFrame* outer_frame;       // of the parent that runs this task on its stack instead of waiting
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

// Of the running task, or of one that is kept from running.
inline bool has_deadline(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHasContext) && task.frame->details.deadline != nullptr;
}
inline bool is_shielded(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHasContext) && (task.frame->details.context & RunDetails::kInShield) != 0;
}
// Also of a task that has stopped, by whoever has made it ready.
inline bool is_pinned(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kHasContext) && (task.frame->details.context & RunDetails::kIsPinned) != 0;
}
// After the end of what was part of its context: takes the mark away if nothing is left.
inline void look_at_context(Task& task) noexcept {
  if (task.frame->details.context == 0) task.marks &= static_cast<std::uint8_t>(~TaskMarks::kHasContext);
}
inline bool has_passed_cancel_on(const Task& task) noexcept {
  return task.is_marked(TaskMarks::kSawCancel) && task.frame->details.has_passed_cancel_on;
}

// A relaxed load: enough for a task's checks of its own state.
inline TaskState state_of(const Task& task) noexcept {
  return task.state.load(std::memory_order_relaxed);
}

// INVARIANT zeroed-when-free, checked when a record is taken and given back.
inline bool is_zeroed_when_free(const Task& task) noexcept {
  return task.suspension() == nullptr && task.frame == nullptr && task.waiters == nullptr &&
         task.cancel.load(std::memory_order_relaxed) == 0 && task.token.load(std::memory_order_relaxed) == 0 &&
         task.flags.load(std::memory_order_relaxed) == 0 && task.marks == 0 && !task.is_published &&
         !task.yielded_free && !task.has_migrated.load(std::memory_order_relaxed) && task.extra == nullptr &&
         task.secret.load(std::memory_order_relaxed) == 0 && task.group == 0 && task.awaits % 8 == 0 &&
         task.holdings.load(std::memory_order_relaxed) == 0;
}

inline Task* current_task(Worker& worker) noexcept {
  return static_cast<Task*>(static_cast<Runnable*>(worker.task));
}
inline Runtime& runtime_of(Worker& worker) noexcept {
  return *worker.runtime;
}

}  // namespace janus
