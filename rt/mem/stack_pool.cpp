// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/stack_pool.h"

#include <bit>

#include "rt/budget/pool_charge.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr std::uintptr_t kToBuild = 1;  // bit 0 of an item: the record is still to be built
constexpr std::size_t table_bytes(std::uint32_t slabs) {
  return round_up(slabs * sizeof(void*), kPageBytes);
}

// How many a worker's cache holds of a class: the larger the stack, the more memory may lie in it.
constexpr std::uint8_t kDepths[kStackClasses] = {64, 32, 16, 16, 8, 8, 4, 4};
constexpr std::uint8_t kLeastDepth = 2;
// Of the memory that there is, all caches of a class together may hold a sixteenth, and roomy stacks be an eighth.
constexpr std::uint64_t kCachedShare = 16;
constexpr std::uint64_t kRoomyShare = 8;
// Idle warm stacks that are kept in any case: 8 MiB by their nominal size.
constexpr std::size_t least_reserve(unsigned size_class) noexcept {
  return (std::size_t{8} << 20) / stack_class_bytes(size_class);
}
// The first slab of a class is small, the next ones double.
constexpr std::uint32_t first_slab_stacks(unsigned size_class) noexcept {
  const std::size_t fitting = (std::size_t{2} << 20) / stack_stride(size_class);
  return static_cast<std::uint32_t>(fitting < 4 ? 4 : fitting > kBankStacks ? kBankStacks : fitting);
}

// So many stacks out that more of them will be wanted soon.
constexpr std::size_t kMany = 1024;

