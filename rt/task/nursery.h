// SPDX-License-Identifier: Apache-2.0
// rt/task/nursery.h — a scope that cannot end before its children.
//
// INVARIANT nursery-ends-once: exactly one atomic operation on `word` makes it terminal, after the last child has
// ended, and nothing is spawned after that. Terminal is a property of the word: shared, closed, and no child counted.
//
// Children are counted in two places. While the nursery is *private*, `owner_worker` is the worker that its owner runs
// on, and spawns and ends on that worker are counted in `local_count` with plain arithmetic; all others in `word`. So
// the count in `word` alone may be negative, and only the sum means anything. Before the owner leaves its worker, and
// when it awaits, the nursery is *shared*: `local_count` moves into `word` for good. `owner_worker` is compared by each
// worker with itself only, and changes only on that worker, so nobody sees it change under his hands.
// docs/decisions/0070
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/list.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"
#include "rt/task/nursery_life.h"
#include "rt/task/task.h"

namespace janus {

enum class NurseryState : std::uint8_t { kOpen, kClosing, kCancelling, kClosed, kCancelled };

// What becomes of the others when a child fails, and of a child that has used up its budget; the ABI's numbers.
enum class ErrorPolicy : std::uint8_t { kCancel, kCollect };
enum class ExhaustionPolicy : std::uint8_t { kSuspend, kFail, kDeny };

// What sets it apart; all of it is set at once when it is opened.
struct NurseryTraits {
  bool draws = false;  // `account` is not the root's: every spawn is charged
  bool owns_account : 1 = false;
  bool reclaims_blocks : 1 = false;  // with an account of its own: what is charged to it at the end is freed
  // Something is left to be put back when it goes: an account, records, a failure, a name. Under `lock`, or by who
  // opens it.
  bool has_leftovers = false;
  bool is_linked = false;  // in the lists of its owner's frame; if not, only in the chain of its current ones
  bool is_published : 1 = false;
  bool is_root : 1 = false;  // of janus_rt_run, or main's
  bool has_current = false;  // made by janus_nursery_create
  ErrorPolicy on_error = ErrorPolicy::kCancel;
  ExhaustionPolicy on_exhaustion = ExhaustionPolicy::kSuspend;
};
static_assert(sizeof(NurseryTraits) == sizeof(std::uint64_t));

struct alignas(64) Nursery : NurseryAlive {
  Nursery* free_next;  // the slab's
  Atomic<std::uint64_t> word;
  std::atomic<Worker*> owner_worker;  // private: the worker that counts in `local_count`
  std::int64_t local_count;
  Runtime* runtime;  // set once: a record serves one runtime
  Account* account;
  std::atomic<Task*> owner;  // nullptr: a thread outside tasks
  NurseryTraits traits;
  Atomic<std::uint32_t> alive;          // kAlive ... kEnding while it is one
  Atomic<std::uint32_t> external_refs;  // those from elsewhere that are about to change the word (see NurseryLife)

  std::atomic<std::uint64_t> clean_epoch;  // no ancestor was cancelled when the runtime's epoch was this
  Nursery* outer;                          // the owner's lists: the one opened before ...
  Nursery* inner;                          // ... and after
  Nursery* previous_current;               // what janus_nursery_create found current
  Task* records;                           // those that ended and may be asked for
  std::atomic<bool> was_read;              // somebody took the result
  Outcome outcome;
  RankedLock<LockRank::kNursery> lock;  // members, their published nurseries, records, the outcome
  std::atomic<std::uint64_t> handle;    // set once: a record has the same all its life, for whoever may use it then
  std::uint32_t errors;
  std::atomic<std::uint32_t> ended;  // counts, for a thread outside tasks that waits

  List<RunDetails, MigratedTasks> migrated_tasks;
  Nursery* cancel_next;  // while a cancel descends
  std::int64_t code;
  std::uint64_t failed_id;
  char name[32];

