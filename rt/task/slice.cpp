// SPDX-License-Identifier: Apache-2.0
// rt/task/slice.cpp — slices of ops: drawn as a whole, and what is left of one goes back.
#include "rt/task/slice.h"

#include "rt/task/runtime.h"

namespace janus {

namespace {

bool has_finite_ops(Accounts& accounts, const Account* account) noexcept {
  return accounts.left(account, Component::kOps) != kUnlimited;
}

}  // namespace

// Below the root a slice is drawn as a whole, and what is left of it goes back.
[[gnu::noinline]] static void draw_slice(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  if (!has_finite_ops(runtime.accounts, task.account)) return;
  worker.slice = worker.fuel = static_cast<std::int64_t>(
      runtime.accounts.draw_up_to(task.account, Component::kOps, runtime.options.yield_interval));
  worker.charged_account = task.account;
}

[[gnu::noinline]] static void credit_slice(Worker& worker) noexcept {
  if (worker.fuel > 0)
    runtime_of(worker).accounts.credit(worker.charged_account, Component::kOps,
                                       static_cast<std::uint64_t>(worker.fuel));
  worker.charged_account = nullptr;
}

void begin_slice(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  worker.slice = worker.fuel = runtime.options.yield_interval;
  worker.charged_account = nullptr;
  if (task.account != runtime.root_account) [[unlikely]]
    draw_slice(worker, task);
}

void commit_slice(Worker& worker) noexcept {
  count_ops(worker, worker.slice - worker.fuel);
  if (worker.charged_account != nullptr) [[unlikely]]
    credit_slice(worker);
  worker.slice = worker.fuel;
}

}  // namespace janus