constexpr std::uint64_t mask_of(unsigned count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// The lowest `wanted` of `bits` go to items, marked with `mark`, so that the last is the lowest: they go out by rising
// address. Which ones they were comes back.
std::uint64_t pick(StackBank* bank, std::uint64_t bits, std::uintptr_t mark, std::uintptr_t* items, unsigned wanted,
                   unsigned& count) noexcept {
  StackSlab* slab = slab_of(bank);
  const unsigned there = count_ones(bits);
  count = there < wanted ? there : wanted;
  std::uint64_t picked = 0;
  for (unsigned left = count; left-- != 0; bits &= bits - 1) {
    const unsigned n = static_cast<unsigned>(std::countr_zero(bits));
    picked |= bits & -bits;
    items[left] = address_of(slab->record_of(bank->number * kBankStacks + n)) | mark;
  }
  return picked;
}

// A stack's record, and what will be written of its top until a task waits on it, have long left the cache.
constexpr unsigned kTopsAhead = 8;
constexpr int kTopLines = 14;
void fetch_top(std::uintptr_t item) noexcept {
  const char* const record = reinterpret_cast<const char*>(item & ~kToBuild);
  for (int line = 0; line < kTopLines; ++line) __builtin_prefetch(record - 64 * line, 1);
}

void add(std::atomic<std::size_t>& sum, std::size_t n) noexcept {
  sum.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

// --- Life ------------------------------------------------------------------------------------------------------------

bool StackPool::init() noexcept {
  std::byte* table = platform::map(table_bytes(kMaxSlabs));
  if (table == nullptr) return false;
  slabs_ = reinterpret_cast<std::atomic<StackSlab*>*>(table);
  // Unguessable where there is entropy; an overflow by accident is found without.
  if (!platform::entropy(&canary_key_, sizeof canary_key_)) canary_key_ = address_of(table) * 0x9e3779b97f4a7c15u;
  mappings_.store(1, std::memory_order_relaxed);
  mapped_.store(table_bytes(kMaxSlabs), std::memory_order_relaxed);
  for (unsigned c = 0; c < kStackClasses; c++) {
    shelves_[c].next_count = first_slab_stacks(c);
    depths_[c] = kDepths[c];
  }
  return true;
}

void StackPool::charge_to(Footprint& footprint, std::uint64_t memory, unsigned workers) noexcept {
  footprint_ = &footprint;
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint64_t fitting = memory / (kCachedShare * workers * stack_class_bytes(c));
    if (fitting < depths_[c]) depths_[c] = fitting < kLeastDepth ? kLeastDepth : static_cast<std::uint8_t>(fitting);
  }
  const std::uint64_t roomy = memory / (kRoomyShare * stack_class_bytes(kRoomyClass));
  if (roomy < most_roomy_) most_roomy_ = roomy;
}

void StackPool::destroy() noexcept {
  if (slabs_ == nullptr) return;
  const std::uint32_t count = slab_count_.load(std::memory_order_relaxed);
  for (std::uint32_t n = 0; n < count; n++) {
    StackSlab* slab = slabs_[n].load(std::memory_order_relaxed);
    for (std::uint32_t b = 0; on_cold_ != nullptr && b * kBankStacks < slab->prepared.load(std::memory_order_relaxed);
         b++)
      for (std::uint64_t left = slab->banks()[b].free & slab->banks()[b].warm; left != 0; left &= left - 1)
        on_cold_(slab->record_of(b * kBankStacks + static_cast<unsigned>(std::countr_zero(left))));
    platform::unmap(reinterpret_cast<std::byte*>(slab), slab->bytes);
  }
  platform::unmap(reinterpret_cast<std::byte*>(slabs_), table_bytes(kMaxSlabs));
  slabs_ = nullptr;
  slab_count_.store(0, std::memory_order_relaxed);
  for (Shelf& shelf : shelves_) {
    for (BankList& banks : shelf.lists) banks = {};
    shelf.growing = nullptr;
    shelf.warm = 0;
    shelf.out.store(0, std::memory_order_relaxed);
    shelf.most.store(0, std::memory_order_relaxed);
  }
  for (auto* figure : {&guards_, &unguarded_, &mappings_, &mapped_}) figure->store(0, std::memory_order_relaxed);
}

// --- The owner's side ------------------------------------------------------------------------------------------------

Stack* StackPool::take(StackCache* cache, unsigned size_class) noexcept {
  if (cache == nullptr) [[unlikely]] {
    Items item;
    return fetch(size_class, item, 1) == 0 ? nullptr : build(item[0]);
  }
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == 0) [[unlikely]] {
    link(*cache);
    have = fetch(size_class, reinterpret_cast<Items&>(*items), depths_[size_class] / 2u);
    if (have == 0) return nullptr;
    for (unsigned n = 0; n < kTopsAhead && n < have; ++n) fetch_top(items[have - 1 - n]);
  }
  if (have > kTopsAhead) fetch_top(items[have - 1 - kTopsAhead]);
  count.store(have - 1, std::memory_order_relaxed);
  const std::uintptr_t item = items[have - 1];
  return (item & kToBuild) == 0 ? reinterpret_cast<Stack*>(item) : build(item);
}

[[gnu::noinline, gnu::cold]] Stack* StackPool::take_scarce(StackCache* cache, unsigned size_class, Due due) noexcept {
  if (trim())
    if (Stack* const stack = take(cache, size_class)) return stack;
  if (due == Due::kUnpaid || footprint_ == nullptr || !footprint_->owe(stack_class_bytes(size_class))) return nullptr;
  Items item;
  return fetch_paid(size_class, item, 1) == 0 ? nullptr : build(item[0]);
}

void StackPool::give(StackCache* cache, Stack* stack) noexcept {
  const unsigned size_class = stack->size_class;
  const std::uintptr_t item = address_of(stack);
  if (cache == nullptr) [[unlikely]]
    return put_back(size_class, &item, 1);
  if (cache->home_ == nullptr) [[unlikely]]
    link(*cache);
  std::atomic<std::uint32_t>& count = cache->counts_[size_class];
  std::uint32_t have = count.load(std::memory_order_relaxed);
  std::uintptr_t* items = cache->lists_[size_class].items;
  if (have == depths_[size_class]) [[unlikely]] {
    // The older half goes; the younger is warmer.
    const unsigned half = have / 2;
    put_back(size_class, items, half);
    for (unsigned n = half; n < have; n++) items[n - half] = items[n];
    have -= half;
  }
  items[have] = item;
  count.store(have + 1, std::memory_order_relaxed);
}

