// SPDX-License-Identifier: Apache-2.0
// rt/task/account/exhaustion.cpp — waiting for more of a budget, and the end of waits for which none can come.
#include "rt/task/account/exhaustion.h"

#include "rt/budget/pauses.h"
#include "rt/task/account/keepers.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

// One wait, on the waiting task's stack, in the queue of the account that a recharge of its nursery reaches. A task
// that has its own account enters a second record, with `looks_itself`, into the queue of that account: an amount that
// comes in there wakes the task, which draws it.
struct Exhausted : AccountWait {
  Task* task;
  bool looks_itself;
  bool is_served;
  bool is_chosen;          // the wait is to end, unless a worker has run meanwhile
  bool is_unrechargeable;  // the wait has to end
  bool is_for_pause;       // the account was in a pause when the wait began
  bool may_tell;           // the task can tell the keeper that it waits
  bool has_to_look;        // the wait is over and has to begin again
  bool is_for_block;       // it is a BlockWait
};

// A wait that has `request`, in the queue of the account of the task's nursery.
struct BlockWait : Exhausted {
  BlockRequest* request;
};

// Draws the wait's amount from the task's own account. True: all of it.
[[gnu::noinline]] bool draw_own(Runtime& runtime, Exhausted& wait) noexcept {
  Account* const own = wait.task->account;
  if (wait.component != Component::kOps) return runtime.accounts.draw(own, wait.component, wait.amount);
  wait.amount -= runtime.accounts.draw_up_to_in_all(own, Component::kOps, wait.amount);
  return wait.amount == 0;
}

// Draws the wait's amount for its task, or takes the block that it is for. True: all of it. Ops are a debt, which is paid in parts. Other components are
// drawn as a whole or not at all: a request that can never be satisfied must not consume part of the budget.
bool draw_for(Runtime& runtime, Account* account, Exhausted& wait) noexcept {
  Accounts& accounts = runtime.accounts;
  Account* const own = wait.task->account;
  const bool is_debt = wait.component == Component::kOps;
  if (wait.is_for_block && take_idle_block(*static_cast<BlockWait&>(wait).request)) return true;
  if (own != account) {
    const std::uint64_t owed = is_debt ? accounts.owed(own) : 0;  // any amount that comes in pays this first
    const std::uint64_t wanted = wait.amount + owed;
    const std::uint64_t slice = is_debt ? runtime.options.yield_interval : 0;
    const std::uint64_t left = accounts.left(own, wait.component);
    const std::uint64_t ahead = wait.amount < slice ? slice - wait.amount : 0;
    if (left < wanted) accounts.draw_recharged(account, own, wait.component, wanted - left, ahead);
  }
  return draw_own(runtime, wait);
}

enum class Serving : std::uint8_t {
  kInOrder,  // stops at the first wait that cannot be served
  kEach,     // serves every wait for which there is enough
};

// Both under the lock of the queue: whether the wait has to begin again, since it was for a pause that is over, or since the
// keeper does not know that tasks wait.
bool has_outlasted_pause(const Exhausted& wait) noexcept {
  return wait.is_for_pause && !Pauses::is_in_pause(wait.task->account);
}
bool has_to_tell(const Account* account, const Exhausted& wait) noexcept {
  return wait.may_tell && Keeping::keeper(account) != 0 && !Keeping::knows_of_wait(account, wait.component);
}

// After the waits of a queue were served as far as possible: who has to begin again is woken. Under the queue's lock.
void call_who_looks_again(Worker* worker, const Account* account, const CompactList<AccountWait>& waits) noexcept {
  Exhausted* last = nullptr;
  for (AccountWait* each = waits.front(); each != nullptr; each = waits.after(each)) {
    auto& wait = *static_cast<Exhausted*>(each);
    if (wait.looks_itself) continue;
    if (has_outlasted_pause(wait)) (void)wake(worker, *wait.task, WaitReason::kBudget);
    if (has_to_tell(account, wait)) last = &wait;
  }
  // The last one, since it loses its place by that.
  if (last != nullptr) (void)wake(worker, *last->task, WaitReason::kBudget);
}

// Serves the waits of the accounts from `first` up to `end`. Called without a lock. True: a task was served.
bool serve(Runtime& runtime, Worker* worker, std::uint32_t first, std::uint32_t end, Serving how) noexcept {
  bool any = false;
  for (std::uint32_t index = first; index < end; ++index) {
    Account* const account = runtime.accounts.at(index);
    AccountQueue& queue = runtime.accounts.queue(account);
    LockGuard guard(queue.lock);
    for (auto& waits : queue.waits) {
      for (AccountWait* each = waits.front(); each != nullptr;) {
        auto& wait = *static_cast<Exhausted*>(each);
        each = waits.after(each);
        if (wait.looks_itself) {
          // A task that cannot be woken here is either about to wait, so the account must stay listed, or already
          // woken, and will look at the account itself.
          if (how == Serving::kInOrder && !wake(worker, *wait.task, WaitReason::kBudget) &&
              state_of(*wait.task) != TaskState::kReady)
            runtime.accounts.list_unserved(account);
          continue;
        }
        if (draw_for(runtime, account, wait)) {
          queue.leave(wait);
          wait.is_served = true;
          any |= wake(worker, *wait.task, WaitReason::kBudget);
        } else if (how == Serving::kInOrder) {
          break;
        }
      }
      if (how == Serving::kInOrder && (Pauses::are_any() || Keeping::are_any())) [[unlikely]]
        call_who_looks_again(worker, account, waits);
    }
  }
  return any;
}

