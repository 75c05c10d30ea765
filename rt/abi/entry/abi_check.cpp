// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/abi_check.cpp — compares the numbers of rt.h with those of the layers below.
#include <janus/rt.h>

#include <cstddef>

#include "rt/base/errors.h"
#include "rt/base/worker_slot.h"
#include "rt/budget/account.h"
#include "rt/sched/scheduler.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/task.h"

namespace janus {

namespace {

template <typename Kind>
constexpr bool same(Kind kind, long long number) noexcept {
  return static_cast<long long>(kind) == number;
}

static_assert(same(kCancelledCode, JANUS_CANCELLED) && same(kPanicCode, JANUS_PANIC) &&
              same(kBudgetCode, JANUS_BUDGET_EXCEEDED) && same(kPendingCode, JANUS_PENDING));

static_assert(same(kErrorClosed, JANUS_E_CLOSED) && same(kErrorWouldBlock, JANUS_E_WOULD_BLOCK));
static_assert(same(kErrorTimeout, JANUS_E_TIMEOUT) && same(kErrorNoTask, JANUS_E_NO_TASK));
static_assert(same(kErrorNoCap, JANUS_E_NO_CAP) && same(kErrorBudget, JANUS_E_BUDGET));
static_assert(same(kErrorNoMemory, JANUS_E_NO_MEMORY) && same(kErrorStale, JANUS_E_STALE));
static_assert(same(kErrorInvalid, JANUS_E_INVALID) && same(kErrorState, JANUS_E_STATE));
static_assert(same(kErrorDeadlock, JANUS_E_DEADLOCK) && same(kErrorUnsupported, JANUS_E_UNSUPPORTED));

static_assert(same(Outcome::kSuccess, JANUS_KIND_SUCCESS) && same(Outcome::kFailed, JANUS_KIND_CHILD_FAILED));
static_assert(same(Outcome::kCancelled, JANUS_KIND_CANCELLED) && same(Outcome::kPanic, JANUS_KIND_PANIC));
static_assert(same(Outcome::kBudget, JANUS_KIND_BUDGET_EXCEEDED) && same(Outcome::kPending, JANUS_KIND_PENDING));

static_assert(same(Cause::kNone, JANUS_CAUSE_NONE));
static_assert(same(Cause::kOps, JANUS_CAUSE_OPS));
static_assert(same(Cause::kMemory, JANUS_CAUSE_MEMORY));
static_assert(same(Cause::kSpawnCount, JANUS_CAUSE_SPAWN_COUNT));
static_assert(same(Cause::kChannelOps, JANUS_CAUSE_CHANNEL_OPS));
static_assert(same(Cause::kSyscalls, JANUS_CAUSE_SYSCALLS));
static_assert(same(Cause::kStackOverflow, JANUS_CAUSE_STACK_OVERFLOW));
static_assert(same(Cause::kBadAccess, JANUS_CAUSE_BAD_ACCESS));
static_assert(same(Cause::kIllegalInstruction, JANUS_CAUSE_ILLEGAL_INSTRUCTION));
static_assert(same(Cause::kDivision, JANUS_CAUSE_DIVISION));
static_assert(same(Cause::kAbort, JANUS_CAUSE_ABORT));
static_assert(same(Cause::kMisuse, JANUS_CAUSE_MISUSE));
static_assert(same(Cause::kGraceOver, JANUS_CAUSE_GRACE_OVER));
static_assert(same(Cause::kNoMemory, JANUS_CAUSE_NO_MEMORY));
static_assert(same(Cause::kTaskPanic, JANUS_CAUSE_TASK_PANIC));
static_assert(same(Cause::kOverrun, JANUS_CAUSE_OVERRUN));
static_assert(same(Cause::kOther, JANUS_CAUSE_OTHER));
static_assert(same(Cause::kAsked, JANUS_CAUSE_ASKED));
static_assert(same(Cause::kParent, JANUS_CAUSE_PARENT));
static_assert(same(Cause::kSiblingFailed, JANUS_CAUSE_SIBLING_FAILED));
static_assert(same(Cause::kDeadline, JANUS_CAUSE_DEADLINE));
static_assert(same(Cause::kSignal, JANUS_CAUSE_SIGNAL));
static_assert(same(Cause::kSupervisor, JANUS_CAUSE_SUPERVISOR));

static_assert(same(TaskState::kCreated, JANUS_TASK_CREATED) && same(TaskState::kReady, JANUS_TASK_READY));
static_assert(same(TaskState::kRunning, JANUS_TASK_RUNNING));
static_assert(same(TaskState::kCompleted, JANUS_TASK_COMPLETED) && same(TaskState::kFailed, JANUS_TASK_FAILED));
static_assert(same(TaskState::kCancelled, JANUS_TASK_CANCELLED));

static_assert(same(NurseryState::kOpen, JANUS_NURSERY_OPEN) && same(NurseryState::kClosing, JANUS_NURSERY_CLOSING));
static_assert(same(NurseryState::kCancelling, JANUS_NURSERY_CANCELLING));
static_assert(same(NurseryState::kClosed, JANUS_NURSERY_CLOSED) &&
              same(NurseryState::kCancelled, JANUS_NURSERY_CANCELLED));

static_assert(same(ErrorPolicy::kCancel, JANUS_ON_ERROR_CANCEL) && same(ErrorPolicy::kCollect, JANUS_ON_ERROR_COLLECT));
static_assert(same(ExhaustionPolicy::kSuspend, JANUS_ON_EXHAUSTION_SUSPEND));
static_assert(same(ExhaustionPolicy::kFail, JANUS_ON_EXHAUSTION_FAIL));
static_assert(same(ExhaustionPolicy::kDeny, JANUS_ON_EXHAUSTION_DENY));

static_assert(same(Component::kOps, JANUS_COMPONENT_OPS) && same(Component::kMemory, JANUS_COMPONENT_MEMORY));
static_assert(same(Component::kSpawns, JANUS_COMPONENT_SPAWN_COUNT));
static_assert(same(Component::kChannelOps, JANUS_COMPONENT_CHANNEL_OPS));
static_assert(same(Component::kSyscalls, JANUS_COMPONENT_SYSCALLS));

static_assert(same(Victim::kRandom, JANUS_VICTIM_RANDOM) && same(Victim::kRoundRobin, JANUS_VICTIM_ROUND_ROBIN));
static_assert(same(Victim::kMinLoaded, JANUS_VICTIM_LEAST_LOADED));

static_assert(offsetof(WorkerSlot, fuel) == JANUS_FUEL_OFFSET);

}  // namespace

}  // namespace janus