void StackPool::flush(StackCache& cache) noexcept {
  if (cache.home_ == nullptr) return;
  for (unsigned c = 0; c < kStackClasses; c++) {
    const std::uint32_t have = cache.counts_[c].load(std::memory_order_relaxed);
    cache.counts_[c].store(0, std::memory_order_relaxed);
    put_back(c, cache.lists_[c].items, have);
  }
  unlink(cache);
}

Stack* StackPool::build(std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  if ((item & kToBuild) == 0) return stack;
  StackSlab* slab = slab_at(stack);
  return slab->build(slab->index_at(stack));
}

// --- Out of the shared pool ------------------------------------------------------------------------------------------

// Warm ones if there are any; others have to be paid for, since they will have pages.
unsigned StackPool::fetch(unsigned size_class, Items& items, unsigned wanted) noexcept {
  Shelf& shelf = shelves_[size_class];
  unsigned count = 0;
  {
    LockGuard guard(shelf.lock);
    count = fetch_warm(shelf, items, wanted);
  }
  if (count != 0) return count_out(shelf, count), count;
  const unsigned paid = pay_for(size_class, wanted);
  return paid != 0 ? fetch_paid(size_class, items, paid) : 0;
}

// Cold ones, else new ones: up to `count`, for which somebody has paid. What is not to be had is paid back.
unsigned StackPool::fetch_paid(unsigned size_class, Items& items, unsigned count) noexcept {
  Shelf& shelf = shelves_[size_class];
  unsigned got = 0;
  {
    LockGuard guard(shelf.lock);
    got = fetch_cold(shelf, items, count);
  }
  if (got == 0) got = fetch_unprepared(size_class, items, count);
  pay_back(size_class, count - got);
  count_out(shelf, got);
  if (got > 1 && shelf.out.load(std::memory_order_relaxed) > kMany) populate(items, got);
  return got;
}

// Of one bank. With many out it is likely that these will be wanted, too, and a page costs less so than by a fault.
void StackPool::populate(const Items& items, unsigned count) noexcept {
  StackSlab* const slab = slab_at(reinterpret_cast<const void*>(items[0] & ~kToBuild));
  std::uint64_t which = 0;
  std::uint32_t index = 0;
  for (unsigned n = 0; n < count; ++n) {
    index = slab->index_at(reinterpret_cast<const void*>(items[n] & ~kToBuild));
    which |= std::uint64_t{1} << index % kBankStacks;
  }
  slab->populate(slab->banks()[index / kBankStacks], which);
}

// As many as are wanted, or as the payer can afford.
unsigned StackPool::pay_for(unsigned size_class, unsigned wanted) noexcept {
  if (footprint_ == nullptr) return wanted;
  while (wanted != 0 && !footprint_->grow(wanted * stack_class_bytes(size_class))) wanted /= 2;
  return wanted;
}

void StackPool::pay_back(unsigned size_class, unsigned count) noexcept {
  if (footprint_ != nullptr && count != 0) footprint_->shrink(count * stack_class_bytes(size_class));
}

void StackPool::count_out(Shelf& shelf, unsigned count) noexcept {
  add(shelf.out, count);
  const std::size_t out = shelf.out.load(std::memory_order_relaxed);
  if (out > shelf.most.load(std::memory_order_relaxed)) shelf.most.store(out, std::memory_order_relaxed);
}

// Of the bank that was last given one. One bank's suffice.
unsigned StackPool::fetch_warm(Shelf& shelf, Items& items, unsigned wanted) noexcept {
  StackBank* const bank = shelf.lists[StackBank::kWarm].first;
  if (bank == nullptr) return 0;
  unsigned count = 0;
  bank->free &= ~pick(bank, bank->free & bank->warm, 0, items, wanted, count);
  bank->warm &= bank->free;
  shelf.warm -= count;
  sort(shelf, bank);
  return count;
}

