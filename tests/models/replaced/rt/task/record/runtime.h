// SPDX-License-Identifier: Apache-2.0
// replaced/rt/task/record/runtime.h — replaces rt/task/record/runtime.h when rt/task/account/exhaustion.cpp is compiled
// for a model: the parts of tasks, nurseries and the runtime that this source uses. Each task is a thread of the
// explorer.
#pragma once

#include "rt/budget/accounts.h"
#include "rt/task/record/nursery_life.h"

namespace janus {

struct BudgetWaits;
struct Keepers;
struct Nursery;
struct Runtime;
struct Task;
struct Worker {};

enum class TaskState : std::uint32_t { kRunning, kReady, kWaits };
enum class WaitReason : std::uint32_t { kBudget };

constexpr TaskState waits_for(WaitReason) noexcept {
  return TaskState::kWaits;
}
constexpr bool is_ended_by_cancel(WaitReason) noexcept {
  return true;
}

struct Task {
  Nursery* nursery;
  Account* account;
  Atomic<TaskState> state;
  Atomic<bool> is_told;  // whether the task was told to end
};

struct Nursery : NurseryAlive {
  Atomic<std::uint64_t> word;
  Runtime* runtime;
  Account* account;
  Atomic<Task*> owner;
  Atomic<std::uint32_t> alive;
};

struct RuntimeOptions {
  std::uint32_t yield_interval = 1;
  bool is_program = false;
};

// A replacement of rt/sched/idle.h, which idle_model_test.cpp models, with one word.
struct IdleSet {
  struct Snapshot {
    std::uint32_t counts;
  };
};
struct Scheduler {
  static constexpr std::uint32_t kRunning = 1, kAttention = 0x100, kDeparted = 0x1000;
  static std::uint32_t running_of(std::uint32_t counts) noexcept { return counts & 0xff; }
  Atomic<std::uint32_t> counts;  // running tasks, and the number of wake-ups

  bool all_slept_since(IdleSet::Snapshot entered) const noexcept { return counts.load() == entered.counts; }
  void add(std::uint32_t change) noexcept { counts.fetch_add(change); }
  // Counts one running task less.
  void stop_one() noexcept { add_and_tell(0u - kRunning); }
  // Changes the counts, and wakes the threads that sleep on them.
  void add_and_tell(std::uint32_t change) noexcept {
    add(change);
    model::wake(&counts, ~0u);
  }
};

struct Runtime {
  Accounts accounts;
  RuntimeOptions options;
  Scheduler scheduler;
  Atomic<std::uint32_t> exhausted;
  Atomic<const BudgetWaits*> budget_waits;
  Atomic<const Keepers*> keepers;
  RankedLock<LockRank::kOutside> outside_lock;
};

inline TaskState state_of(const Task& task) noexcept {
  return task.state.load(std::memory_order_acquire);
}

}  // namespace janus
