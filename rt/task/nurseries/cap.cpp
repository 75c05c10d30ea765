// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/cap.cpp — see cap.h. Linked into programs that call janus_cap_root or janus_cap_derive
// (rt/optional.h). docs/decisions/0340
#include "rt/task/nurseries/cap.h"

#include <bit>
#include <new>

#include "rt/task/account/cage_pages.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/record/why.h"
#include "rt/task/wait/records.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

struct CapTable {
  Slab records;
  RankedLock<LockRank::kCaps> lock;
  Cap* outside;  // derived by threads outside tasks
  Cap* root;
};

namespace {

constexpr std::uint64_t kReference = 1;
constexpr std::uint32_t kReferences = 0xffffffff;
constexpr std::size_t kTableBytes = (sizeof(CapTable) + 4095) & ~std::size_t{4095};

// The table is made when it is first needed. nullptr: there is no memory.
CapTable* table_of(Runtime& runtime) noexcept {
  CapTable* table = runtime.caps.load(std::memory_order_acquire);  // pairs with the exchange
  if (table != nullptr) return table;
  std::byte* const pages = platform::map(kTableBytes);
  if (pages == nullptr) return nullptr;
  auto* const fresh = new (pages) CapTable{};
  if (fresh->records.init(sizeof(Cap))) {
    fresh->records.charge_to(runtime.pool_charge);
    if (runtime.caps.compare_exchange_strong(table, fresh, std::memory_order_acq_rel)) return fresh;
    fresh->records.destroy();
  }
  platform::unmap(pages, kTableBytes);
  return table;
}

std::uint64_t bytes_of(const Runtime& runtime, bool owns_limit) noexcept {
  return sizeof(Cap) + (owns_limit ? runtime.accounts.bytes_of_record() : 0);
}

// Gives an unused record its token, with one reference. The caller has set the limit, and has found the token above in
// force, so this one is in force as long as that was found to be.
void init_cap(const Runtime& runtime, CapTable& table, Cap& cap, Cap* parent, std::uint8_t rights) noexcept {
  cap.life.parent = parent != nullptr ? &parent->life : nullptr;
  const std::uint64_t clean =
      parent != nullptr ? parent->life.clean_epoch.load(std::memory_order_relaxed) : CapLife::kNever;
  cap.life.clean_epoch.store(clean, std::memory_order_relaxed);
  cap.life.is_revoked.store(0, std::memory_order_relaxed);
  cap.life.rights = rights;
  cap.life.depth = parent != nullptr ? static_cast<std::uint8_t>(parent->life.depth + 1) : 0;
  const std::uint32_t index = table.records.index_of(&cap);
  const std::uint64_t number = std::uint64_t{++cap.life.generation} << kIndexBits | index;
  const std::uint64_t secret = make_handle(runtime, HandleKind::kCap, number, index) >> 32;
  cap.secret_and_references.store(secret << 32 | kReference, std::memory_order_release);  // pairs with find_cap()
}

void link(Cap*& first, Cap& cap) noexcept {
  cap.next = first;
  cap.link = &first;
  if (first != nullptr) first->link = &cap.next;
  first = &cap;
}

// False: it is in no list.
bool unlink(Cap& cap) noexcept {
  if (cap.link == nullptr) return false;
  *cap.link = cap.next;
  if (cap.next != nullptr) cap.next->link = cap.link;
  cap.link = nullptr;
  return true;
}

// Ends the token's rights, and gives back its limit. False: that was done before.
bool end_rights(Runtime& runtime, Cap& cap) noexcept {
  if (!cap.life.revoke(runtime.revoke_epoch)) return false;
  if (cap.life.owns_limit) close_account(runtime, cap.limit);
  return true;
}

OrError<Cap*> take_record(Runtime& runtime, CapTable& table, bool has_paid) noexcept {
  OrError<void*> record = table.records.take(nullptr);
  if (record.value == nullptr) record = alloc_under_pressure(runtime, table.records, nullptr, has_paid);
  if (record && table.records.index_of(record.value) >= kIndexMask) {  // handles have no more indices
    table.records.give(nullptr, record.value);
    record = Failed{kErrorNoMemory};
  }
  if (!record) return Failed{record.error};
  return static_cast<Cap*>(record.value);
}

// The account of the new token's limit, with a reference: `from` itself, or a new one below it.
OrError<Account*> take_limit(Runtime& runtime, Account* from, bool has_drawn, const Amounts* limit) noexcept {
  Account* account = from;
  if (limit != nullptr) {
    if (from->depth() >= kMaxBudgetsAbove) return Failed{with_why(kErrorBudget, Why::kBudgetsTooDeep)};
    Component short_of{};
    account = runtime.accounts.open_paid(from, has_drawn, *limit, &short_of);
    if (account == nullptr) return Failed{with_why(kErrorBudget, why_short_of(short_of))};
  }
  runtime.accounts.retain(account);
  return account;
}

}  // namespace