// --- When nobody can recharge ----------------------------------------------------------------------------------------

enum class Hopeless : std::uint8_t {
  // Only tasks whose enclosing nurseries are all awaited. The opener of another nursery may recharge it later.
  kAwaited,
  // All tasks, except those below a nursery that a thread outside tasks has open and does not await: that thread may
  // recharge it now.
  kAll,
};

// Called while every worker sleeps, under the lock of the queue of the account of the task's nursery, or of its own.
bool is_hopeless(Runtime& runtime, const Task& task, Hopeless which) noexcept {
  const std::uint64_t keeper = Keeping::keeper(task.nursery->account);
  if (keeper != 0 && keepers_of(runtime)->is_living(runtime, keeper)) return false;
  for (const Nursery* nursery = task.nursery;;) {
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    const bool is_awaited = nursery->alive.load(std::memory_order_relaxed) == Nursery::kClosing ||
                            (nursery->word.load(std::memory_order_acquire) & NurseryWord::kWaiter) != 0;
    if (owner == nullptr) return is_awaited || runtime.options.is_program;
    if (which == Hopeless::kAwaited && !is_awaited) return false;
    nursery = owner->nursery;
  }
}

// Chooses the later half of the hopeless waits in a queue: rounded down, but at least one. True: there are some.
bool choose_later_half(Runtime& runtime, const CompactList<AccountWait>& waits, Hopeless which) noexcept {
  std::uint32_t hopeless = 0;
  for (AccountWait* each = waits.front(); each != nullptr; each = waits.after(each)) {
    auto& wait = *static_cast<Exhausted*>(each);
    wait.is_chosen = !wait.looks_itself && is_hopeless(runtime, *wait.task, which);
    hopeless += wait.is_chosen ? 1 : 0;
  }
  std::uint32_t stay = hopeless == 1 ? 0 : hopeless - hopeless / 2;
  for (AccountWait* each = waits.front(); stay != 0; each = waits.after(each)) {
    auto& wait = *static_cast<Exhausted*>(each);
    stay -= wait.is_chosen ? 1 : 0;
    wait.is_chosen = false;
  }
  return hopeless != 0;
}

// True: a task goes on.
bool end_chosen(Worker* worker, const CompactList<AccountWait>& waits) noexcept {
  bool any = false;
  for (AccountWait* each = waits.front(); each != nullptr;) {
    auto& wait = *static_cast<Exhausted*>(each);
    each = waits.after(each);
    if (!wait.is_chosen) continue;
    wait.is_unrechargeable = true;
    any |= wake(worker, *wait.task, WaitReason::kBudget);
  }
  return any;
}

// Calls visit(waits) for each queue, under its lock. True: one of the calls returned true.
template <typename Visit>
bool visit_queues(Runtime& runtime, Visit visit) noexcept {
  bool any = false;
  const std::uint32_t end = runtime.accounts.end();
  for (std::uint32_t index = 1; index < end; ++index) {
    AccountQueue& queue = runtime.accounts.queue(runtime.accounts.at(index));
    LockGuard guard(queue.lock);
    for (auto& waits : queue.waits) any |= visit(waits);
  }
  return any;
}

// --- Waiting ---------------------------------------------------------------------------------------------------------

// Enters or leaves the queue of an account of the task's own, if it has one.
[[gnu::noinline]] void change_own(Runtime& runtime, Exhausted& wait, bool enters) noexcept {
  Account* const own = wait.task->account;
  if (own == wait.task->nursery->account) return;
  AccountQueue& queue = runtime.accounts.queue(own);
  LockGuard guard(queue.lock);
  if (enters)
    queue.enter(wait);
  else
    queue.leave(wait);
}

// A recharge of the account of the task's nursery, or what its own account gets.
struct AwaitedRecharge : Awaited {
  Runtime& runtime;
  Account* const account;
  AccountQueue& queue;
  BlockWait wait;

  AwaitedRecharge(Task& task, Component component, std::uint64_t amount, BlockRequest* request) noexcept
      : runtime(*task.nursery->runtime),
        account(task.nursery->account),
        queue(runtime.accounts.queue(account)),
        wait{{{{}, component, amount}, &task, false, false, false, false, false, false, false, request != nullptr},
             request} {}
  static constexpr WaitReason reason() noexcept { return WaitReason::kBudget; }
  // From its cancel on the task lives on its grace, and waits for no ops.
  bool heeds_shield() const noexcept { return wait.component != Component::kOps; }
  CompactList<AccountWait>& others() const noexcept { return queue.waits[static_cast<unsigned>(wait.component)]; }

