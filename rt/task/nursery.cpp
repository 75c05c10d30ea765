// SPDX-License-Identifier: Apache-2.0
// rt/task/nursery.cpp — opening, counting, closing, and the end of the record.
#include "rt/task/nursery.h"

#include <bit>

#include "rt/task/cancel.h"
#include "rt/task/charge.h"
#include "rt/task/handle.h"
#include "rt/task/locals.h"
#include "rt/task/name.h"
#include "rt/task/reclaim.h"
#include "rt/task/runtime.h"
#include "rt/task/wake.h"

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
  if (nursery.life().count_out()) wake_owner(worker, nursery);
}

}  // namespace

NurseryRef::NurseryRef(const Worker* worker, Nursery& nursery) noexcept : nursery_(nursery) {
  if (worker != nullptr && is_at_home(nursery, *worker)) return;
  is_announced_ = is_valid_ = nursery.life().visit();
}

template <Path kPath>
bool count_child_in(Worker* worker, Nursery& nursery) noexcept {
  if (kPath == Path::kGeneral && Nursery::is_closing(nursery.alive.load(std::memory_order_acquire))) return false;
  constexpr std::uint64_t kShut = NurseryWord::kClosed | NurseryWord::kCancelled;
  const std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if (kPath == Path::kFast || (worker != nullptr && is_at_home(nursery, *worker))) {
    if ((word & kShut) != 0) [[unlikely]]
      return false;
    ++nursery.local_count;
    return true;
  }
  const NurseryRef ref(worker, nursery);
  return ref.is_valid() && nursery.life().count_in(word);
}
template bool count_child_in<Path::kGeneral>(Worker* worker, Nursery& nursery) noexcept;
template bool count_child_in<Path::kFast>(Worker* worker, Nursery& nursery) noexcept;