std::uint64_t handle_of(const Runtime& runtime, const Cap& cap) noexcept {
  const std::uint64_t secret = cap.secret_and_references.load(std::memory_order_relaxed) >> 32;
  const std::uint32_t index = runtime.caps.load(std::memory_order_relaxed)->records.index_of(&cap);
  return secret << 32 | runtime.number << kIndexBits | (index + 1);
}

Cap* root_cap(Runtime& runtime) noexcept {
  CapTable* const table = table_of(runtime);
  if (table == nullptr) return nullptr;
  LockGuard guard(table->lock);
  if (table->root != nullptr) return table->root;
  const OrError<Cap*> taken = take_record(runtime, *table, false);
  if (!taken) return nullptr;
  Cap& root = *taken.value;
  root.link = nullptr;
  root.limit = root.payer = runtime.root_account;
  root.life.owns_limit = false;
  init_cap(runtime, *table, root, nullptr, kAllRights);
  return table->root = &root;
}

Cap* find_cap(Worker* caller, Runtime& runtime, std::uint64_t handle) noexcept {
  CapTable* const table = runtime.caps.load(std::memory_order_acquire);
  auto* const cap = table != nullptr && runtime_number_of(handle) == runtime.number
                        ? static_cast<Cap*>(table->records.at(index_of_handle(handle)))
                        : nullptr;
  if (cap == nullptr) return nullptr;
  std::uint64_t seen = cap->secret_and_references.load(std::memory_order_relaxed);
  do {
    if (seen >> 32 != handle >> 32 || static_cast<std::uint32_t>(seen) == 0) {
      pay_for_guess(caller);
      return nullptr;
    }
    if (static_cast<std::uint32_t>(seen) == kReferences) return nullptr;
    // Acquire: pairs with init_cap().
  } while (!cap->secret_and_references.compare_exchange_weak(seen, seen + kReference, std::memory_order_acquire,
                                                             std::memory_order_relaxed));
  return cap;
}

// The last reference to a token may be the last but one to that above it.
void drop_cap(Runtime& runtime, Cap& cap) noexcept {
  for (Cap* last = &cap; last != nullptr;) {
    // Release and acquire: what others did with the record happens before it serves another token.
    const std::uint64_t before = last->secret_and_references.fetch_sub(kReference, std::memory_order_acq_rel);
    JANUS_CHECK(static_cast<std::uint32_t>(before) != 0);
    if (static_cast<std::uint32_t>(before) != 1) return;
    Cap* const above = parent_of(*last);
    Account* const payer = last->payer;
    const std::uint64_t bytes = bytes_of(runtime, last->life.owns_limit);
    runtime.accounts.release(last->limit);
    runtime.caps.load(std::memory_order_relaxed)->records.give(nullptr, last);
    refund_record(runtime, payer, bytes);
    last = above;
  }
}

