// SPDX-License-Identifier: Apache-2.0
// rt/task/account/exhaustion.cpp — waiting for more of a budget, and the end of waits for which none can come.
#include "rt/task/account/exhaustion.h"

#include "rt/task/wait/cancel.h"
#include "rt/task/wait/wait.h"
#include "rt/task/wait/wake.h"

namespace janus {

namespace {

// One wait, on the waiting task's stack, in the queue of the account that a recharge of its nursery reaches. A task with
// an account of its own has another one in the queue of that, so that it is woken, and looks itself, when something comes
// in there.
struct Exhausted : AccountWait {
  Task* task;
  bool looks_itself;
  bool is_served;
  bool is_unrechargeable;
};

// Whether the wait's amount could be drawn of what the task's own account has.
[[gnu::noinline]] bool draw_own(Runtime& runtime, Exhausted& wait) noexcept {
  Account* const own = wait.task->account;
  if (wait.component != Component::kOps) return runtime.accounts.draw(own, wait.component, wait.amount);
  wait.amount -= runtime.accounts.draw_up_to(own, Component::kOps, wait.amount);
  return wait.amount == 0;
}

// Whether the wait's amount could be drawn for its task. Ops are a debt, and are paid bit by bit. All else comes as a
// whole or not at all: who asks for more than there ever is must not take what there is.
bool draw_for(Runtime& runtime, Account* account, Exhausted& wait) noexcept {
  Accounts& accounts = runtime.accounts;
  Account* const own = wait.task->account;
  const bool is_debt = wait.component == Component::kOps;
  if (own != account) {
    const std::uint64_t owed = is_debt ? accounts.owed(own) : 0;  // which all that comes in pays first
    const std::uint64_t wanted = wait.amount + owed;
    const std::uint64_t slice = is_debt ? runtime.options.yield_interval : 0;
    const std::uint64_t left = accounts.left(own, wait.component);
    const std::uint64_t ahead = wait.amount < slice ? slice - wait.amount : 0;
    if (left < wanted) accounts.draw_recharged(account, own, wait.component, wanted - left, ahead);
  }
  return draw_own(runtime, wait);
}

enum class Serving : std::uint8_t {
  kInOrder,  // none before those that came earlier
  kEach,     // all that can be served
};

// Of the accounts from `first` up to `end`. Under no lock. True: somebody was served.
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
          // If it is not woken, it is about to wait, and is looked for again, or it was woken, and has yet to look.
          if (how == Serving::kInOrder && !wake(worker, *wait.task, TaskState::kExhausted) &&
              state_of(*wait.task) != TaskState::kReady)
            runtime.accounts.list_unserved(account);
          continue;
        }
        if (draw_for(runtime, account, wait)) {
          queue.leave(wait);
          wait.is_served = true;
          any |= wake(worker, *wait.task, TaskState::kExhausted);
        } else if (how == Serving::kInOrder) {
          break;
        }
      }
    }
  }
  if (any) runtime.rounds_of_ends.store(0, std::memory_order_relaxed);
  return any;
}

// --- When nobody can recharge ----------------------------------------------------------------------------------------

enum class Hopeless : std::uint8_t {
  kAwaited,  // waits above which every nursery is awaited: who opened one may recharge it when it goes on
  kAll,      // all but those of a thread outside that does not await its nursery, and so may recharge it now
};

// While every worker sleeps: whether the task's wait is one of these.
bool is_hopeless(const Runtime& runtime, const Task& task, Hopeless which) noexcept {
  for (const Nursery* nursery = task.nursery;;) {
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    const bool is_awaited = nursery->alive.load(std::memory_order_relaxed) == Nursery::kClosing ||
                            (nursery->word.load(std::memory_order_acquire) & NurseryWord::kWaiter) != 0;
    if (owner == nullptr) return is_awaited || runtime.options.is_program;
    if (which == Hopeless::kAwaited && !is_awaited) return false;
    nursery = owner->nursery;
  }
}

