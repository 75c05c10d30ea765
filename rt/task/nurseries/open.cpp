// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/open.cpp — opening a nursery, and the end of its record.
#include "rt/task/nurseries/open.h"

#include <bit>

#include "rt/task/account/cage_pages.h"
#include "rt/task/account/inherited.h"
#include "rt/task/account/locals.h"
#include "rt/task/account/name.h"
#include "rt/task/account/reclaim.h"
#include "rt/task/nurseries/cap.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/authority.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"
#include "rt/task/wait/nursery_deadline.h"
#include "rt/task/wait/records.h"

namespace janus {

namespace {

// A fresh record, which has never been a nursery, is all zeroes.
[[gnu::cold]] OrError<Nursery*> take_record(Runtime& runtime, Worker* worker) noexcept {
  SlabCache* const cache = worker != nullptr ? &worker->nurseries : nullptr;
  OrError<void*> record = runtime.nurseries.take(cache);
  if (record.value == nullptr) record = alloc_under_pressure(runtime, runtime.nurseries, cache, false);
  if (!record) return Failed{record.error};
  auto* const nursery = static_cast<Nursery*>(record.value);
  if (nursery->runtime == nullptr) {
    nursery->runtime = &runtime;
    nursery->migrated_tasks.reset();
    const std::uint32_t index = runtime.nurseries.index_of(nursery);
    nursery->handle.store(make_handle(runtime, HandleKind::kNursery, index, index), std::memory_order_relaxed);
  }
  return nursery;
}

// Sets all traits in one store.
[[gnu::always_inline]] inline void set(NurseryTraits& traits, const NurseryTraits& value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  __builtin_memcpy(static_cast<void*>(&traits), &bits, sizeof bits);
}

// Sets the fields that a free record may have from its last use, and returns the value for `alive`. INVARIANT
// zeroed-when-free: what is_zeroed_when_free() checks is zero in a free record; clear_leftovers() clears the rare part.
[[gnu::always_inline]] inline std::uint32_t init_nursery(Nursery& nursery, Account* account,
                                                         NurseryTraits traits) noexcept {
  JANUS_ASSERT(is_zeroed_when_free(nursery) && nursery.runtime != nullptr);
  set(nursery.traits, traits);
  std::atomic_ref(nursery.account).store(account, std::memory_order_relaxed);  // is_on_root() may read it late
  return traits.draws || traits.is_confined ? Nursery::kDrawing : Nursery::kAlive;
}

// The account that pays for the nursery's record while it lives: that of the task that opened the nursery.
Account* payer_of_record(const Nursery& nursery) noexcept {
  return nursery.traits.owns_account ? nursery.account->parent() : nursery.account;
}

// What a nursery of `owner` (nullptr: of a thread outside tasks) carries that was given no token. The caller gets a
// reference.
[[gnu::always_inline]] inline Confinement inherited_from(const Runtime& runtime, const Task* owner) noexcept {
  if (owner == nullptr) return {runtime.options.confines_all, nullptr};
  const Confinement to = confinement_of(*owner);
  if (to.cap != nullptr) [[unlikely]]
    hold_cap(*to.cap);
  return to;
}

void give_back(Runtime& runtime, const Confinement& to) noexcept {
  if (to.cap != nullptr) drop_cap(runtime, *to.cap);
}

// Before the nursery is found, which keeps the reference to the token.
[[gnu::always_inline]] inline void confine(NurseryTraits& traits, Nursery& nursery, const Confinement& to) noexcept {
  traits.is_confined = true;
  traits.has_leftovers |= to.cap != nullptr;
  nursery.cap = to.cap;
}

// For a nursery that a task owns: its children that begin and end on this worker are counted with plain arithmetic.
// `clean`: its clean_epoch.
[[gnu::always_inline]] inline void attach_clean(Nursery& nursery, Worker& worker, Task& owner, std::uint32_t alive,
                                                std::uint64_t clean) noexcept {
  nursery.owner.store(&owner, std::memory_order_relaxed);
  nursery.owner_worker.store(&worker, std::memory_order_relaxed);
  nursery.clean_epoch.store(clean, std::memory_order_relaxed);
  worker.counters.nurseries_opened.add();
  nursery.alive.store(alive, std::memory_order_release);
}

// A new nursery takes over the clean_epoch of its owner's nursery, so one walk up the tree serves all tasks below. This
// is read before the owner's `cancel`: a later cancel of the owner increments the epoch.
[[gnu::always_inline]] inline std::uint64_t clean_epoch_of(const Task& owner) noexcept {
  return owner.nursery->clean_epoch.load(std::memory_order_acquire);
}

[[gnu::always_inline]] inline void attach_to_owner(Nursery& nursery, Worker& worker, Task& owner,
                                                   std::uint32_t alive) noexcept {
  const std::uint64_t clean = clean_epoch_of(owner);
  const bool told = owner.cancel.load(std::memory_order_relaxed) != 0;
  if (owner.is_published) [[unlikely]]
    owner.is_published = false;
  attach_clean(nursery, worker, owner, alive, told ? ~std::uint64_t{0} : clean);
}

// Before a nursery can be found whose owner is in a shield or has inherited values. Returns what init_nursery() returns.
std::uint32_t pass_context_on(Nursery& nursery, const Task& owner, std::uint32_t alive) noexcept {
  const std::uint64_t shielded = is_shielded(owner) ? NurseryWord::kShielded | NurseryWord::kOwnersGrace : 0;
  const std::uint64_t passing = has_inherited(owner) ? NurseryWord::kPassing : 0;
  if ((shielded | passing) != 0) nursery.word.store(shielded | passing, std::memory_order_relaxed);
  return passing != 0 ? Nursery::kDrawing : alive;
}

// Cancels a nursery that is opened by a task that was cancelled.
void pass_cancel_on(Nursery* nursery, Worker& worker, Task& owner) noexcept {
  if (nursery != nullptr && owner.is_marked(TaskMarks::kSawCancel) && is_cancelled(owner))
    cancel_nursery(&worker, *nursery, Cause::kParent, Pace::kAtOnce);
}

void belong_to_nobody(Nursery& nursery, Runtime& runtime, std::uint32_t alive) noexcept {
  nursery.owner.store(nullptr, std::memory_order_relaxed);
  nursery.owner_worker.store(nullptr, std::memory_order_relaxed);
  nursery.word.store(NurseryWord::kShared, std::memory_order_relaxed);
  nursery.clean_epoch.store(runtime.cancel_epoch.load(std::memory_order_relaxed), std::memory_order_relaxed);
  {
    LockGuard guard(runtime.outside_lock);
    link_nursery(runtime.outside, nursery);
  }
  nursery.alive.store(alive, std::memory_order_release);
}

}  // namespace

[[gnu::cold]] OrError<Nursery*> open_nursery(Runtime& runtime, Task* owner, const NurseryOptions& options) noexcept {
  Worker* const worker = owner != nullptr ? &current_worker() : worker_of(runtime);
  Account* const payer = owner != nullptr ? owner->account : runtime.root_account;
  Confinement to = {options.cap != nullptr, options.cap};
  if (options.cap == nullptr && !options.is_of_root) to = inherited_from(runtime, owner);
  if (!pay_for_record(runtime, payer, sizeof(Nursery))) {
    give_back(runtime, to);
    return Failed{with_why(kErrorBudget, Why::kMemory)};
  }
  const OrError<Account*> opened =
      options.budget != nullptr ? open_account(runtime, payer, *options.budget, options.hold_ns) : payer;
  Account* const account = opened.value;
  const OrError<Nursery*> taken = opened ? take_record(runtime, worker) : Failed{opened.error};
  if (!taken) {
    if (opened && account != payer) runtime.accounts.close(account);
    refund_record(runtime, payer, sizeof(Nursery));
    give_back(runtime, to);
    return taken;
  }
  Nursery* const nursery = taken.value;
  NurseryTraits traits;
  traits.on_error = options.on_error;
  traits.on_exhaustion = options.on_exhaustion;
  traits.owns_account = options.budget != nullptr;
  traits.reclaims_blocks = options.reclaims_blocks;
  if (Heap::kHasPages && options.reclaims_blocks) account->pay_for_pages();
  traits.draws = account != runtime.root_account;
  traits.has_deadline = options.has_deadline;
  traits.is_gated = options.gate.most != 0;
  traits.has_leftovers = traits.draws || options.name != nullptr || options.has_deadline;
  traits.was_given_cap = options.cap != nullptr;
  if (to.is_confined) confine(traits, *nursery, to);
  const std::uint32_t alive = init_nursery(*nursery, account, traits);
  std::atomic_ref(nursery->gate.most).store(options.gate.most, std::memory_order_relaxed);  // see Nursery::news
  nursery->gate.running = options.gate.running;
  if (options.name != nullptr) copy_name(nursery->name, options.name);
  if (owner != nullptr) {
    link_current(*owner->frame);
    link_nursery(owner->frame->open, *nursery);
    nursery->traits.is_linked = true;
    attach_to_owner(*nursery, *worker, *owner, pass_context_on(*nursery, *owner, alive));
    pass_cancel_on(nursery, *worker, *owner);
  } else {
    belong_to_nobody(*nursery, runtime, alive);
    if (worker != nullptr) worker->counters.nurseries_opened.add();
  }
  return nursery;
}

namespace {

// Whether open_current<kFast>() can proceed. A fresh record has no runtime yet, and needs the general path.
[[gnu::always_inline]] inline bool is_ready_to_open(Worker& worker, const Task& owner) noexcept {
  const auto* const record = static_cast<const Nursery*>(Slab::hot(worker.nurseries));
  return record != nullptr && record->runtime != nullptr && !owner.is_caged() &&
         !owner.is_marked(TaskMarks::kSawCancel | TaskMarks::kHasContext);
}

}  // namespace

namespace {

constexpr NurseryTraits kForkTraits = [] {
  NurseryTraits traits;
  traits.scope = NurseryTraits::kScoped;
  traits.is_linked = true;
  traits.on_error = ErrorPolicy::kCollect;
  return traits;
}();

// Whether a nursery that the task opens may have to be confined or kept in a shield, or is in a cage. In no cage who is confined
// has the mark, too.
bool is_special_opener(const Task& owner) noexcept {
  return owner.is_caged() || owner.is_marked(TaskMarks::kHasContext);
}

// Opens a nursery of the running task, as its current one or for a fork. Fast path: is_ready_to_open() holds.
template <Path kPath, bool kIsFork>
[[gnu::always_inline]] inline OrError<Nursery*> open_scoped(Worker& worker, Task& owner) noexcept {
  constexpr bool kIsFast = kPath == Path::kFast;
  Runtime& runtime = runtime_of(worker);
  const bool is_special = !kIsFast && is_special_opener(owner);
  Confinement to{};
  if (is_special) [[unlikely]]
    to = inherited_from(runtime, &owner);
  if (!kIsFast && !pay_for_record(runtime, owner.account, sizeof(Nursery))) {
    give_back(runtime, to);
    return Failed{with_why(kErrorBudget, Why::kMemory)};
  }
  const OrError<Nursery*> taken =
      kIsFast ? static_cast<Nursery*>(Slab::take_hot(worker.nurseries)) : take_record(runtime, &worker);
  if (!kIsFast && !taken) {
    give_back(runtime, to);
    refund_record(runtime, owner.account, sizeof(Nursery));
    return taken;
  }
  Nursery* const nursery = taken.value;
  NurseryTraits traits = kIsFork ? kForkTraits : NurseryTraits{};
  traits.scope = NurseryTraits::kScoped;
  traits.draws = traits.has_leftovers = is_special && owner.is_caged();
  if (!kIsFast && to.is_confined) confine(traits, *nursery, to);
  std::uint32_t alive = init_nursery(*nursery, owner.account, traits);
  RunFrame& frame = *owner.frame;
  if constexpr (kIsFork) {
    link_nursery(frame.open, *nursery);
  } else {
    std::atomic_ref(nursery->previous_current).store(frame.current, std::memory_order_relaxed);  // see Nursery::news
    frame.current = nursery;
  }
  if (is_special) [[unlikely]]
    alive = pass_context_on(*nursery, owner, alive);
  attach_to_owner(*nursery, worker, owner, alive);
  if constexpr (!kIsFast) pass_cancel_on(nursery, worker, owner);
  return nursery;
}

}  // namespace

template <Path kPath>
OrError<Nursery*> open_current(Worker& worker, Task& owner) noexcept {
  if (kPath == Path::kFast && !is_ready_to_open(worker, owner)) [[unlikely]]
    return nullptr;
  return open_scoped<kPath, false>(worker, owner);
}
template OrError<Nursery*> open_current<Path::kGeneral>(Worker& worker, Task& owner) noexcept;
template OrError<Nursery*> open_current<Path::kFast>(Worker& worker, Task& owner) noexcept;

OrError<Nursery*> open_fork(Worker& worker, Task& owner) noexcept {
  RunFrame& frame = *owner.frame;
  if (frame.current != nullptr) link_current(frame);
  return open_scoped<Path::kGeneral, true>(worker, owner);
}

Nursery* open_fork_fast(Worker& worker, Task& owner, RunFrame& frame) noexcept {
  auto* const nursery = static_cast<Nursery*>(Slab::hot(worker.nurseries));
  if (nursery == nullptr || nursery->runtime == nullptr || owner.is_caged() || frame.current != nullptr) [[unlikely]]
    return nullptr;
  constexpr std::uint8_t kGeneral = TaskMarks::kSawCancel | TaskMarks::kHoldsLocks | TaskMarks::kHasContext;
  if (owner.is_marked_or_published(kGeneral)) [[unlikely]] {
    owner.is_published = false;
    if (owner.is_marked(kGeneral)) return nullptr;
  }
  const std::uint64_t clean = clean_epoch_of(owner);
  if (!arch::cmp_relaxed(owner.cancel, 0)) [[unlikely]]
    return nullptr;
  Slab::take_hot(worker.nurseries, nursery);
  constexpr NurseryTraits kTraits = [] {
    NurseryTraits traits = kForkTraits;
    traits.scope = NurseryTraits::kOwnHalf;
    return traits;
  }();
  const std::uint32_t alive = init_nursery(*nursery, owner.account, kTraits);
  link_nursery(frame.open, *nursery);
  attach_clean(*nursery, worker, owner, alive, clean);
  return nursery;
}

void recycle(Worker& worker, Nursery& nursery) noexcept {
  nursery.alive.store(0, std::memory_order_relaxed);
  JANUS_ASSERT(is_zeroed_when_free(nursery));
  worker.counters.nurseries_ended.add();
  give_record<&Runtime::nurseries, &Worker::nurseries>(worker, &nursery);
}

namespace {

// Restores the state of the record that init_nursery() requires.
[[gnu::noinline, gnu::cold]] void clear_leftovers(Worker* worker, Nursery& nursery) noexcept {
  Runtime& runtime = *nursery.runtime;
  if (nursery.traits.has_deadline) end_deadline(nursery);
  if (nursery.records != nullptr) release_records(worker, nursery);
  nursery.code = 0;
  nursery.failed_id = 0;
  nursery.errors = 0;
  nursery.outcome = Outcome::kSuccess;
  nursery.cause = Cause::kNone;
  nursery.name[0] = 0;
  if (nursery.traits.is_confined) give_back(runtime, {true, nursery.cap});
  Account* const payer = payer_of_record(nursery);
  if (nursery.traits.owns_account) close_account(runtime, nursery.account);
  refund_record(runtime, payer, sizeof(Nursery));
}

// Takes the nursery out of a list that other threads read.
[[gnu::noinline, gnu::cold]] void unlink_seen(Nursery& nursery, Task* owner) noexcept {
  if (owner != nullptr) {
    LockGuard guard(owner->nursery->lock);
    unlink_nursery(owner->frame->details.published, nursery);
  } else {
    LockGuard guard(nursery.runtime->outside_lock);
    unlink_nursery(nursery.runtime->outside, nursery);
  }
}

// For a terminal nursery in no list: waits until the last visitor has left, and restores what init_nursery() requires.
void reset(Nursery& nursery) noexcept {
  nursery.life().reset();
  nursery.local_count = 0;
  nursery.was_read.store(false, std::memory_order_relaxed);
  nursery.cancel_cause.store(Cause::kNone, std::memory_order_relaxed);
}

}  // namespace

[[gnu::noinline, gnu::cold]] void destroy_nursery(Worker* worker, Nursery& nursery) noexcept {
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
    unlink_nursery(owner->frame->open, nursery);
  reset(nursery);
  if (worker != nullptr) return recycle(*worker, nursery);
  nursery.runtime->nurseries.give(nullptr, &nursery);
}

}  // namespace janus
