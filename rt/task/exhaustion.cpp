// SPDX-License-Identifier: Apache-2.0
// rt/task/exhaustion.cpp — waiting for a recharge, and the end of waits for which none can come.
#include "rt/task/exhaustion.h"

#include "rt/task/cancel.h"
#include "rt/task/wait.h"
#include "rt/task/wake.h"

namespace janus {

namespace {

// One wait, on the waiting task's stack.
struct Exhausted : AccountWait {
  Task* task;
  bool is_served;
  bool is_unrechargeable;
};

// Whether the wait's amount could be drawn for its task. Ops are a debt, and are paid bit by bit. All else comes as a
// whole or not at all: who asks for more than there ever is must not take what there is.
bool draw_for(Runtime& runtime, Account* account, Exhausted& wait) noexcept {
  Accounts& accounts = runtime.accounts;
  Account* const own = wait.task->account;
  const bool is_debt = wait.component == Component::kOps;
  if (own != account) {
    const std::uint64_t interval = runtime.options.yield_interval;
    std::uint64_t most = is_debt && wait.amount < interval ? interval : wait.amount;
    if (is_debt) most += accounts.owed(own);  // which all that comes in pays first
    const std::uint64_t left = accounts.left(own, wait.component);
    if (left < most) accounts.draw_recharged(account, own, wait.component, most - left, !is_debt);
  }
  if (!is_debt) return accounts.draw(own, wait.component, wait.amount);
  wait.amount -= accounts.draw_up_to(own, Component::kOps, wait.amount);
  return wait.amount == 0;
}

// Both under the queue's lock.
void enqueue(AccountQueue& queue, Exhausted& wait) noexcept {
  queue.waits.push_back(&wait);
  ++queue.waiting[static_cast<unsigned>(wait.component)];
}
void dequeue(AccountQueue& queue, Exhausted& wait) noexcept {
  List<AccountWait>::remove(&wait);
  --queue.waiting[static_cast<unsigned>(wait.component)];
}

// Bit c: a task waits for component c.
unsigned wanted_in(const AccountQueue& queue) noexcept {
  unsigned wanted = 0;
  for (unsigned c = 0; c < kComponents; ++c) wanted |= queue.waiting[c] != 0 ? 1u << c : 0;
  return wanted;
}

// Under the queue's lock. Ends where, for every component that is wanted, a task that ran dry earlier still waits: so a
// recharge that brings nothing for a crowd does not walk along it.
void serve(Runtime& runtime, Worker* worker, Account* account) noexcept {
  AccountQueue& queue = runtime.accounts.queue(account);
  unsigned dry = 0;
  for (AccountWait* each = queue.waits.front(); each != nullptr && (wanted_in(queue) & ~dry) != 0;) {
    auto& wait = *static_cast<Exhausted*>(each);
    each = queue.waits.after(each);
    const unsigned bit = 1u << static_cast<unsigned>(wait.component);
    if ((dry & bit) != 0) continue;
    if (!draw_for(runtime, account, wait)) {
      dry |= bit;
      continue;
    }
    dequeue(queue, wait);
    wait.is_served = true;
    (void)wake(worker, *wait.task, TaskState::kExhausted);
  }
}

}  // namespace

Recharge wait_for_recharge(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  Account* const account = task.nursery->account;
  AccountQueue& queue = runtime.accounts.queue(account);
  Exhausted wait{{{}, component, amount}, &task, false, false};
  queue.lock.lock();
  // The account may have been recharged before this task came; but no task overtakes those that wait already.
  if (queue.waiting[static_cast<unsigned>(component)] == 0 && draw_for(runtime, account, wait)) {
    queue.lock.unlock();
    return Recharge::kDrawn;
  }
  runtime.exhausted.fetch_add(1, std::memory_order_relaxed);
  enqueue(queue, wait);
  bool has_stack = true;
  while (!wait.is_served && !wait.is_unrechargeable && has_stack && !is_cancelled(task)) {
    has_stack = block(
        task, TaskState::kExhausted,
        [](Task&, void* lock) { static_cast<decltype(AccountQueue::lock)*>(lock)->unlock(); }, &queue.lock);
    if (has_stack) queue.lock.lock();
  }
  if (!wait.is_served) dequeue(queue, wait);
  queue.lock.unlock();
  runtime.exhausted.fetch_sub(1, std::memory_order_relaxed);
  if (wait.is_served) return Recharge::kDrawn;
  // What was paid of a debt is paid; the rest stays with the account.
  if (component == Component::kOps) runtime.accounts.owe(task.account, wait.amount);
  return wait.is_unrechargeable || !has_stack ? Recharge::kNever : Recharge::kCancelled;
}

void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept {
  LockGuard guard(runtime.accounts.queue(account).lock);
  serve(runtime, worker, account);
}

bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept {
  if (runtime.exhausted.load(std::memory_order_relaxed) == 0) return false;
  bool any = false;
  for (std::uint32_t index = 1; index < runtime.accounts.end(); ++index) {
    AccountQueue& queue = runtime.accounts.queue(runtime.accounts.at(index));
    LockGuard guard(queue.lock);
    if (queue.waits.is_empty()) continue;
    for (AccountWait* each = queue.waits.front(); each != nullptr; each = queue.waits.after(each)) {
      auto& wait = *static_cast<Exhausted*>(each);
      wait.is_unrechargeable = true;
      any |= wake(worker, *wait.task, TaskState::kExhausted);
    }
  }
  return any;
}

}  // namespace janus