unsigned StackPool::fetch_cold(Shelf& shelf, Items& items, unsigned wanted) noexcept {
  StackBank* const bank = shelf.lists[StackBank::kCold].first;
  if (bank == nullptr) return 0;
  unsigned count = 0;
  bank->free &= ~pick(bank, bank->free, kToBuild, items, wanted, count);
  sort(shelf, bank);
  return count;
}

// The guards are made without the lock: the bank is in no list yet.
unsigned StackPool::fetch_unprepared(unsigned size_class, Items& items, unsigned wanted) noexcept {
  Shelf& shelf = shelves_[size_class];
  StackBank* bank = nullptr;
  {
    LockGuard guard(shelf.lock);
    bank = claim_bank(shelf, size_class);
  }
  if (bank == nullptr) return 0;
  slab_of(bank)->guard_bank(*bank);
  count_guards(*bank);
  unsigned count = 0;
  const std::uint64_t all = mask_of(bank->stacks);
  const std::uint64_t free = all & ~pick(bank, all, kToBuild, items, wanted, count);
  LockGuard guard(shelf.lock);
  bank->free = free;
  sort(shelf, bank);
  return count;
}

StackBank* StackPool::claim_bank(Shelf& shelf, unsigned size_class) noexcept {
  if (shelf.growing == nullptr && !grow(shelf, size_class)) return nullptr;
  StackSlab* slab = shelf.growing;
  const std::uint32_t first = slab->prepared.load(std::memory_order_relaxed);
  const std::uint32_t left = slab->count - first;
  StackBank* bank = &slab->banks()[first / kBankStacks];
  bank->number = first / kBankStacks;
  bank->stacks = static_cast<std::uint8_t>(left < kBankStacks ? left : kBankStacks);
  slab->prepared.store(first + bank->stacks, std::memory_order_relaxed);
  if (left <= kBankStacks) shelf.growing = nullptr;
  return bank;
}

// Twice as large as the last one, or as large as the machine allows.
bool StackPool::grow(Shelf& shelf, unsigned size_class) noexcept {
  LockGuard guard(slabs_lock_);
  const std::uint32_t number = slab_count_.load(std::memory_order_relaxed);
  if (number == kMaxSlabs) return false;
  for (std::uint32_t count = shelf.next_count; count != 0; count /= 2) {
    const std::size_t bytes = StackSlab::mapped_bytes(count, size_class);
    std::byte* pages = platform::map(bytes);
    if (pages == nullptr) continue;
    StackSlab* slab = reinterpret_cast<StackSlab*>(pages);
    slab->init(bytes, count, size_class);
    slab->number = number;
    slab->canary_key = canary_key_;
    slabs_[number].store(slab, std::memory_order_relaxed);
    slab_count_.store(number + 1, std::memory_order_release);  // pairs with slab_at()
    shelf.growing = slab;
    shelf.next_count = bytes * 2 <= kMaxSlabBytes ? count * 2 : count;
    add(mappings_, 1);
    add(mapped_, bytes);
    return true;
  }
  return false;
}

void StackPool::count_guards(const StackBank& bank) noexcept {
  add(guards_, bank.guarded);
  add(unguarded_, std::size_t{bank.stacks} - bank.guarded);
  if (bank.guard == platform::Guard::kProtected) add(mappings_, std::size_t{2} * bank.guarded);
}

// --- Back into it ----------------------------------------------------------------------------------------------------

void StackPool::put_back(unsigned size_class, const std::uintptr_t* items, unsigned count) noexcept {
  if (count == 0) return;
  Shelf& shelf = shelves_[size_class];
  unsigned unbuilt = 0;
  {
    LockGuard guard(shelf.lock);
    for (unsigned n = 0; n < count; n++) {
      put_back_one(shelf, items[n]);
      unbuilt += (items[n] & kToBuild) != 0;
    }
  }
  pay_back(size_class, unbuilt);
  add(shelf.out, -std::size_t{count});
  keep_reserve(size_class);
}

