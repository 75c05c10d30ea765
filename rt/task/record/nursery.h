// SPDX-License-Identifier: Apache-2.0
// rt/task/record/nursery.h — a scope that cannot end before its children.
//
// INVARIANT nursery-ends-once: after the last child has ended, exactly one atomic operation on `word` makes it
// terminal, or the owner ends the nursery alone (NurseryLife::end_alone()); nothing is spawned after that. Terminal is
// a property of the word: shared, closed or cancelled, and no child counted.
//
// Children are counted in two places. While the nursery is *private*, `owner_worker` is the worker that its owner runs
// on, and spawns and ends on that worker are counted in `local_count` with plain arithmetic; all others in `word`. So
// the count in `word` alone may be negative, and only the sum means anything. Before the owner leaves its worker, and
// when it awaits a nursery that it cannot end alone, the nursery becomes *shared*: `local_count` moves into `word` for
// good. Each worker compares `owner_worker` only with itself, and it changes only on that worker, so no worker sees it
// change midway.
// docs/decisions/0070
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/base/list.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/account.h"
#include "rt/sched/worker_timers.h"
#include "rt/task/record/nursery_life.h"
#include "rt/task/record/task.h"

namespace janus {

enum class NurseryState : std::uint8_t { kOpen, kClosing, kCancelling, kClosed, kCancelled };

// What happens to the siblings of a child that fails, and to a child that has used up its budget; the ABI's numbers.
enum class ErrorPolicy : std::uint8_t { kCancel, kCollect };
enum class ExhaustionPolicy : std::uint8_t { kSuspend, kFail, kDeny };

// Properties of a nursery; all of them are set at once when it is opened.
struct NurseryTraits {
  static constexpr std::uint8_t kScoped = 1, kOwnHalf = 2;
  bool is_of_own_half() const noexcept { return scope == kOwnHalf; }
  // draws || is_confined, which are the lowest bits of the first byte: one test.
  bool asks_spawns() const noexcept {
    std::uint8_t first;
    __builtin_memcpy(&first, this, sizeof first);
    return (first & 3) != 0;
  }

  bool draws : 1 = false;        // `account` is not the root's: every spawn is charged
  bool is_confined : 1 = false;  // its tasks have the rights of its `cap`, and no others
  // The record has to be cleaned when the nursery is destroyed: of an account, records, a failure or a name. Written
  // under `lock`, or while the nursery is opened.
  bool has_leftovers = false;
  bool owns_account : 1 = false;
  bool reclaims_blocks : 1 = false;  // with an account of its own: blocks that are charged to it at the end are freed
  bool is_gated : 1 = false;
  bool was_given_cap : 1 = false;  // who opened it presented its `cap`
  bool is_linked = false;  // in a list of its owner's frame; else only in the owner's chain of current nurseries
  bool is_published : 1 = false;
  bool is_root : 1 = false;  // of janus_rt_run, or main's
  bool has_deadline : 1 = false;
  // 0, or kScoped: only the call that belongs to its opening ends it, as janus_nursery_await_all. By the owner: of
  // janus_fork_join, while the caller's own half runs, kOwnHalf.
  std::uint8_t scope = 0;
  ErrorPolicy on_error = ErrorPolicy::kCancel;
  ExhaustionPolicy on_exhaustion = ExhaustionPolicy::kSuspend;
};
static_assert(sizeof(NurseryTraits) == sizeof(std::uint64_t));

// How many children may have started, and not ended, at a time (rt/task/nurseries/gate.h).
struct NurseryGate {
  std::uint32_t most;     // 0: any number
  std::uint32_t running;  // under the nursery's lock
};

struct alignas(64) Nursery : NurseryAlive {
  union {
    Nursery* free_next;  // for the slab
    Cap* cap;            // with traits.is_confined; nullptr: a token without rights
  };
  Atomic<std::uint64_t> word;
  std::atomic<Worker*> owner_worker;  // private: the worker that counts in `local_count`
  std::int64_t local_count;
  Runtime* runtime;  // set once: a record serves one runtime
  Account* account;
  std::atomic<Task*> owner;  // nullptr: a thread outside tasks
  NurseryTraits traits;
  Atomic<std::uint32_t> alive;          // kAlive ... kEnding while the record serves a nursery
  Atomic<std::uint32_t> external_refs;  // visitors that are about to change the word (see NurseryLife)

