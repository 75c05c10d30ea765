// SPDX-License-Identifier: Apache-2.0
// rt/task/slice.cpp — slices of ops, and what happens when a budget does not reach.
#include "rt/task/exhaustion.h"
#include "rt/task/runtime.h"

namespace janus {

namespace {

bool has_finite_ops(Accounts& accounts, const Account* account) noexcept {
  return accounts.left(account, Component::kOps) != kUnlimited;
}

// Which nursery's word on exhaustion goes for this account; nullptr: the root's own.
const Nursery* policy_owner_of(const Task& task) noexcept {
  if (task.has(TaskFlags::kOwnAccount)) return task.nursery;
  for (const Nursery* nursery = task.nursery; nursery != nullptr;) {
    if (nursery->traits.owns_account) return nursery;
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) return nullptr;
    if (owner->has(TaskFlags::kOwnAccount)) return owner->nursery;
    nursery = owner->nursery;
  }
  return nullptr;
}

// A child with a budget of its own lives on its nursery's, once somebody has recharged that.
bool top_up(Accounts& accounts, Task& task, Component component, std::uint64_t amount) noexcept {
  if (!task.has(TaskFlags::kOwnAccount)) return true;
  Amounts wanted{};
  wanted[component] = amount;
  return accounts.transfer(task.nursery->account, task.account, wanted);
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
    runtime_of(worker).accounts.credit(static_cast<Account*>(worker.charged_account), Component::kOps,
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
  worker.counters.ops.add(static_cast<std::uint64_t>(worker.slice - worker.fuel));
  if (worker.charged_account != nullptr) [[unlikely]]
    credit_slice(worker);
  worker.slice = worker.fuel;
}

[[gnu::noinline]] int yield_slow(Task& task) noexcept {
  RunFrame& frame = *task.frame;
  Worker* worker = &current_worker();
  const std::int64_t used = worker->slice - worker->fuel;
  const std::int64_t debt = worker->fuel < 0 ? -worker->fuel : 0;
  const bool finite = worker->charged_account != nullptr;
  commit_slice(*worker);
  if (worker->scheduler->wants_attention()) worker->scheduler->handle_attention();
  if (task.is_marked(TaskMarks::kSawCancel) && (frame.details.grace -= used) < 0) panic(task, kGraceIsGone);
  const bool told = sees_cancel(task);
  // What was spent beyond the slice is paid before anything else happens.
  if (finite && debt != 0 && !told) {
    Accounts& accounts = runtime_of(*worker).accounts;
    while (!accounts.draw(task.account, Component::kOps, static_cast<std::uint64_t>(debt))) {
      const int answer = exhausted(task, Component::kOps, static_cast<std::uint64_t>(debt));
      if (answer != 0) return answer;
    }
  }
  worker = &current_worker();
  begin_slice(*worker, task);
  task.yielded_free = false;
  if (worker->scheduler->has_ready(*worker) || worker->scheduler->is_deterministic()) return yield(task);
  return told ? -1 : 0;
}

int charge(Task& task, Component component, std::uint64_t amount) noexcept {
  Worker& worker = current_worker();
  worker.fuel -= 1;
  Runtime& runtime = runtime_of(worker);
  if (task.account == runtime.root_account && component != Component::kMemory) [[likely]]
    return 0;
  while (!runtime.accounts.draw(task.account, component, amount)) {
    if (!runtime.accounts.granted(task.account, component)) return kErrorNoCap;
    const int answer = exhausted(task, component, amount);
    if (answer != 0) return answer;
  }
  return 0;
}

[[gnu::noinline]] int exhausted(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  current_worker().counters.exhaustions.add();
  const Nursery* const policy_owner = policy_owner_of(task);
  const std::uint8_t policy = policy_owner != nullptr ? policy_owner->traits.on_exhaustion : 2;
  if (policy == 1) end_for_budget(task);
  if (policy == 2 && component != Component::kOps) return kErrorBudget;
  if (policy_owner == nullptr) end_for_budget(task);  // nobody could ever recharge the root
  Exhausted wait{&task, component, amount, nullptr, nullptr, false, false};
  wait_for_recharge(runtime, wait);
  if (wait.is_unrechargeable) end_for_budget(task);
  if (wait.is_recharged && !top_up(runtime.accounts, task, component, amount)) return 0;
  return sees_cancel(task) ? -1 : 0;
}

}  // namespace janus