namespace {

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

// A record that was never a nursery is all zeroes.
Nursery* take_record(Runtime& runtime, Worker* worker, int* error) noexcept {
  SlabCache* const cache = worker != nullptr ? &worker->nurseries : nullptr;
  auto* nursery = static_cast<Nursery*>(runtime.nurseries.take(cache));
  if (nursery == nullptr)
    nursery = static_cast<Nursery*>(alloc_under_pressure(runtime, runtime.nurseries, cache, false, error));
  if (nursery != nullptr && nursery->runtime == nullptr) {
    nursery->runtime = &runtime;
    nursery->migrated_tasks.reset();
    const std::uint32_t index = runtime.nurseries.index_of(nursery);
    nursery->handle.store(make_handle(runtime, Handled::kNursery, index, index), std::memory_order_relaxed);
  }
  return nursery;
}

// In one store.
[[gnu::always_inline]] inline void set(NurseryTraits& traits, const NurseryTraits& value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  __builtin_memcpy(static_cast<void*>(&traits), &bits, sizeof bits);
}

// Sets what the last use may have left behind, and says how it is to come alive. INVARIANT zeroed-when-free: no
// members, no children and nothing else in `word`, not read, and what clear_leftovers() says.
[[gnu::always_inline]] inline std::uint32_t init_nursery(Nursery& nursery, Account* account,
                                                         NurseryTraits traits) noexcept {
  JANUS_ASSERT(is_zeroed_when_free(nursery) && nursery.runtime != nullptr);
  set(nursery.traits, traits);
  nursery.account = account;
  return traits.draws ? Nursery::kDrawing : Nursery::kAlive;
}

// Who pays for the record while it lives: who opened it.
Account* payer_of_record(const Nursery& nursery) noexcept {
  return nursery.traits.owns_account ? nursery.account->parent() : nursery.account;
}

// The owner's: children that it spawns and ends on this worker are counted with plain arithmetic.
[[gnu::always_inline]] inline void attach_to_owner(Nursery& nursery, Worker& worker, Task& owner,
                                                   std::uint32_t alive) noexcept {
  nursery.owner.store(&owner, std::memory_order_relaxed);
  nursery.owner_worker.store(&worker, std::memory_order_relaxed);
  // What held for the owner holds for its nursery: one walk up the tree serves all below.
  // The epoch first: a cancel of the owner that comes after it moves the epoch on.
  const std::uint64_t clean = owner.nursery->clean_epoch.load(std::memory_order_acquire);
  const bool told = owner.cancel.load(std::memory_order_relaxed) != 0;
  nursery.clean_epoch.store(told ? ~std::uint64_t{0} : clean, std::memory_order_relaxed);
  if (owner.is_published) [[unlikely]]
    owner.is_published = false;
  worker.counters.nurseries_opened.add();
  nursery.alive.store(alive, std::memory_order_release);
}

// What is opened by a task that was told to end is told, too.
void pass_cancel_on(Nursery* nursery, Worker& worker, const Task& owner) noexcept {
  if (nursery != nullptr && owner.is_marked(TaskMarks::kSawCancel)) cancel_nursery(&worker, *nursery);
}

void belong_to_nobody(Nursery& nursery, Runtime& runtime, std::uint32_t alive) noexcept {
  nursery.owner.store(nullptr, std::memory_order_relaxed);
  nursery.owner_worker.store(nullptr, std::memory_order_relaxed);
  nursery.word.store(NurseryWord::kShared, std::memory_order_relaxed);
  nursery.clean_epoch.store(runtime.cancel_epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
  {
    LockGuard guard(runtime.outside_lock);
    link(runtime.outside, nursery);
  }
  nursery.alive.store(alive, std::memory_order_release);
}

}  // namespace

Nursery* open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options, int* error) noexcept {
  Worker* const worker = owner != nullptr ? &current_worker() : worker_of(runtime);
  Account* const payer = owner != nullptr ? owner->account : runtime.root_account;
  *error = kErrorBudget;
  if (!pay_for_record(runtime, payer, sizeof(Nursery))) return nullptr;
  Account* const account = options.budget != nullptr ? open_account(runtime, payer, *options.budget) : payer;
  Nursery* const nursery = account != nullptr ? take_record(runtime, worker, error) : nullptr;
  if (nursery == nullptr) {
    if (account != nullptr && account != payer) runtime.accounts.close(account);
    refund_record(runtime, payer, sizeof(Nursery));
    return nullptr;
  }
  NurseryTraits traits;
  traits.on_error = options.on_error;
  traits.on_exhaustion = options.on_exhaustion;
  traits.owns_account = options.budget != nullptr;
  traits.reclaims_blocks = options.reclaims_blocks;
  traits.draws = account != runtime.root_account;
  traits.has_leftovers = traits.draws || options.name != nullptr;
  const std::uint32_t alive = init_nursery(*nursery, account, traits);
  if (options.name != nullptr) copy_name(nursery->name, options.name);
  if (owner != nullptr) {
    link_current(*owner->frame);
    link(owner->frame->open, *nursery);
    nursery->traits.is_linked = true;
    attach_to_owner(*nursery, *worker, *owner, alive);
    pass_cancel_on(nursery, *worker, *owner);
  } else {
    belong_to_nobody(*nursery, runtime, alive);
    if (worker != nullptr) worker->counters.nurseries_opened.add();
  }
  return nursery;
}

// Whether open_current<kFast>() has all that it takes; a record that never served before has no runtime.
[[gnu::always_inline]] static inline bool is_ready_to_open(Worker& worker, const Task& owner) noexcept {
  const auto* const record = static_cast<const Nursery*>(Slab::hot(worker.nurseries));
  return record != nullptr && record->runtime != nullptr && owner.account == runtime_of(worker).root_account &&
         !owner.is_marked(TaskMarks::kSawCancel);
}

