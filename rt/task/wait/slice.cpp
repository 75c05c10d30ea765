// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/slice.cpp — slices of ops: a slice is drawn at once, as much of it as the account has, and what is
// unspent at its end is given back. Tasks on the root account draw nothing.
#include "rt/task/wait/slice.h"

#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/put_aside.h"

namespace janus {

namespace {

// Loans come in small parts, so that a few workers cannot hold all of a line of credit while others need some.
constexpr std::int64_t kLoan = 64;

static_assert(Accounts::kMaxDebtAbove >= kMaxStackBytes / price::kBytesPerOp);

std::int64_t borrow(Worker& worker, Account* account, std::int64_t most) noexcept {
  Runtime& runtime = runtime_of(worker);
  return static_cast<std::int64_t>(
      runtime.accounts.borrow(account, static_cast<std::uint64_t>(most), runtime.options.cancel_grace_ops));
}

std::int64_t draw_ops(Worker& worker, Account* account, std::int64_t most) noexcept {
  return static_cast<std::int64_t>(
      runtime_of(worker).accounts.draw_up_to(account, Component::kOps, static_cast<std::uint64_t>(most)));
}

// For a task on another account than the root's, or with a priority, and for one that was told to end.
[[gnu::noinline, gnu::cold]] void draw_slice(Worker& worker, Task& task) noexcept {
  const Runtime& runtime = runtime_of(worker);
  if (task.group != 0) Scheduler::begin_slice_of_group(worker, task.group);
  const bool is_in_grace = task.is_marked(TaskMarks::kSawCancel);
  const bool is_unlimited = runtime.accounts.left(task.account, Component::kOps) == kUnlimited;
  if (is_unlimited && !is_in_grace) return;
  const std::int64_t interval = worker.slice;
  const std::int64_t grace = is_in_grace ? task.frame->details.grace().load(std::memory_order_relaxed) : interval;
  const std::int64_t most = grace < 0 ? 0 : grace < interval ? grace : interval;
  worker.charged_account = task.account;
  worker.payer = SlicePayer::kGraceAlone;
  worker.slice = most;
  if (!is_unlimited) {
    worker.payer = is_in_grace ? SlicePayer::kAccountInGrace : SlicePayer::kAccount;
    worker.slice = draw_ops(worker, task.account, most);
  }
  if (worker.payer == SlicePayer::kAccountInGrace && worker.slice == 0) {
    worker.payer = SlicePayer::kLoanInGrace;
    worker.slice = borrow(worker, task.account, most < kLoan ? most : kLoan);
  }
  worker.fuel = worker.slice;
}

// The grace from which the slice is taken, which may be a parent's, as a child may run in its parent's slice. nullptr:
// the slice is from no grace.
std::atomic<std::int64_t>* grace_of(const Worker& worker, const Task& task) noexcept {
  if (worker.payer == SlicePayer::kAccount) return nullptr;
  RunFrame* frame = task.frame;
  while (frame != nullptr && !frame->task->is_marked(TaskMarks::kSawCancel)) frame = frame->outer_frame;
  return frame != nullptr ? &frame->details.grace() : nullptr;
}

// Gives the unspent part of a slice back to its source.
void give_back(Worker& worker, std::int64_t ops) noexcept {
  Accounts& accounts = runtime_of(worker).accounts;
  const auto amount = static_cast<std::uint64_t>(ops);
  if (worker.payer == SlicePayer::kLoanInGrace)
    accounts.give_back(worker.charged_account, amount);
  else if (worker.payer != SlicePayer::kGraceAlone)
    accounts.credit(worker.charged_account, Component::kOps, amount);
}

// Takes what was spent of the slice from the grace that it is from. Tasks on several workers may spend one grace, each a
// slice that none of them has taken yet.
void spend_grace(const Worker& worker, const Task& task) noexcept {
  if (auto* const grace = grace_of(worker, task))
    grace->fetch_sub(worker.slice - worker.fuel, std::memory_order_relaxed);
}

// Ends a slice that was drawn from an account, a loan or a grace.
[[gnu::noinline, gnu::cold]] void settle_with_payer(Worker& worker, Task& task) noexcept {
  spend_grace(worker, task);
  if (worker.fuel > 0)
    give_back(worker, worker.fuel);
  else if (worker.fuel < 0 && worker.payer != SlicePayer::kGraceAlone)
    runtime_of(worker).accounts.owe(worker.charged_account, static_cast<std::uint64_t>(-worker.fuel));
  worker.charged_account = nullptr;
}

// Pays a debt of a task that was told to end, from its account and then on credit. If these do not suffice, the grace
// is over.
void pay_in_grace(Worker& worker, Task& task, std::int64_t debt) noexcept {
  debt -= draw_ops(worker, worker.charged_account, debt);
  if (debt != 0) debt -= borrow(worker, worker.charged_account, debt);
  if (debt == 0) return;
  runtime_of(worker).accounts.owe(worker.charged_account, static_cast<std::uint64_t>(debt));
  if (auto* const grace = grace_of(worker, task)) grace->store(-1, std::memory_order_relaxed);
}

}  // namespace

template <Path kPath>
void begin_slice(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  worker.slice = worker.fuel = runtime.slice_ops.load(std::memory_order_relaxed);
  worker.charged_account = nullptr;
  const auto draws = [&] { return task.takes_turns() || task.is_marked(TaskMarks::kSawCancel); };
  JANUS_ASSERT(kPath == Path::kGeneral || !draws());
  if (kPath == Path::kGeneral && draws()) [[unlikely]]
    draw_slice(worker, task);
}
template void begin_slice<Path::kGeneral>(Worker& worker, Task& task) noexcept;
template void begin_slice<Path::kFast>(Worker& worker, Task& task) noexcept;

[[gnu::noinline, gnu::cold]] void resume_slice(Worker& worker, Task& task, std::int64_t left_before) noexcept {
  const std::int64_t interval = runtime_of(worker).options.yield_interval;
  const std::int64_t left_after = left_before - (interval - worker.fuel);  // the child's slice is committed
  begin_slice(worker, task);
  Scheduler::begin_slice_of_group(worker, task.group);  // also for group 0
  const std::int64_t most = left_after > 0 ? left_after : 0;
  if (worker.fuel <= most) return;
  const std::int64_t excess = worker.fuel - most;
  worker.fuel -= excess;
  worker.slice -= excess;
  if (worker.charged_account != nullptr) give_back(worker, excess);
}

[[gnu::noinline, gnu::cold]] void begin_grace(Worker& worker, Task& task) noexcept {
  unsigned steps = 0;
  auto* const shared = shared_grace_of != nullptr ? shared_grace_of(task, steps) : nullptr;
  take_fuel_unchecked(worker, steps / price::kStepsPerOp);
  const std::int64_t fuel = worker.fuel;
  commit_slice(worker, task);
  task.mark(TaskMarks::kSawCancel);
  RunDetails& details = task.frame->details;
  details.shared_grace = shared;
  // In a shield it has been there from the beginning, since tasks below may have spent from it.
  if (!is_shielded(task))
    details.own_grace.store(runtime_of(worker).options.cancel_grace_ops, std::memory_order_relaxed);
  details.outer_fuel = fuel > 0 ? fuel : 0;
  begin_slice(worker, task);
}

template <Path kPath>
void commit_slice(Worker& worker, Task& task) noexcept {
  count_ops(worker, worker.slice - worker.fuel);
  JANUS_ASSERT(kPath == Path::kGeneral || worker.charged_account == nullptr);
  if (kPath == Path::kGeneral && worker.charged_account != nullptr) [[unlikely]]
    settle_with_payer(worker, task);
  worker.slice = worker.fuel;
}
template void commit_slice<Path::kGeneral>(Worker& worker, Task& task) noexcept;
template void commit_slice<Path::kFast>(Worker& worker, Task& task) noexcept;

[[gnu::noinline, gnu::cold]] std::uint64_t commit_slice_at_check(Worker& worker, Task& task) noexcept {
  const std::int64_t debt = worker.charged_account != nullptr && worker.fuel < 0 ? -worker.fuel : 0;
  if (debt == 0 || worker.payer == SlicePayer::kGraceAlone) {
    commit_slice(worker, task);
    return 0;
  }
  std::int64_t unpaid = 0;
  if (worker.payer == SlicePayer::kAccount) {
    unpaid = debt - draw_ops(worker, worker.charged_account, debt);
  } else {
    spend_grace(worker, task);
    pay_in_grace(worker, task, debt);
  }
  worker.charged_account = nullptr;  // settled here
  commit_slice(worker, task);
  return static_cast<std::uint64_t>(unpaid);
}

std::uint64_t rest_of_slice(const Worker& worker) noexcept {
  const bool is_its_accounts = worker.payer == SlicePayer::kAccount || worker.payer == SlicePayer::kAccountInGrace;
  return worker.charged_account != nullptr && is_its_accounts && worker.fuel > 0
             ? static_cast<std::uint64_t>(worker.fuel)
             : 0;
}

}  // namespace janus
