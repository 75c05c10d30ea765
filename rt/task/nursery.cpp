// SPDX-License-Identifier: Apache-2.0
// rt/task/nursery.cpp — opening, spawning, counting, awaiting.
#include "rt/task/nursery.h"

#include "rt/task/account_of.h"
#include "rt/task/runtime.h"
#include "rt/task/text.h"

namespace janus {

namespace {

// Whoever made the word terminal, and whoever finds that out while its owner waits.
[[gnu::noinline]] void wake_owner(Worker* worker, Nursery& nursery) noexcept {
  // The nursery may be gone and serve another owner: then that one is woken to look, which does no harm.
  if (Task* const owner = nursery.owner.load(std::memory_order_relaxed)) {
    (void)wake(worker, *owner, TaskState::kBlocked);
  } else {
    nursery.ended.fetch_add(1, std::memory_order_release);
    platform::wake(nursery.ended, 1u << 30);
  }
}

void count_out(Worker* worker, Nursery& nursery) noexcept {
  const std::uint64_t before = nursery.word.fetch_sub(NurseryWord::kChild, std::memory_order_acq_rel);
  if (NurseryWord::is_terminal(before - NurseryWord::kChild) && (before & NurseryWord::kWaiter) != 0)
    wake_owner(worker, nursery);
}

// Counts a child in, unless the nursery is closed.
bool count_in(Worker* worker, Nursery& nursery) noexcept {
  if (nursery.closing.load(std::memory_order_acquire)) return false;
  constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
  std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if (worker != nullptr && nursery.home.load(std::memory_order_relaxed) == worker) {
    if ((word & kShut) != 0) return false;
    ++nursery.local;
    return true;
  }
  do {
    if ((word & kShut) != 0) return false;
  } while (!nursery.word.compare_exchange_weak(word, word + NurseryWord::kChild, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
  return true;
}

void link(Nursery*& first, Nursery& nursery) noexcept {
  nursery.inner = nullptr;
  nursery.outer = first;
  if (first != nullptr) first->inner = &nursery;
  first = &nursery;
}

void unlink(Nursery*& first, Nursery& nursery) noexcept {
  (nursery.inner != nullptr ? nursery.inner->outer : first) = nursery.outer;
  if (nursery.outer != nullptr) nursery.outer->inner = nursery.inner;
}

// Fresh, or as its last use left it: everything but `free_next` is set anew.
void reset(Nursery& nursery, Runtime& runtime, Task* owner, const NurseryOptions& options) noexcept {
  nursery.local = 0;
  nursery.closing.store(false, std::memory_order_relaxed);
  nursery.on_error = options.on_error;
  nursery.on_exhaustion = options.on_exhaustion;
  nursery.owns_account = false;
  nursery.owner.store(owner, std::memory_order_relaxed);
  nursery.runtime = &runtime;
  nursery.below_current = nullptr;
  nursery.members.reset();
  nursery.records = nullptr;
  nursery.code = 0;
  nursery.failed_id = 0;
  nursery.errors = 0;
  nursery.outcome = Outcome::kSuccess;
  nursery.is_published = false;
  nursery.has_current = false;
  nursery.was_read.store(false, std::memory_order_relaxed);
  nursery.name[0] = 0;
  if (options.name != nullptr) [[unlikely]]
    copy_name(nursery.name, options.name);
}

}  // namespace

// Queues a task that spawn() made; it may be over when this returns.
void launch(Worker* worker, Task& task) noexcept {
  Scheduler& scheduler = task.nursery->runtime->scheduler;
  if (worker == nullptr) return scheduler.inject(&task);
  scheduler.push_fresh(*worker, &task);
  scheduler.interleave();
}

Nursery* open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options, int* error) noexcept {
  Worker* const worker = owner != nullptr ? &current_worker() : worker_of(runtime);
  Account* account = owner != nullptr ? owner->account : runtime.root_account;
  Account* own = nullptr;
  if (options.budget != nullptr) [[unlikely]] {
    own = runtime.accounts.open(account, *options.budget, nullptr);
    if (own == nullptr) return *error = kErrorBudget, nullptr;
    account = own;
  }
  auto* nursery = static_cast<Nursery*>(runtime.nurseries.take(worker != nullptr ? &worker->nurseries : nullptr));
  if (nursery == nullptr) {
    if (own != nullptr) runtime.accounts.close(own);
    return *error = kErrorNoMemory, nullptr;
  }
  reset(*nursery, runtime, owner, options);
  nursery->account = account;
  nursery->owns_account = own != nullptr;
  if (owner != nullptr) {
    nursery->home.store(worker, std::memory_order_relaxed);
    nursery->word.store(0, std::memory_order_relaxed);
    // What held for the owner holds for its nursery: one walk up the tree serves all below.
    // The epoch first: a cancel of the owner that comes after it moves the epoch on.
    const std::uint64_t clean = owner->nursery->clean_epoch.load(std::memory_order_acquire);
    const bool told = owner->cancel.load(std::memory_order_relaxed) != 0;
    nursery->clean_epoch.store(told ? ~std::uint64_t{0} : clean, std::memory_order_relaxed);
    link(owner->frame->open, *nursery);
  } else {
    nursery->home.store(nullptr, std::memory_order_relaxed);
    nursery->word.store(NurseryWord::kShared, std::memory_order_relaxed);
    nursery->clean_epoch.store(runtime.cancel_epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
    LockGuard guard(runtime.outside_lock);
    link(runtime.outside, *nursery);
  }
  if (worker != nullptr) worker->counters.nurseries_opened.add();
  nursery->alive.store(Nursery::kAlive, std::memory_order_release);
  if (owner != nullptr && owner->frame->saw_cancel) [[unlikely]]
    cancel_nursery(worker, *nursery);
  return nursery;
}

Task* spawn(Worker* worker, Nursery& nursery, TaskFn fn, void* arg, const SpawnOptions& options, int* error) noexcept {
  Runtime& runtime = *nursery.runtime;
  if (!count_in(worker, nursery)) [[unlikely]]
    return *error = kErrorState, nullptr;
  Account* account = nursery.account;
  if (account != runtime.root_account || options.budget != nullptr) [[unlikely]] {
    account = pay_for_spawn(nursery, options, error);
    if (account == nullptr) return count_child_out(worker, nursery), nullptr;
  }
  auto* task = static_cast<Task*>(runtime.tasks.take(worker != nullptr ? &worker->tasks : nullptr));
  if (task == nullptr) [[unlikely]] {
    refund_spawn(nursery, account, options);
    count_child_out(worker, nursery);
    return *error = kErrorNoMemory, nullptr;
  }
  task->suspension = nullptr;
  task->stack_class = options.stack_class;
  task->fn = fn;
  task->arg = arg;
  task->nursery = &nursery;
  task->account = account;
  task->state.store(TaskState::kCreated, std::memory_order_relaxed);
  task->cancel.store(0, std::memory_order_relaxed);
  task->token.store(0, std::memory_order_relaxed);
  task->flags.store(static_cast<std::uint8_t>(options.flags | (options.budget != nullptr ? TaskFlags::kOwnAccount : 0)),
                    std::memory_order_relaxed);
  task->frame = nullptr;
  task->waiters = nullptr;
  task->outcome = Outcome::kPending;
  task->is_member.store(false, std::memory_order_relaxed);
  task->generation.store(task->generation.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);  // now odd: alive
  task->id = take_task_id(runtime, worker);
  if (options.name != nullptr) [[unlikely]]
    set_name(worker, *task, options.name);
  if (worker != nullptr) {
    worker->counters.spawned.add();
    runtime.scheduler.note(*worker, Event::kSpawn, task);
  } else {
    runtime.spawned_outside.fetch_add(1, std::memory_order_relaxed);
  }
  return task;
}

void leave_nursery(Worker& worker, Nursery& nursery) noexcept {
  count_child_out(&worker, nursery);
}

void count_child_out(Worker* worker, Nursery& nursery) noexcept {
  if (worker != nullptr && nursery.home.load(std::memory_order_relaxed) == worker) [[likely]]
    --nursery.local;
  else
    count_out(worker, nursery);
}

void release_pin(Worker* worker, Nursery& nursery) noexcept {
  count_out(worker, nursery);
}

// On the home worker only. One operation moves the count and sets `flags`; the word before it is given back.
std::uint64_t share_nursery(Nursery& nursery, std::uint64_t flags) noexcept {
  const std::uint64_t children = static_cast<std::uint64_t>(nursery.local) * NurseryWord::kChild;
  nursery.home.store(nullptr, std::memory_order_relaxed);
  nursery.local = 0;
  std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  while (!nursery.word.compare_exchange_weak(word, (word + children) | NurseryWord::kShared | flags,
                                             std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  return (word + children) | NurseryWord::kShared | flags;
}

void settle_frames(RunFrame& frame) noexcept {
  for (RunFrame* f = &frame; f != nullptr; f = f->below) {
    Task& task = *f->task;
    if (!task.is_member.load(std::memory_order_relaxed) || f->open != nullptr) {
      LockGuard guard(task.nursery->lock);
      if (!task.is_member.load(std::memory_order_relaxed)) {
        task.nursery->members.push_back(f);
        task.is_member.store(true, std::memory_order_relaxed);
      }
      if (Nursery* innermost = f->open) {
        Nursery* outermost = innermost;
        for (Nursery* n = innermost; n != nullptr; n = n->outer) {
          if (n->home.load(std::memory_order_relaxed) != nullptr) (void)share_nursery(*n, 0);
          n->is_published = true;
          outermost = n;
        }
        outermost->outer = f->published;
        if (f->published != nullptr) f->published->inner = outermost;
        f->published = innermost;
        f->open = nullptr;
      }
    }
    if (f->below_is_settled) return;
    f->below_is_settled = true;
  }
}

[[gnu::noinline]] void close_nursery(Worker* worker, Nursery& nursery) noexcept {
  const std::uint64_t before = nursery.word.fetch_or(NurseryWord::kClosed, std::memory_order_acq_rel);
  if (!NurseryWord::is_terminal(before) && NurseryWord::is_terminal(before | NurseryWord::kClosed) &&
      (before & NurseryWord::kWaiter) != 0)
    wake_owner(worker, nursery);
}

// Its owner's worker looks: children that have ended on it are counted where only it can see them.
void look_closely(Worker* worker, Nursery& nursery) noexcept {
  if (worker == nullptr || nursery.home.load(std::memory_order_relaxed) != worker) return;
  const std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if ((word & (NurseryWord::kClosed | NurseryWord::kCancelled)) != 0) (void)share_nursery(nursery, 0);
}

bool is_terminal(const Nursery& nursery) noexcept {
  return NurseryWord::is_terminal(nursery.word.load(std::memory_order_acquire));  // pairs with the last count_out
}

NurseryState nursery_state(const Nursery& nursery) noexcept {
  const std::uint64_t word = nursery.word.load(std::memory_order_acquire);
  const bool cancelled = (word & NurseryWord::kCancelled) != 0;
  if (NurseryWord::is_terminal(word)) return cancelled ? NurseryState::kCancelled : NurseryState::kClosed;
  if (cancelled) return NurseryState::kCancelling;
  const bool closing = (word & NurseryWord::kClosed) != 0 || nursery.closing.load(std::memory_order_acquire);
  return closing ? NurseryState::kClosing : NurseryState::kOpen;
}

namespace {

// Children that have not started are run by whoever waits for them, as long as its stack has room for a whole one.
void run_children(Task& self, Nursery& nursery) noexcept {
  for (;;) {
    Worker& worker = current_worker();
    if (nursery.local == 0 || nursery.home.load(std::memory_order_relaxed) != &worker) return;
    const std::size_t room = arch::stack_pointer() - reinterpret_cast<std::uintptr_t>(worker.stack_limit);
    Runnable* const child = worker.scheduler->take_fresh_if(worker, [&](Runnable* runnable) {
      return static_cast<Task*>(runnable)->nursery == &nursery && stack_class_bytes(runnable->stack_class) <= room;
    });
    if (child == nullptr) return;
    const bool same_payer = static_cast<Task*>(child)->account == self.account;
    worker.counters.inlined.add();
    self.state.store(TaskState::kBuried, std::memory_order_relaxed);
    run_task(static_cast<Task*>(child), self.frame);
    Worker& here = current_worker();  // the child may have ended elsewhere
    here.task = static_cast<Runnable*>(&self);
    self.state.store(TaskState::kRunning, std::memory_order_relaxed);
    if (!same_payer) begin_slice(here, self);
  }
}

[[gnu::noinline]] void wait_for_children(Task& self, Nursery& nursery) noexcept {
  while (!is_terminal(nursery)) {
    if (sees_cancel(self)) {
      cancel_nursery(&current_worker(), nursery);
      if (is_terminal(nursery)) return;
    }
    const bool left = block(
        self, TaskState::kBlocked,
        [](Task& task, void* what) {
          if (is_terminal(*static_cast<Nursery*>(what))) (void)wake(&current_worker(), task, TaskState::kBlocked);
        },
        &nursery);
    if (!left) arch::pause();  // no stack for anybody else: others have to get on first
  }
}

}  // namespace

void await_nursery(Task& self, Nursery& nursery) noexcept {
  nursery.closing.store(true, std::memory_order_release);
  run_children(self, nursery);
  if (self.frame->saw_cancel || sees_cancel(self)) cancel_nursery(&current_worker(), nursery);
  constexpr std::uint64_t kWait = NurseryWord::kClosed | NurseryWord::kWaiter;
  std::uint64_t word;
  if (nursery.home.load(std::memory_order_relaxed) == &current_worker())
    word = share_nursery(nursery, kWait);
  else
    word = nursery.word.fetch_or(kWait, std::memory_order_acq_rel) | kWait;
  if (!NurseryWord::is_terminal(word)) wait_for_children(self, nursery);
}

[[gnu::noinline]] void await_from_thread(Nursery& nursery) noexcept {
  close_nursery(nullptr, nursery);
  const std::uint64_t word = nursery.word.fetch_or(NurseryWord::kWaiter, std::memory_order_acq_rel);
  if (NurseryWord::is_terminal(word)) return;
  for (;;) {
    // A late waker of whom this nursery's memory served before may count, too: only the word tells.
    const std::uint32_t seen = nursery.ended.load(std::memory_order_acquire);
    if (is_terminal(nursery)) return;
    platform::wait(nursery.ended, seen, platform::kForever);
  }
}

void destroy_nursery(Worker* worker, Nursery& nursery) noexcept {
  Runtime& runtime = *nursery.runtime;
  if (nursery.records != nullptr) [[unlikely]]
    release_records(worker, nursery);
  if (Task* const owner = nursery.owner.load(std::memory_order_relaxed)) {
    RunFrame& frame = *owner->frame;
    if (nursery.is_published) {
      LockGuard guard(owner->nursery->lock);
      unlink(frame.published, nursery);
    } else {
      unlink(frame.open, nursery);
    }
  } else {
    LockGuard guard(runtime.outside_lock);
    unlink(runtime.outside, nursery);
  }
  nursery.alive.store(0, std::memory_order_relaxed);
  if (nursery.owns_account) runtime.accounts.close(nursery.account);
  if (worker != nullptr) worker->counters.nurseries_ended.add();
  runtime.nurseries.give(worker != nullptr ? &worker->nurseries : nullptr, &nursery);
}

}  // namespace janus