template <Path kPath>
Nursery* open_current(Worker& worker, Task& owner, int* error) noexcept {
  constexpr bool kIsFast = kPath == Path::kFast;
  if (kIsFast && !is_ready_to_open(worker, owner)) [[unlikely]]
    return nullptr;
  Runtime& runtime = runtime_of(worker);
  if constexpr (!kIsFast) {
    *error = kErrorBudget;
    if (!pay_for_record(runtime, owner.account, sizeof(Nursery))) return nullptr;
  }
  Nursery* const nursery =
      kIsFast ? static_cast<Nursery*>(Slab::take_hot(worker.nurseries)) : take_record(runtime, &worker, error);
  if (!kIsFast && nursery == nullptr) {
    refund_record(runtime, owner.account, sizeof(Nursery));
    return nullptr;
  }
  NurseryTraits traits;
  traits.has_current = true;
  traits.draws = traits.has_leftovers = !kIsFast && owner.account != runtime.root_account;
  const std::uint32_t alive = init_nursery(*nursery, owner.account, traits);
  RunFrame& frame = *owner.frame;
  nursery->previous_current = frame.current;
  frame.current = nursery;
  attach_to_owner(*nursery, worker, owner, alive);
  if constexpr (!kIsFast) pass_cancel_on(nursery, worker, owner);
  return nursery;
}
template Nursery* open_current<Path::kGeneral>(Worker& worker, Task& owner, int* error) noexcept;
template Nursery* open_current<Path::kFast>(Worker& worker, Task& owner, int* error) noexcept;

void leave_nursery(Worker& worker, Nursery& nursery) noexcept {
  if (is_at_home(nursery, worker)) [[likely]]
    --nursery.local_count;
  else
    count_out(&worker, nursery);
}

void count_child_out(Worker* worker, Nursery& nursery) noexcept {
  worker != nullptr ? leave_nursery(*worker, nursery) : count_out(nullptr, nursery);
}

void release_pin(Worker* worker, Nursery& nursery) noexcept {
  count_out(worker, nursery);
}

// On the home worker only. One operation moves the count and sets `flags`; the word before it is given back.
std::uint64_t publish_count(Nursery& nursery, std::uint64_t flags) noexcept {
  JANUS_ASSERT(nursery.owner_worker.load(std::memory_order_relaxed) == &current_worker());
  JANUS_ASSERT((nursery.word.load(std::memory_order_relaxed) & NurseryWord::kShared) == 0);
  const std::int64_t children = nursery.local_count;
  nursery.owner_worker.store(nullptr, std::memory_order_relaxed);
  nursery.local_count = 0;
  return nursery.life().share(children, flags);
}

// Oldest first, so that they stand in the order in which they were opened.
[[gnu::noinline]] void link_current(RunFrame& frame) noexcept {
  Nursery* oldest = nullptr;
  for (Nursery* n = frame.current; n != nullptr && !n->traits.is_linked; n = n->previous_current) {
    n->outer = oldest;
    oldest = n;
  }
  while (oldest != nullptr) {
    Nursery& nursery = *oldest;
    oldest = nursery.outer;
    nursery.traits.is_linked = true;
    link(frame.open, nursery);
  }
}

[[gnu::noinline]] void publish_frames(RunFrame& frame) noexcept {
  for (RunFrame* f = &frame; f != nullptr && !f->task->is_published; f = f->outer_frame) {
    Task& task = *f->task;
    task.mark(TaskMarks::kHasMigrated);
    link_current(*f);
    LockGuard guard(task.nursery->lock);
    if (!task.has_migrated.load(std::memory_order_relaxed)) {
      task.nursery->migrated_tasks.push_back(&f->details);
      task.has_migrated.store(true, std::memory_order_relaxed);
    }
    if (Nursery* innermost = f->open) {
      Nursery* outermost = innermost;
      for (Nursery* n = innermost; n != nullptr; n = n->outer) {
        if (n->owner_worker.load(std::memory_order_relaxed) != nullptr) (void)publish_count(*n, 0);
        n->traits.is_published = true;
        outermost = n;
      }
      Nursery*& published = f->details.published;
      outermost->outer = published;
      if (published != nullptr) published->inner = outermost;
      published = innermost;
      f->open = nullptr;
    }
    task.is_published = true;
  }
}

[[gnu::noinline]] void close_nursery(Worker* worker, Nursery& nursery) noexcept {
  const NurseryRef ref(worker, nursery);
  if (!ref.is_valid()) return;
  nursery.life().close();
}