void StackPool::put_back_one(Shelf& shelf, std::uintptr_t item) noexcept {
  Stack* stack = reinterpret_cast<Stack*>(item & ~kToBuild);
  const bool is_built = (item & kToBuild) == 0;
  StackSlab* slab = is_built ? slabs_[stack->slab].load(std::memory_order_relaxed) : slab_at(stack);
  const std::uint32_t index = is_built ? stack->index : slab->index_at(stack);
  StackBank* bank = &slab->banks()[index / kBankStacks];
  const std::uint64_t bit = std::uint64_t{1} << index % kBankStacks;
  bank->free |= bit;
  if (is_built) {
    bank->warm |= bit;
    shelf.warm++;
  }
  sort(shelf, bank);
}

// As many may lie idle as were in use, so that a program that breathes makes no system calls. Beyond that half goes
// back, so that stacks which are freed in no order meet enough neighbours to go together.
void StackPool::keep_reserve(unsigned size_class) noexcept {
  Shelf& shelf = shelves_[size_class];
  const std::size_t reserve = least_reserve(size_class) + shelf.most.load(std::memory_order_relaxed);
  if (cool_one_bank(size_class, reserve))
    while (cool_one_bank(size_class, reserve / 2)) {
    }
}

// Gives back the pages of the bank that has been idle longest. False: there are no more than `reserve` warm ones.
bool StackPool::cool_one_bank(unsigned size_class, std::size_t reserve) noexcept {
  Shelf& shelf = shelves_[size_class];
  StackBank* bank = nullptr;
  std::uint64_t cooling = 0;
  {
    LockGuard guard(shelf.lock);
    if (shelf.warm <= reserve) return false;
    bank = shelf.lists[StackBank::kWarm].last;
    cooling = bank->free & bank->warm;  // nobody's while the lock is open
    shelf.warm -= count_ones(cooling);
    bank->free &= ~cooling;
    bank->warm = 0;
    sort(shelf, bank);
  }
  StackSlab* slab = slab_of(bank);
  for (std::uint64_t left = cooling; on_cold_ != nullptr && left != 0; left &= left - 1)
    on_cold_(slab->record_of(bank->number * kBankStacks + static_cast<unsigned>(std::countr_zero(left))));
  slab->discard(*bank, cooling);
  pay_back(size_class, count_ones(cooling));
  LockGuard guard(shelf.lock);
  bank->free |= cooling;
  sort(shelf, bank);
  return true;
}

bool StackPool::has_surplus() const noexcept {
  for (const Shelf& shelf : shelves_)
    if (shelf.most.load(std::memory_order_relaxed) > shelf.out.load(std::memory_order_relaxed)) return true;
  return false;
}

void StackPool::give_surplus() noexcept {
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class) {
    Shelf& shelf = shelves_[size_class];
    shelf.most.store(shelf.out.load(std::memory_order_relaxed), std::memory_order_relaxed);
    keep_reserve(size_class);
  }
}

bool StackPool::trim() noexcept {
  bool any = false;
  for (unsigned size_class = 0; size_class < kStackClasses; ++size_class)
    while (cool_one_bank(size_class, 0)) any = true;
  return any;
}

// --- Lists of banks, under the shelf's lock --------------------------------------------------------------------------

// Puts a bank where it belongs: at the front of another list than it was in, if any.
void StackPool::sort(Shelf& shelf, StackBank* bank) noexcept {
  const StackBank::List list = (bank->free & bank->warm) != 0 ? StackBank::kWarm
                               : bank->free != 0              ? StackBank::kCold
                                                              : StackBank::kUnlisted;
  if (list == bank->list) return;
  unlist(shelf, bank);
  bank->list = list;
  if (list == StackBank::kUnlisted) return;
  BankList& banks = shelf.lists[list];
  bank->previous = nullptr;
  bank->next = banks.first;
  (banks.first != nullptr ? banks.first->previous : banks.last) = bank;
  banks.first = bank;
}