// Ends waits in each queue. One: that which asks for the most, or of equal ones that came last. More: those that came
// first. True: there were some.
bool end_waits(Runtime& runtime, Worker* worker, Hopeless which, std::uint32_t most) noexcept {
  bool any = false;
  const auto end_wait = [&](Exhausted& wait) {
    wait.is_unrechargeable = true;
    any |= wake(worker, *wait.task, TaskState::kExhausted);
  };
  const std::uint32_t end = runtime.accounts.end();
  for (std::uint32_t index = 1; index < end; ++index) {
    AccountQueue& queue = runtime.accounts.queue(runtime.accounts.at(index));
    LockGuard guard(queue.lock);
    for (auto& waits : queue.waits) {
      Exhausted* greatest = nullptr;
      std::uint32_t count = 0;
      for (AccountWait* each = waits.front(); each != nullptr && count < most; each = waits.after(each)) {
        auto& wait = *static_cast<Exhausted*>(each);
        if (wait.looks_itself || wait.is_unrechargeable) continue;
        if (!is_hopeless(runtime, *wait.task, which)) continue;
        if (most != 1) {
          end_wait(wait);
          ++count;
        } else if (greatest == nullptr || wait.amount >= greatest->amount) {
          greatest = &wait;
        }
      }
      if (greatest != nullptr) end_wait(*greatest);
    }
  }
  return any;
}

// How many waits of a queue end in this round, since anybody was served or began to wait. One by one, as what one
// leaves may be enough for the next; but a group has an end.
std::uint32_t ends_in_round(std::uint32_t round) noexcept {
  constexpr std::uint32_t kOneByOne = 32, kMaxDoublings = 20;
  if (round < kOneByOne) return 1;
  const std::uint32_t doublings = round - kOneByOne + 1;
  return std::uint32_t{1} << (doublings < kMaxDoublings ? doublings : kMaxDoublings);
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

Recharge wait_for_recharge(Task& task, Component component, std::uint64_t amount) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  Account* const account = task.nursery->account;
  AccountQueue& queue = runtime.accounts.queue(account);
  Exhausted wait{{{}, component, amount}, &task, false, false, false};
  Exhausted own_wait{{{}, component, amount}, &task, true, false, false};
  change_own(runtime, own_wait, true);
  queue.lock.lock();
  queue.enter(wait);
  runtime.exhausted.fetch_add(1, std::memory_order_relaxed);
  runtime.rounds_of_ends.store(0, std::memory_order_relaxed);
  bool has_stack = true;
  while (!wait.is_served) {
    // No task overtakes those that wait already; but what comes into an account of its own is the task's alone.
    const bool is_first = queue.waits[static_cast<unsigned>(component)].front() == &wait;
    wait.is_served = is_first ? draw_for(runtime, account, wait) : task.account != account && draw_own(runtime, wait);
    if (wait.is_served || wait.is_unrechargeable || is_cancelled(task)) break;
    has_stack = block(
        task, TaskState::kExhausted,
        [](Task&, void* lock) { static_cast<decltype(AccountQueue::lock)*>(lock)->unlock(); }, &queue.lock);
    if (!has_stack) break;
    queue.lock.lock();
  }
  if (wait.is_linked()) queue.leave(wait);
  if (!queue.waits[static_cast<unsigned>(component)].is_empty())  // there may be enough for the next
    runtime.accounts.list_unserved(account);
  queue.lock.unlock();
  change_own(runtime, own_wait, false);
  runtime.exhausted.fetch_sub(1, std::memory_order_relaxed);
  if (wait.is_served) return Recharge::kDrawn;
  // What was paid of a debt is paid; the rest stays with the account.
  if (component == Component::kOps) runtime.accounts.owe(task.account, wait.amount);
  return wait.is_unrechargeable || !has_stack ? Recharge::kNever : Recharge::kCancelled;
}

void serve_unserved(Runtime& runtime, Worker* worker) noexcept {
  for (std::uint32_t index = runtime.accounts.take_unserved(); index != Accounts::kEndOfUnserved;) {
    const std::uint32_t account = index;
    index = runtime.accounts.take_off_unserved(index);
    (void)serve(runtime, worker, account, account + 1, Serving::kInOrder);
  }
}

bool fail_unrechargeable(Runtime& runtime, Worker* worker) noexcept {
  if (runtime.exhausted.load(std::memory_order_relaxed) == 0) return false;
  // There may be enough for one that waits behind another.
  if (serve(runtime, worker, 1, runtime.accounts.end(), Serving::kEach)) return true;
  const std::uint32_t most = ends_in_round(runtime.rounds_of_ends.fetch_add(1, std::memory_order_relaxed));
  return end_waits(runtime, worker, Hopeless::kAwaited, most) || end_waits(runtime, worker, Hopeless::kAll, most);
}

}  // namespace

constinit const BudgetWaits kBudgetWaits = {wait_for_recharge, serve_unserved, fail_unrechargeable};

void serve_exhausted(Runtime& runtime, Worker* worker, Account* account) noexcept {
  (void)serve(runtime, worker, account->index(), account->index() + 1, Serving::kInOrder);
}

}  // namespace janus