// Its owner's worker looks: children that have ended on it are counted where only it can see them.
void flush_local_count(Worker* worker, Nursery& nursery) noexcept {
  if (worker == nullptr || !is_at_home(nursery, *worker)) return;
  const std::uint64_t word = nursery.word.load(std::memory_order_relaxed);
  if ((word & (NurseryWord::kClosed | NurseryWord::kCancelled)) != 0) (void)publish_count(nursery, 0);
}

bool is_terminal(const Nursery& nursery) noexcept {
  return NurseryWord::is_terminal(nursery.word.load(std::memory_order_acquire));  // pairs with the last count_out
}

NurseryState nursery_state(const Nursery& nursery) noexcept {
  const std::uint64_t word = nursery.word.load(std::memory_order_acquire);
  const bool cancelled = (word & NurseryWord::kCancelled) != 0;
  if (NurseryWord::is_terminal(word)) return cancelled ? NurseryState::kCancelled : NurseryState::kClosed;
  if (cancelled) return NurseryState::kCancelling;
  const bool closing =
      (word & NurseryWord::kClosed) != 0 || Nursery::is_closing(nursery.alive.load(std::memory_order_acquire));
  return closing ? NurseryState::kClosing : NurseryState::kOpen;
}

// In no list any more, and with nothing left over.
void recycle(Worker& worker, Nursery& nursery) noexcept {
  nursery.alive.store(0, std::memory_order_relaxed);
  JANUS_ASSERT(is_zeroed_when_free(nursery));
  worker.counters.nurseries_ended.add();
  runtime_of(worker).nurseries.give(&worker.nurseries, &nursery);
}

// Back to what init_nursery() takes for granted, and out of a list that others read.
[[gnu::noinline, gnu::cold]] static void clear_leftovers(Worker* worker, Nursery& nursery) noexcept {
  Runtime& runtime = *nursery.runtime;
  if (nursery.records != nullptr) release_records(worker, nursery);
  nursery.code = 0;
  nursery.failed_id = 0;
  nursery.errors = 0;
  nursery.outcome = Outcome::kSuccess;
  nursery.name[0] = 0;
  Account* const payer = payer_of_record(nursery);
  if (nursery.traits.owns_account) runtime.accounts.close(nursery.account);
  refund_record(runtime, payer, sizeof(Nursery));
}

[[gnu::noinline]] static void unlink_seen(Nursery& nursery, Task* owner) noexcept {
  if (owner != nullptr) {
    LockGuard guard(owner->nursery->lock);
    unlink(owner->frame->details.published, nursery);
  } else {
    LockGuard guard(nursery.runtime->outside_lock);
    unlink(nursery.runtime->outside, nursery);
  }
}

// Terminal, and in nobody's list: as init_nursery() takes for granted, once the last visitor has left.
static void reset(Nursery& nursery) noexcept {
  nursery.life().reset();
  nursery.local_count = 0;
  nursery.was_read.store(false, std::memory_order_relaxed);
}

void destroy_nursery(Worker* worker, Nursery& nursery) noexcept {
  JANUS_ASSERT(is_terminal(nursery) && Nursery::is_alive(nursery.alive.load(std::memory_order_relaxed)));
  if (nursery.traits.owns_account) [[unlikely]]
    end_local_keys(*nursery.runtime, worker, *nursery.account);
  if (nursery.traits.reclaims_blocks) [[unlikely]] {
    reclaim_blocks(worker, nursery);
    if (worker != nullptr) worker = &current_worker();
  }
  if (nursery.traits.has_leftovers) [[unlikely]] {
    clear_leftovers(worker, nursery);
    if (worker != nullptr) worker = &current_worker();
  }
  Task* const owner = nursery.owner.load(std::memory_order_relaxed);
  if (owner == nullptr || nursery.traits.is_published) [[unlikely]]
    unlink_seen(nursery, owner);
  else
    unlink(owner->frame->open, nursery);
  reset(nursery);
  if (worker != nullptr) return recycle(*worker, nursery);
  nursery.runtime->nurseries.give(nullptr, &nursery);
}

}  // namespace janus
