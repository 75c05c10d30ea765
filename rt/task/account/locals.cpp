// SPDX-License-Identifier: Apache-2.0
// rt/task/account/locals.cpp — task-local values. docs/decisions/0243
#include "rt/task/account/locals.h"

#include "rt/task/account/group.h"
#include "rt/task/account/local_key.h"
#include "rt/task/account/memory.h"
#include "rt/task/record/nursery.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

constexpr unsigned kKeyBits = 10;
static_assert(1u << kKeyBits == kLocalKeys);
constexpr unsigned kEntries = 32;  // entries in a page of a task's table
constexpr unsigned kPages = kLocalKeys / kEntries;
constexpr std::size_t kDeposit = 64;  // bytes of memory that a key costs a maker in a cage
// A cage gets a key while it has less than an eighth as many as there are free places. With kPlenty, that always holds.
constexpr std::uint32_t kPartOfFree = 8;
constexpr std::uint32_t kPlenty =
    kLocalKeys - kReservedLocalKeys - (kLocalKeys - kReservedLocalKeys) / (kPartOfFree + 1);
constexpr std::int64_t kOpsToCount = 8;  // the price of counting a cage's keys
constexpr std::uint32_t kMaxUses = (std::uint32_t{1} << (32 - kKeyBits)) - 1;

unsigned place_of(std::uint32_t key) noexcept {
  return key % kLocalKeys;
}

// The state of one place for a key. Written under the lock; only `local` and `is_inherited` are read without it.
struct KeyPlace {
  LocalKey local;
  Atomic<bool> is_inherited{false};  // set before the key is published
  std::uint32_t uses = 0;            // number of keys so far; at kMaxUses the place gets no more, so no key repeats
  // Index of the account that paid the deposit; 0: none was paid, as the maker is on the root's account.
  std::uint32_t account = 0;
  std::uint64_t runtime = 0;  // handle_key[0] of that account's runtime, which identifies the runtime
  void* deposit = nullptr;    // the block that was allocated as the deposit
  std::uint32_t group = 0;    // index of the account of the maker's outermost cage, if it is in one
  std::uint32_t next_free = 0;
};
constinit RankedLock<LockRank::kLocalKeys> local_keys_lock;
constinit KeyPlace local_keys[kLocalKeys];

// Places that have no key and may get one. Under the lock.
struct FreePlaces {
  std::uint32_t first;  // the place that was given back last; 0: none, since place 0 is never in this list
  std::uint32_t fresh;  // places from here to `end` were never given out
  std::uint32_t end;
  std::uint32_t count;

  // Precondition: there is one.
  std::uint32_t take() noexcept {
    --count;
    if (first == 0) return fresh++;
    const std::uint32_t place = first;
    first = local_keys[place].next_free;
    return place;
  }
  void give(std::uint32_t place) noexcept {
    local_keys[place].next_free = first;
    first = place;
    ++count;
  }
};
constinit FreePlaces free_keys_of_root = {0, 1, kReservedLocalKeys, kReservedLocalKeys - 1};
constinit FreePlaces free_keys_of_all = {0, kReservedLocalKeys, kLocalKeys, kLocalKeys - kReservedLocalKeys};

// Whether the task is in a cage, and so pays for its share of process-wide keys.
bool has_to_pay(const Task* task) noexcept {
  return task != nullptr && task->is_caged();
}

// Under the lock: ends the place's key. Returns the deposit, which may be nullptr.
void* clear(KeyPlace& place) noexcept {
  const std::uint32_t number = place_of(place.local.key());
  if (place.uses != kMaxUses) (number < kReservedLocalKeys ? free_keys_of_root : free_keys_of_all).give(number);
  place.local.clear();
  void* const deposit = place.deposit;
  place.deposit = nullptr;
  return deposit;
}

// Clears the first key from `place` on that the account has paid for. Returns its deposit; nullptr: there is none.
void* clear_next_of(const Runtime& runtime, const Account& account, unsigned& place) noexcept {
  LockGuard guard(local_keys_lock);
  for (; place < kLocalKeys; ++place) {
    KeyPlace& each = local_keys[place];
    if (each.deposit != nullptr && each.account == account.index() && each.runtime == runtime.handle_key[0])
      return clear(each);
  }
  return nullptr;
}

}  // namespace

// The values of one task: pages of entries, made when they are first needed.
struct LocalTable {
  struct Entry {
    std::uint32_t key;  // with which the value was set; the place may have another key by now
    void* value;
  };
  Entry* pages[kPages];
};

namespace {

// Under the lock: counts the group's keys in the places that all groups share.
std::uint32_t count_keys_of(const Runtime& runtime, const Account& group) noexcept {
  std::uint32_t count = 0;
  for (unsigned place = kReservedLocalKeys; place < free_keys_of_all.fresh; ++place) {
    const KeyPlace& each = local_keys[place];
    count += each.deposit != nullptr && each.group == group.index() && each.runtime == runtime.handle_key[0] ? 1 : 0;
  }
  return count;
}

// Called under the lock: whether a task of the group may get a place; the task pays for the check. When many are taken,
// a group may have only a fraction of the number of free places, so that later groups find some, too.
bool has_place_for(const Runtime& runtime, const Account* group) noexcept {
  if (free_keys_of_all.count == 0) return false;
  if (group == nullptr || free_keys_of_all.count >= kPlenty) return true;
  take_fuel_unchecked(current_worker(), kOpsToCount);
  return count_keys_of(runtime, *group) * kPartOfFree < free_keys_of_all.count;
}

}  // namespace

