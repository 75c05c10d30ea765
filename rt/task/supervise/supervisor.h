// SPDX-License-Identifier: Apache-2.0
// rt/task/supervise/supervisor.h — supervisors: their records, and what any task may do with one. supervision.h runs them.
// A supervisor is a channel's record (ChannelKind::kSupervisor), whose handle and lock it uses; the rest is in the
// channel's buffer. docs/decisions/0338
//
// INVARIANT runner-decides: only the task that runs the supervisor starts and stops children, and takes note of their
// ends; others add a child, or take out one that has no task, and mark what has one. All of it under the lock, which
// nobody holds while he waits or calls users' functions. Who has changed something for the runner to see sets Nursery::news, and
// then wakes it, if it waits; the runner clears `news` before it looks. So no change waits for the next one.
#pragma once

#include <atomic>

#include "rt/base/list.h"
#include "rt/base/numbered.h"
#include "rt/base/or_error.h"
#include "rt/optional.h"
#include "rt/task/account/name.h"
#include "rt/task/channels/channel_hold.h"
#include "rt/task/nurseries/result.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "rt/task/supervise/restarts.h"

namespace janus {

class Runner;

enum class Strategy : std::uint8_t { kOneForOne, kOneForAll, kRestForOne };
enum class RestartPolicy : std::uint8_t { kPermanent, kTransient, kTemporary };
// Those of the C ABI have its numbers. kInHand: the runner is about to start it, or to act upon its end; to users it waits.
enum class ChildState : std::uint8_t { kWaits, kRuns, kStops, kEnded, kInHand };

struct ChildSpec {
  TaskFn start;
  void* arg;
  RestartPolicy restart;
  bool has_budget;
  Amounts budget;
  std::uint64_t stop_ns, ready_ns;
  char name[kNameBytes];
};

struct Child : Numbered, ListLink<> {
  ChildSpec spec;
  Channel* supervisor;
  ChildState state = ChildState::kWaits;
  bool is_removed = false;  // nobody finds it any more, and it goes when its task has ended
  bool is_ready = false;
  bool has_failed = false;  // although it may have ended well: it was not ready in time
  std::uint8_t level = 0;   // of its delays
  std::uint32_t restarts = 0;
  std::uint64_t task = 0;  // the handle, while it has one
  std::uint64_t task_id = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t due_ns = 0;  // of a delayed start
  Report last{Outcome::kPending, 0, 0, 0, false, Cause::kNone};

  Child(const ChildSpec& of, Channel& by) noexcept : spec(of), supervisor(&by) {}
};

struct SupervisorOptions {
  Strategy strategy = Strategy::kOneForOne;
  RestartLimit limit = {0, 0, 0};
  Backoff backoff = {0, 0};
  bool has_budget = false;
  Amounts budget = {};
  char name[kNameBytes] = {};
};

// At the front of the buffer; the ring of restarts is behind it.
struct Supervisor {
  Supervisor(const SupervisorOptions& given, std::uint64_t opener) noexcept : options(given), opener_id(opener) {}
  static Supervisor& of(Channel& record) noexcept { return *reinterpret_cast<Supervisor*>(record.buffer); }

  const SupervisorOptions options;
  const std::uint64_t opener_id;  // the number of the task that has opened it
  NumberedSet<Child> children;
  std::uint64_t count = 0;
  std::uint64_t last_id = 0;
  bool is_closed = false;
  Task* runner = nullptr;      // nullptr: it does not run
  Nursery* nursery = nullptr;  // of the children's tasks, while it runs
  Runner* run = nullptr;       // for runners below: those of its children's tasks

  List<Child> to_start;                    // in this order, at once
  List<Child> dead;                        // whose end is to be acted upon, in the order of their ends
  List<Child> delayed[Backoff::kLevels];   // one for one: in the order in which they are due
  std::uint64_t group_after = UINT64_MAX;  // the other strategies: those with higher numbers start together ...
  std::uint64_t group_due_ns = 0;          // ... when this time comes
  Restarts restarts;

  // Precondition: a task runs it.
  void queue_new(Child& child) noexcept {
    if (!is_group_down()) to_start.push_back(&child);
  }
  [[nodiscard]] bool is_group_down() const noexcept { return group_after != UINT64_MAX; }
};

// For others to tell the runner. Under the lock.
void tell_runner(Channel& record) noexcept;
// Takes the child out; free_child() frees it. Under the lock; its task has ended.
void take_out(Supervisor& supervisor, Child& child) noexcept;
// With no lock held.
void free_child(Channel& record, Child* child) noexcept;
// Frees a closed supervisor that nobody runs. The running task, which lets others run meanwhile.
void end_supervisor(Task& self, Channel& record, std::uint32_t secret) noexcept;
// Tells a task to end, unless it has ended. The running task pays for what that reaches.
void stop_task(Runtime& runtime, std::uint64_t handle) noexcept;

OrError<Channel*> open_supervisor(Runtime& runtime, Task& self, const SupervisorOptions& options) noexcept;
// These find a supervisor that was closed, or has ended, stale. `self`: the running task.
[[nodiscard]] std::int64_t add_child(Task& self, Channel& record, std::uint32_t secret, const ChildSpec& spec) noexcept;
[[nodiscard]] int remove_child(Task& self, Channel& record, std::uint32_t secret, std::uint64_t id) noexcept;
[[nodiscard]] int close_supervisor(Task& self, Channel& record, std::uint32_t secret) noexcept;

struct ChildView {
  std::uint64_t id;
  ChildState state;
  std::uint32_t restarts;
  std::uint64_t task_id;
  Report last;
  char name[kNameBytes];
};
// The first child with a higher number than `after`. 1: there it is; 0: there is none; kViewMore: look again after view.id,
// when others have run; or kErrorStale. `count`: how many there are.
inline constexpr int kViewMore = 2;
[[nodiscard]] int view_next_child(Channel& record, std::uint32_t secret, std::uint64_t after, ChildView& view,
                                  std::uint64_t& count) noexcept;

// The function of the children's tasks. Their `arg` is a Child.
extern "C" [[JANUS_OPTIONAL]] std::int64_t janus_child_start(void* child) noexcept;
// Whether the task is a child of a supervisor, which frees its record.
[[nodiscard]] inline bool is_supervised(const Task& task) noexcept {
  return janus_child_start != nullptr && task.fn == janus_child_start;
}
// Notes that the running child is ready. kErrorState: the task is none.
[[nodiscard]] int note_ready(const Task& self) noexcept;

}  // namespace janus