OrError<Cap*> derive_cap(Runtime& runtime, Task* deriver, Cap& parent, std::uint8_t rights, Account* from,
                         const Amounts* limit) noexcept {
  if (parent.life.depth >= kMaxCapDepth) return Failed{with_why(kErrorBudget, Why::kCapsTooDeep)};
  CapTable& table = *runtime.caps.load(std::memory_order_relaxed);
  Account* const payer = deriver != nullptr ? deriver->account : runtime.root_account;
  const std::uint64_t bytes = bytes_of(runtime, limit != nullptr);
  if (!pay_for_record(runtime, payer, bytes)) return Failed{with_why(kErrorBudget, Why::kMemory)};
  const bool has_drawn = payer != runtime.root_account;
  const OrError<Cap*> taken = take_record(runtime, table, has_drawn);
  const OrError<Account*> account =
      taken ? take_limit(runtime, from, has_drawn, limit) : OrError<Account*>(Failed{taken.error});
  if (!account) {
    if (taken) table.records.give(nullptr, taken.value);
    refund_record(runtime, payer, bytes);
    return Failed{account.error};
  }
  Cap& cap = *taken.value;
  cap.limit = account.value;
  cap.payer = payer;
  cap.life.owns_limit = limit != nullptr;
  hold_cap(parent);
  init_cap(runtime, table, cap, &parent, rights & parent.life.rights);
  if (deriver != nullptr) {
    deriver->mark(TaskMarks::kHasContext);
    deriver->frame->details.context |= RunDetails::kHasCaps;
  }
  LockGuard guard(table.lock);
  link(deriver != nullptr ? deriver->frame->details.derived : table.outside, cap);
  return &cap;
}

bool revoke_cap(Runtime& runtime, Cap& cap) noexcept {
  if (!end_rights(runtime, cap)) return false;
  CapTable& table = *runtime.caps.load(std::memory_order_relaxed);
  bool was_linked;
  {
    LockGuard guard(table.lock);
    was_linked = unlink(cap);
  }
  if (was_linked) drop_cap(runtime, cap);
  return true;
}

// ---- Of a task ------------------------------------------------------------------------------------------------------

namespace {

// The function of a task that has to learn of its token first. The task's own function is in `result`, which is not used
// before the end of the task, and its token in `record_next`.
std::int64_t start_with_context(void* arg) noexcept {
  Task& self = *current_task(current_worker());
  Cap* const own = reinterpret_cast<Cap*>(self.record_next);
  self.fn = std::bit_cast<TaskFn>(self.result);
  self.mark(TaskMarks::kHasContext);
  self.frame->details.context |= RunDetails::kHasCaps;
  self.frame->details.cap = own;
  return self.fn(arg);
}

}  // namespace

void give_context(Task& task, Cap* own) noexcept {
  task.result = std::bit_cast<std::int64_t>(task.fn);
  task.record_next = reinterpret_cast<Task*>(own);
  task.fn = start_with_context;
}

void drop_context(Task& task) noexcept {
  if (task.fn != start_with_context) return;
  task.fn = std::bit_cast<TaskFn>(task.result);
  if (task.record_next != nullptr) drop_cap(*task.nursery->runtime, *reinterpret_cast<Cap*>(task.record_next));
}

void end_caps(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  RunDetails& details = task.frame->details;
  if ((details.context & RunDetails::kHasCaps) == 0) return;
  CapTable& table = *runtime.caps.load(std::memory_order_relaxed);
  for (unsigned ended = 1;; ++ended) {
    Cap* cap;
    {
      LockGuard guard(table.lock);
      cap = details.derived;
      if (cap == nullptr) break;
      (void)unlink(*cap);
    }
    take_fuel_unchecked(current_worker(), price::kRevoke);
    (void)end_rights(runtime, *cap);
    drop_cap(runtime, *cap);
    if (ended % price::kRecordsAtOnce == 0) let_others_run(task);
  }
  if (Cap* const own = details.cap) drop_cap(runtime, *own);
  details.cap = nullptr;
  details.context &= static_cast<std::uint8_t>(~RunDetails::kHasCaps);
  look_at_context(task);
}

void destroy_caps(Runtime& runtime) noexcept {
  CapTable* const table = runtime.caps.load(std::memory_order_relaxed);
  if (table == nullptr) return;
  table->records.destroy();
  platform::unmap(reinterpret_cast<std::byte*>(table), kTableBytes);
}

}  // namespace janus