  std::atomic<std::uint64_t> clean_epoch;  // neither it nor an ancestor was cancelled when epoch_of() was this
  Nursery* outer;                          // in the owner's list: the nursery opened before ...
  Nursery* inner;                          // ... and after; invalid in the newest
  union {
    Nursery* previous_current;  // the nursery that was current before janus_nursery_create made this one
    NurseryGate gate;           // with traits.is_gated; of one that janus_nursery_open made
    // Of a supervisor's: its runner has something to see. Through std::atomic_ref: who publishes the runner's wait may
    // read it when the record serves another nursery, so that one's opening writes the same bytes atomically.
    std::uint32_t news;
  };
  Task* records;               // ended tasks whose result may be read, the last to end first
  std::atomic<bool> was_read;  // the result was read
  Outcome outcome;
  Cause cause;                          // of the outcome, unless that is a cancel
  std::atomic<Cause> cancel_cause;      // set before it is marked as cancelled
  RankedLock<LockRank::kNursery> lock;  // members, their published nurseries, records, the outcome
  std::atomic<std::uint64_t> handle;    // set once: the same for all nurseries that the record serves
  std::uint32_t errors;
  std::atomic<std::uint32_t> ended;  // counts ends, for a thread outside tasks that awaits one

  List<RunDetails, MigratedTasks> migrated_tasks;
  Nursery* cancel_next;  // links marked nurseries while a cancel descends
  std::int64_t code;
  std::uint64_t failed_id;
  char name[32];
  // The first to end of the records that janus_nursery_next has not told; those before it in the list are not told either.
  // Written under `lock`.
  std::atomic<Task*> untold;
  Task* last_unstarted;  // of those that wait at the gate: a ring by Runnable::next; under `lock`
  Timer timer;           // with traits.has_deadline: cancels it; `owners_word`: 1 and the worker at whose wheel it is

  NurseryLife life() noexcept { return {word, alive, external_refs}; }
};

// INVARIANT zeroed-when-free (open.cpp), for a record that serves no nursery.
inline bool is_zeroed_when_free(const Nursery& nursery) noexcept {
  return !Nursery::is_alive(nursery.alive.load(std::memory_order_relaxed)) &&
         nursery.word.load(std::memory_order_relaxed) == 0 && nursery.local_count == 0 && nursery.records == nullptr &&
         !nursery.was_read.load(std::memory_order_relaxed) && nursery.outcome == Outcome::kSuccess &&
         nursery.timer.owners_word == 0 && nursery.untold.load(std::memory_order_relaxed) == nullptr &&
         nursery.last_unstarted == nullptr && nursery.errors == 0 && nursery.code == 0 && nursery.failed_id == 0 &&
         nursery.name[0] == 0 && nursery.migrated_tasks.is_empty();
}

static_assert(sizeof(Nursery) == 256);

// Whether `worker` is the nursery's home, and counts its children with plain arithmetic.
[[gnu::always_inline]] inline bool is_at_home(const Nursery& nursery, const Worker& worker) noexcept {
  return cmp_relaxed(nursery.owner_worker, const_cast<Worker*>(&worker));
}

// Lists of open nurseries, the newest first.
inline void link_nursery(Nursery*& first, Nursery& nursery) noexcept {
  nursery.outer = first;
  if (first != nullptr) first->inner = &nursery;
  first = &nursery;
}

inline void unlink_nursery(Nursery*& first, Nursery& nursery) noexcept {
  (first != &nursery ? nursery.inner->outer : first) = nursery.outer;
  if (nursery.outer != nullptr) nursery.outer->inner = nursery.inner;
}

}  // namespace janus