  // No task overtakes earlier waiters; but amounts in an account of its own are for this task alone.
  bool is_over() noexcept {
    if (wait.is_served) return true;
    const bool is_first = others().front() == &wait;
    wait.is_served = is_first || wait.is_for_block ? draw_for(runtime, account, wait)
                                                   : wait.task->account != account && draw_own(runtime, wait);
    if (wait.is_served || wait.is_unrechargeable) return true;
    return wait.has_to_look = has_outlasted_pause(wait) || has_to_tell(account, wait);
  }
  void lock() const noexcept { queue.lock.lock(); }
  void unlock() const noexcept { queue.lock.unlock(); }
  void leave() noexcept {
    if (wait.is_linked()) queue.leave(wait);
    if (!others().is_empty()) runtime.accounts.list_unserved(account);  // there may be enough for the next one
  }
};

Recharge wait_for_recharge(Task& task, Component component, std::uint64_t& amount, bool may_tell,
                           BlockRequest* request) noexcept {
  AwaitedRecharge awaited(task, component, amount, request);
  awaited.wait.is_for_pause = component == Component::kOps && Pauses::is_in_pause(task.account);
  awaited.wait.may_tell = may_tell;
  Runtime& runtime = awaited.runtime;
  Exhausted& wait = awaited.wait;
  Exhausted own_wait{{{}, component, amount}, &task, true, false, false, false, false, false, false, false};
  change_own(runtime, own_wait, true);
  awaited.lock();
  awaited.queue.enter(wait);
  runtime.exhausted.fetch_add(1, std::memory_order_relaxed);
  const WaitEnd end = janus::wait(task, awaited);
  change_own(runtime, own_wait, false);
  runtime.exhausted.fetch_sub(1, std::memory_order_relaxed);
  if (wait.is_served) return Recharge::kDrawn;
  amount = wait.amount;
  if (wait.has_to_look) return Recharge::kLookAgain;
  // The account keeps the part of the debt that was not paid.
  if (component == Component::kOps) runtime.accounts.owe(task.account, wait.amount);
  return end == WaitEnd::kCancelled ? Recharge::kCancelled : Recharge::kNever;
}

// What is still missing of `amount` after a look at the account. Of ops, a part may be there.
std::uint64_t draw_again(const Task& task, Component component, std::uint64_t amount) noexcept {
  Accounts& accounts = task.nursery->runtime->accounts;
  if (component == Component::kOps) return amount - accounts.draw_up_to_in_all(task.account, component, amount);
  return accounts.draw(task.account, component, amount) ? 0 : amount;
}

bool is_for_pause(const Task& task, Component component, std::uint64_t& amount) noexcept {
  if (!AccountWords::has_aside()) return false;
  for (;;) {
    const bool is_ops = component == Component::kOps;
    if (is_ops && Pauses::is_in_pause(task.account)) return true;
    amount = draw_again(task, component, amount);
    // A pause may have begun and ended since the draw, and the ops were in neither place when it looked there.
    const bool is_dry = task.nursery->runtime->accounts.left_in_all(task.account, component) == 0;
    if (amount == 0 || !is_ops || (is_dry && !Pauses::is_in_pause(task.account))) return false;
  }
}

void serve_unserved(Runtime& runtime, Worker* worker) noexcept {
  for (std::uint32_t index = runtime.accounts.take_unserved(); index != Accounts::kEndOfUnserved;) {
    const std::uint32_t account = index;
    index = runtime.accounts.take_off_unserved(index);
    (void)serve(runtime, worker, account, account + 1, Serving::kInOrder);
    if (const Keepers* const keepers = keepers_of(runtime))
      keepers->tell_fallen(runtime, worker, runtime.accounts.at(account));
  }
}

bool fail_unrechargeable(Runtime& runtime, Worker* worker, IdleSet::Snapshot entered) noexcept {
  if (runtime.exhausted.load(std::memory_order_relaxed) == 0) return false;
  // There may be enough for a wait behind one that asks for more.
  if (serve(runtime, worker, 1, runtime.accounts.end(), Serving::kEach)) return true;
  LockGuard guard(runtime.outside_lock);  // one round at a time: a worker that has slept meanwhile may begin another
  static constexpr Hopeless kInTurn[] = {Hopeless::kAwaited, Hopeless::kAll};
  for (const Hopeless which : kInTurn) {
    if (!visit_queues(runtime, [&](auto& waits) { return choose_later_half(runtime, waits, which); })) continue;
    // A thread outside may have recharged a task and begun to await it meanwhile. That task runs, and may leave enough.
    if (!runtime.scheduler.all_slept_since(entered)) return true;
    return visit_queues(runtime, [&](auto& waits) { return end_chosen(worker, waits); });
  }
  return false;
}

}  // namespace

constinit const BudgetWaits kBudgetWaits = {is_for_pause, wait_for_recharge, serve_unserved, fail_unrechargeable};

void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept {
  (void)serve(runtime, worker, account->index(), account->index() + 1, Serving::kInOrder);
}

}  // namespace janus
