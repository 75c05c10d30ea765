// SPDX-License-Identifier: Apache-2.0
// rt/task/slice.cpp — slices of ops: drawn as a whole, and what is left of one goes back.
#include "rt/task/slice.h"

#include "rt/task/runtime.h"

namespace janus {

namespace {

// What Worker::charged_account says of a slice that is taken from the task's grace.
Account* grace_of(Worker& worker) noexcept {
  return reinterpret_cast<Account*>(&worker);  // compared only
}

// Below the root, and for who was told to end.
[[gnu::noinline]] void draw_slice(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  if (task.party != 0) Scheduler::begin_slice_of_party(worker);
  const std::int64_t interval = runtime.options.yield_interval;
  if (task.is_marked(TaskMarks::kSawCancel)) {
    const std::int64_t grace = task.frame->details.grace;
    worker.slice = worker.fuel = grace < 0 ? 0 : grace < interval ? grace : interval;
    worker.charged_account = grace_of(worker);
    return;
  }
  if (runtime.accounts.left(task.account, Component::kOps) == kUnlimited) return;
  worker.slice = worker.fuel = static_cast<std::int64_t>(
      runtime.accounts.draw_up_to(task.account, Component::kOps, static_cast<std::uint64_t>(interval)));
  worker.charged_account = task.account;
}

// The slice was drawn from somewhere, and ends.
[[gnu::noinline]] void settle_with_payer(Worker& worker, Task& task) noexcept {
  Account* const payer = worker.charged_account;
  worker.charged_account = nullptr;
  if (payer == grace_of(worker)) {
    // A child may run in the slice of its parent.
    RunFrame* frame = task.frame;
    while (frame != nullptr && !frame->task->is_marked(TaskMarks::kSawCancel)) frame = frame->outer_frame;
    if (frame != nullptr) frame->details.grace -= worker.slice - worker.fuel;
    return;
  }
  Accounts& accounts = runtime_of(worker).accounts;
  if (worker.fuel > 0)
    accounts.credit(payer, Component::kOps, static_cast<std::uint64_t>(worker.fuel));
  else if (worker.fuel < 0)
    accounts.owe(payer, static_cast<std::uint64_t>(-worker.fuel));
}

}  // namespace

template <Path kPath>
void begin_slice(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  worker.slice = worker.fuel = runtime.options.yield_interval;
  worker.charged_account = nullptr;
  const auto draws = [&] { return task.account != runtime.root_account || task.is_marked(TaskMarks::kSawCancel); };
  JANUS_ASSERT(kPath == Path::kGeneral || !draws());
  if (kPath == Path::kGeneral && draws()) [[unlikely]]
    draw_slice(worker, task);
}
template void begin_slice<Path::kGeneral>(Worker& worker, Task& task) noexcept;
template void begin_slice<Path::kFast>(Worker& worker, Task& task) noexcept;

[[gnu::noinline]] void resume_slice(Worker& worker, Task& task, std::int64_t left_before) noexcept {
  const std::int64_t interval = runtime_of(worker).options.yield_interval;
  const std::int64_t left_after = left_before - (interval - worker.fuel);  // the child's slice is committed
  begin_slice(worker, task);
  const std::int64_t most = left_after > 0 ? left_after : 0;
  if (worker.fuel <= most) return;
  const std::int64_t excess = worker.fuel - most;
  worker.fuel -= excess;
  worker.slice -= excess;
  if (worker.charged_account != nullptr && worker.charged_account != grace_of(worker))
    runtime_of(worker).accounts.credit(worker.charged_account, Component::kOps, static_cast<std::uint64_t>(excess));
}

[[gnu::noinline]] void begin_grace(Worker& worker, Task& task) noexcept {
  const std::int64_t fuel = worker.fuel;
  commit_slice(worker, task);
  task.mark(TaskMarks::kSawCancel);
  RunDetails& details = task.frame->details;
  details.grace = runtime_of(worker).options.cancel_grace_ops;
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

std::uint64_t commit_slice_at_check(Worker& worker, Task& task) noexcept {
  Account* const payer = worker.charged_account;
  std::uint64_t debt = 0;
  if (worker.fuel < 0 && payer != nullptr && payer != grace_of(worker)) {
    debt = static_cast<std::uint64_t>(-worker.fuel);
    debt -= runtime_of(worker).accounts.draw_up_to(payer, Component::kOps, debt);
    worker.charged_account = nullptr;  // settled here
  }
  commit_slice(worker, task);
  return debt;
}

}  // namespace janus