OrError<std::uint32_t> new_local(Task* task, void (*destroy)(void*), bool is_inherited) noexcept {
  const bool pays = has_to_pay(task);
  Runtime* const runtime = pays ? task->nursery->runtime : nullptr;
  const Account* const group = pays ? group_of(task) : nullptr;
  const OrError<void*> deposit = pays ? allocate_own(*runtime, &current_worker(), task, kDeposit) : nullptr;
  if (!deposit) return Failed{deposit.error};
  {
    LockGuard guard(local_keys_lock);
    FreePlaces& places = pays || free_keys_of_root.count == 0 ? free_keys_of_all : free_keys_of_root;
    if (pays ? has_place_for(*runtime, group) : places.count != 0) {
      const std::uint32_t place = places.take();
      KeyPlace& free = local_keys[place];
      free.account = pays ? task->account->index() : 0;
      free.group = group != nullptr ? group->index() : 0;
      free.runtime = pays ? runtime->handle_key[0] : 0;
      free.deposit = deposit.value;
      free.is_inherited.store(is_inherited, std::memory_order_relaxed);
      const std::uint32_t key = ++free.uses << kKeyBits | place;
      free.local.publish(key, destroy);
      return key;
    }
  }
  if (pays) release_own(*runtime, &current_worker(), deposit.value);
  return Failed{kErrorNoMemory};
}

int delete_local(const Task* task, std::uint32_t key) noexcept {
  void* deposit = nullptr;
  {
    LockGuard guard(local_keys_lock);
    KeyPlace& place = local_keys[place_of(key)];
    if (key == 0 || place.local.key() != key) return kErrorInvalid;
    const bool is_here = task != nullptr && place.runtime == task->nursery->runtime->handle_key[0];
    if (has_to_pay(task) && !(is_here && place.account == task->account->index())) return kErrorNoCap;
    deposit = clear(place);
    if (!is_here) deposit = nullptr;  // that runtime frees the deposit when it ends
  }
  if (deposit != nullptr) release_own(*task->nursery->runtime, &current_worker(), deposit);
  return 0;
}

void end_local_keys(Runtime& runtime, Worker* worker, const Account& account) noexcept {
  if (runtime.accounts.held(&account) < kDeposit) return;  // a key would have a deposit
  unsigned place = kReservedLocalKeys;
  while (void* const deposit = clear_next_of(runtime, account, place)) release_own(runtime, worker, deposit);
}

bool is_local(std::uint32_t key) noexcept {
  return key != 0 && local_keys[place_of(key)].local.key() == key;
}

LocalKey::Destroy destructor_of(std::uint32_t key) noexcept {
  return local_keys[place_of(key)].local.destructor_of(key);
}

bool is_inherited(std::uint32_t key) noexcept {
  return local_keys[place_of(key)].is_inherited.load(std::memory_order_relaxed);
}

void* get_local(const Task& task, std::uint32_t key) noexcept {
  if (!task.is_marked(TaskMarks::kHasLocals) || !is_local(key)) return nullptr;
  const LocalTable::Entry* const page = task.frame->details.locals->pages[place_of(key) / kEntries];
  if (page == nullptr) return nullptr;
  const LocalTable::Entry& entry = page[place_of(key) % kEntries];
  return entry.key == key ? entry.value : nullptr;
}

int set_local(Task& task, std::uint32_t key, void* value) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  if (!task.is_marked(TaskMarks::kHasLocals)) {
    const OrError<void*> table = allocate_own(runtime, &current_worker(), &task, sizeof(LocalTable));
    if (!table) return table.error;
    __builtin_memset(table.value, 0, sizeof(LocalTable));
    task.mark(TaskMarks::kHasLocals);
    task.frame->details.locals = static_cast<LocalTable*>(table.value);
  }
  LocalTable::Entry*& page = task.frame->details.locals->pages[place_of(key) / kEntries];
  if (page == nullptr) {
    constexpr std::size_t kPageBytes = kEntries * sizeof(LocalTable::Entry);
    const OrError<void*> entries = allocate_own(runtime, &current_worker(), &task, kPageBytes);
    if (!entries) return entries.error;
    __builtin_memset(entries.value, 0, kPageBytes);
    page = static_cast<LocalTable::Entry*>(entries.value);
  }
  page[place_of(key) % kEntries] = {key, value};
  return 0;
}

bool destroy_locals(Task& task) noexcept {
  bool was_any = false;
  for (unsigned place = 0; place < kLocalKeys; ++place) {
    // Read again each time: a destructor may have set a value that needed another page.
    LocalTable::Entry* const page = task.frame->details.locals->pages[place / kEntries];
    if (page == nullptr) {
      place |= kEntries - 1;
      continue;
    }
    LocalTable::Entry& entry = page[place % kEntries];
    void* const value = entry.value;
    entry.value = nullptr;
    if (value == nullptr) continue;
    const LocalKey::Destroy destroy = destructor_of(entry.key);
    if (destroy == nullptr) continue;
    destroy(value);
    was_any = true;
  }
  return was_any;
}

void free_locals(Task& task) noexcept {
  Runtime& runtime = *task.nursery->runtime;
  Worker& worker = current_worker();
  LocalTable* const table = task.frame->details.locals;
  for (LocalTable::Entry* page : table->pages)
    if (page != nullptr) release_own(runtime, &worker, page);
  release_own(runtime, &worker, table);
  task.frame->details.locals = nullptr;
}

}  // namespace janus