  NurseryLife life() noexcept { return {word, alive, external_refs}; }
};

// INVARIANT zeroed-when-free (nursery.cpp), of a record that serves no nursery.
inline bool is_zeroed_when_free(const Nursery& nursery) noexcept {
  return !Nursery::is_alive(nursery.alive.load(std::memory_order_relaxed)) &&
         nursery.word.load(std::memory_order_relaxed) == 0 && nursery.local_count == 0 && nursery.records == nullptr &&
         !nursery.was_read.load(std::memory_order_relaxed) && nursery.outcome == Outcome::kSuccess &&
         nursery.errors == 0 && nursery.code == 0 && nursery.failed_id == 0 && nursery.name[0] == 0 &&
         nursery.migrated_tasks.is_empty();
}

// Whether `worker` counts its children with plain arithmetic.
[[gnu::always_inline]] inline bool is_at_home(const Nursery& nursery, const Worker& worker) noexcept {
  return cmp_relaxed(nursery.owner_worker, const_cast<Worker*>(&worker));
}

// One that comes from elsewhere to change the word (NurseryLife). On the nursery's home worker it costs nothing.
class NurseryRef {
 public:
  NurseryRef(const Worker* worker, Nursery& nursery) noexcept;
  ~NurseryRef() {
    if (is_announced_) nursery_.life().leave();
  }
  NurseryRef(const NurseryRef&) = delete;
  NurseryRef& operator=(const NurseryRef&) = delete;
  // False: the nursery is gone.
  bool is_valid() const noexcept { return is_valid_; }

 private:
  Nursery& nursery_;
  bool is_announced_ = false;
  bool is_valid_ = true;
};

struct NurseryOptions {
  ErrorPolicy on_error = ErrorPolicy::kCancel;
  ExhaustionPolicy on_exhaustion = ExhaustionPolicy::kSuspend;
  const Amounts* budget = nullptr;
  const char* name = nullptr;
  bool reclaims_blocks = false;
};

// nullptr: *error is why. `owner` nullptr: a thread outside tasks opens it.
Nursery* open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options, int* error) noexcept;
// What janus_nursery_create opens: for the running task, with every option as it is by default, and current. kFast: on
// the root's account, by who was not told to end; nullptr says only that the general path is to be asked.
template <Path kPath>
Nursery* open_current(Worker& worker, Task& owner, int* error) noexcept;

void close_nursery(Worker* worker, Nursery& nursery) noexcept;
NurseryState nursery_state(const Nursery& nursery) noexcept;
// Before asking for the state: on the home worker of a closed nursery the count becomes visible to all.
void flush_local_count(Worker* worker, Nursery& nursery) noexcept;
bool is_terminal(const Nursery& nursery) noexcept;
// Of a terminal nursery that is in no list any more and has nothing left over: back to the pool.
void recycle(Worker& worker, Nursery& nursery) noexcept;
// Terminal, by its owner: it is gone. The task may give way, and be on another worker afterwards.
void destroy_nursery(Worker* worker, Nursery& nursery) noexcept;
// Counts a child in. False: no more spawns. kFast: on the nursery's home worker, while it is neither closing nor gone.
template <Path kPath>
bool count_child_in(Worker* worker, Nursery& nursery) noexcept;
// A child has ended: counts it out. The nursery may be gone when this returns.
void leave_nursery(Worker& worker, Nursery& nursery) noexcept;
void count_child_out(Worker* worker, Nursery& nursery) noexcept;
void release_pin(Worker* worker, Nursery& nursery) noexcept;
// Before its owner leaves its worker, or awaits: the count moves into the word.
std::uint64_t publish_count(Nursery& nursery, std::uint64_t flags) noexcept;
// Makes the task and those below it on the stack members, and their nurseries findable.
void publish_frames(RunFrame& frame) noexcept;
// Before anybody walks `frame.open`: those of janus_nursery_create come into it. They are the innermost.
void link_current(RunFrame& frame) noexcept;

}  // namespace janus