void StackPool::unlist(Shelf& shelf, StackBank* bank) noexcept {
  if (bank->list == StackBank::kUnlisted) return;
  BankList& banks = shelf.lists[bank->list];
  (bank->previous != nullptr ? bank->previous->next : banks.first) = bank->next;
  (bank->next != nullptr ? bank->next->previous : banks.last) = bank->previous;
  bank->list = StackBank::kUnlisted;
}

// --- Which stack is it -----------------------------------------------------------------------------------------------

StackSlab* StackPool::slab_at(const void* address) const noexcept {
  // The latest slabs are the largest.
  for (std::uint32_t n = slab_count_.load(std::memory_order_acquire); n-- > 0;) {  // pairs with grow()
    StackSlab* slab = slabs_[n].load(std::memory_order_relaxed);
    if (slab->index_at(address) != StackSlab::kNone) return slab;
  }
  return nullptr;
}

Stack* StackPool::containing(const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return nullptr;
  const std::uint32_t index = slab->index_at(address);
  if (index >= slab->prepared.load(std::memory_order_relaxed)) return nullptr;
  Stack* stack = slab->record_of(index);
  return std::atomic_ref<std::byte*>(stack->limit).load(std::memory_order_acquire) == nullptr ? nullptr : stack;
}

bool StackPool::in_guard(const Stack* stack, const void* address) noexcept {
  StackSlab* slab = slab_at(address);
  if (slab == nullptr) return false;
  const std::uint32_t index = slab->index_at(address);
  return slab->record_of(index) == stack && static_cast<const std::byte*>(address) < slab->limit_of(index);
}

bool StackPool::canary_words_intact(const Stack* stack) noexcept {
  const std::uint64_t* words = canary_of(stack->limit);
  std::uint64_t changed = 0;
  for (std::size_t n = 0; n < kCanaryWords; n++) changed |= words[n] ^ stack->canary;
  return changed == 0;
}

void StackPool::renew_canary(Stack* stack) noexcept {
  for (std::size_t n = 0; n < kCanaryWords; n++) canary_of(stack->limit)[n] = stack->canary;
}

// --- Caches and figures ----------------------------------------------------------------------------------------------

void StackPool::link(StackCache& cache) noexcept {
  if (cache.home_ != nullptr) return;
  LockGuard guard(caches_lock_);
  cache.home_ = this;
  cache.previous_ = nullptr;
  cache.next_ = caches_;
  if (caches_ != nullptr) caches_->previous_ = &cache;
  caches_ = &cache;
}

void StackPool::unlink(StackCache& cache) noexcept {
  LockGuard guard(caches_lock_);
  (cache.previous_ != nullptr ? cache.previous_->next_ : caches_) = cache.next_;
  if (cache.next_ != nullptr) cache.next_->previous_ = cache.previous_;
  cache.home_ = nullptr;
}

std::size_t StackPool::stacks_in_use() noexcept {
  std::size_t held = 0;
  for (Shelf& shelf : shelves_) held += shelf.out.load(std::memory_order_relaxed);
  LockGuard guard(caches_lock_);
  for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (auto& count : cache->counts_) held -= count.load(std::memory_order_relaxed);
  return held;
}

std::size_t StackPool::stacks_cached() noexcept {
  std::size_t cached = 0;
  for (Shelf& shelf : shelves_) {
    LockGuard guard(shelf.lock);
    cached += shelf.warm;
  }
  LockGuard guard(caches_lock_);
  for (StackCache* cache = caches_; cache != nullptr; cache = cache->next_)
    for (auto& count : cache->counts_) cached += count.load(std::memory_order_relaxed);
  return cached;
}

}  // namespace janus
