// SPDX-License-Identifier: Apache-2.0
// rt/budget/account.h — budgets live in accounts. A nursery or task with an explicit budget opens one below its
// parent's; everything else draws on the account that it inherited. Knows amounts and nothing of tasks, nurseries or
// policies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/list.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/memory_cache.h"

namespace janus {

class PoolCharge;

enum class Component : unsigned { kOps, kMemory, kSpawns, kChannelOps, kSyscalls };
inline constexpr unsigned kComponents = 5;

// Drawing on an unlimited component does not diminish it. As a wish it means: all that the giver has.
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
inline constexpr std::uint64_t kMaxFinite = kUnlimited - 1;

// A literal 0 is "not granted"; an Account tells that apart from "used up".
struct Amounts {
  std::uint64_t of[kComponents];

  constexpr std::uint64_t& operator[](Component component) noexcept { return of[static_cast<unsigned>(component)]; }
  constexpr std::uint64_t operator[](Component component) const noexcept {
    return of[static_cast<unsigned>(component)];
  }
};

// One who waits until an account has more. The layer above derives from it; linked under the queue's lock.
struct AccountWait : ListLink<> {
  Component component;
  std::uint64_t amount;
};
// Those who ran dry on one account, in that order.
struct AccountQueue {
  RankedLock<LockRank::kAccountQueue> lock;
  List<AccountWait> waits;
  std::uint32_t waiting[kComponents] = {};  // how many of them want each component
};

// One account. Type-stable: the record is reused for other accounts, its memory stays readable until
// Accounts::destroy().
//
// INVARIANT debt-is-carried: ops that were spent beyond what was drawn are owed; whatever comes into the account pays
// them first, and a closed account's debt is its parent's. Nothing that was spent is forgiven.
//
// INVARIANT one-line-of-credit: each account names a lender when it is opened: the topmost account below one whose ops
// are unlimited, which is itself where its parent's are. What is on loan to all accounts of one lender together is
// never more than the limit that borrow() is given. So whatever is opened below, an account and all below it spend at
// most what came in from above, and one such limit.
//
//     free --open--> open --close--> closed --(last reference goes)--> free
//
// References: the holder (until close), every account below that is not free, retain(), and one for all memory that is
// charged to this account, so that the index in a block names this account for as long as the block lives. The records
// of accounts below are among that memory.
class alignas(kAccountLine) Account {
 public:
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] Account* parent() const noexcept { return parent_; }
  // Accounts above it, of which no more than 65,535 are counted.
  [[nodiscard]] unsigned depth() const noexcept { return depth_; }
  // What is credited goes to the nearest open account above.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(std::memory_order_relaxed); }

 private:
  friend class Accounts;
  friend struct DebuggerLayout;  // rt/abi/debugger.cpp

  Atomic<std::uint64_t> left_[kComponents];  // kUnlimited, or what can still be drawn
  Atomic<std::uint64_t> held_;               // memory drawn here and not yet credited (the root does not count it)
  Atomic<std::uint64_t> owed_;               // ops that were spent here and not drawn yet
  // Of `left_`: what accounts below may draw that have used up their own, because somebody recharged this one.
  Atomic<std::uint64_t> recharged_[kComponents];
  Atomic<std::uint64_t> on_loan_;  // ops that a lender has lent and not got back
  Account* lender_;
  Atomic<std::uint32_t> references_;
  Atomic<std::uint8_t> granted_;  // bit c: component c was granted. Bits are only added while open
  Atomic<bool> is_closed_;
  std::uint16_t depth_;  // of the root 0; as far as it counts
  Account* parent_;      // nullptr for the root
  std::uint32_t index_;
  Atomic<std::uint32_t> next_free_;  // index of the next free record
  AccountQueue queue_;
};
static_assert(sizeof(Account) == 192);

// All accounts of one runtime: a tree whose root is index 1; index 0 is none. All-zero bytes are a valid table before
// init().
//
// INVARIANT conservation: for every component that is finite at the root, what is left in all accounts and caches, what
// was drawn and not credited, and what is on its way between two accounts together are what the root was given; nothing
// is minted, at any moment, under any interleaving (amounts leave one place before they reach the next). Amounts below
// an unlimited account may vanish into it, but never grow. tests/budget/account_property_test.cpp
class Accounts {
 public:
  // One thread, before anything else. False: the machine gave no memory.
  [[nodiscard]] bool init(const Amounts& root) noexcept;
  // Before the first open(): a record costs `bytes` of memory until it is free. Below the root the account above pays.
  // The root pays `pools` (nullptr: nobody) in bulk, for each record that is taken for the first time.
  void charge_records(std::uint64_t bytes, PoolCharge* pools) noexcept {
    record_bytes_ = bytes;
    pools_ = pools;
  }
  // One thread, when nobody draws or credits any more. Every Account and index is gone.
  void destroy() noexcept;

  [[nodiscard]] Account* root() const noexcept { return at(1); }
  // The record with that index, which must have been given out once. Two loads.
  [[nodiscard]] Account* at(std::uint32_t index) const noexcept;

  // Everything below may be called by any thread.

  // A new account with `wanted` taken out of `parent`, all or nothing: a finite amount literally, kUnlimited as all
  // that the parent has (unlimited if the parent is, else everything left, possibly nothing). nullptr: *short_of (if
  // given) is the component that was short; kMemory also when the record cannot be paid, or there is no memory for it.
  [[nodiscard]] Account* open(Account* parent, const Amounts& wanted, Component* short_of) noexcept;

  // The holder is done: what is left goes to the nearest open account above, and so does all that is credited from now
  // on. Exactly once for each open(); the pointer is the holder's no more. Never the root.
  void close(Account* account) noexcept;

  // Keeps the record from being reused (not the account from being closed).
  void retain(Account* account) noexcept;
  void release(Account* account) noexcept;

  // All or nothing. False: dry, or never granted, which granted() tells.
  [[nodiscard]] bool draw(Account* account, Component component, std::uint64_t amount) noexcept;
  // Up to `most`, as much as there is; what it took. For slices of ops. Not for memory.
  [[nodiscard]] std::uint64_t draw_up_to(Account* account, Component component, std::uint64_t most) noexcept;
  // `amount` ops were spent and not drawn: takes what there is, and the rest of what comes in later.
  void owe(Account* account, std::uint64_t amount) noexcept;
  [[nodiscard]] std::uint64_t owed(const Account* account) const noexcept {
    return account->owed_.load(std::memory_order_relaxed);
  }
  // Up to `most` ops beyond what the account has, for who was told to end: lent by the lender of the account, which has
  // no more than `limit` on loan. What of it is not spent is given back; what is spent, the lender pays back out of
  // what it is recharged with, or never. What it lent.
  [[nodiscard]] std::uint64_t borrow(Account* account, std::uint64_t most, std::uint64_t limit) noexcept;
  void give_back(Account* account, std::uint64_t amount) noexcept;
  // What the lender of the account has on loan.
  [[nodiscard]] std::uint64_t on_loan(const Account* account) const noexcept {
    return account->lender_->on_loan_.load(std::memory_order_relaxed);
  }
  // What was drawn comes back: memory that was freed, the unused rest of a slice. Also after close.
  void credit(Account* account, Component component, std::uint64_t amount) noexcept;

  // The same for memory, through the calling worker's cache (nullptr: a thread without one), which makes the common
  // case, the root's memory, cost no line that others write. Draw and credit need not use the same cache, or any.
  [[nodiscard]] bool draw_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;
  void credit_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;

  // The root's, from its very account: for what stands below those who draw for tasks.
  [[nodiscard]] bool draw_root_memory(std::uint64_t bytes) noexcept {
    return take_recalling(root(), Component::kMemory, bytes);
  }
  void credit_root_memory(std::uint64_t bytes) noexcept { put(root(), Component::kMemory, bytes); }

  // Moves amounts between accounts, all or nothing (kUnlimited: all that `from` has); what was not granted to `to` is
  // from then on. Components that are unlimited in `to` take nothing. False: *short_of (if given) was short.
  [[nodiscard]] bool transfer(Account* from, Account* to, const Amounts& amounts,
                              Component* short_of = nullptr) noexcept;

  // transfer(), of which a lender pays back its loans; `to`'s children may draw as much as is left of it when they have
  // used up what they were given. From and to the same account: only that.
  [[nodiscard]] bool recharge(Account* from, Account* to, const Amounts& amounts) noexcept;
  // For a child account that has used up its own: up to `most` and at least `least` of what `from` was recharged with
  // moves to `to`. False: there is not so much.
  [[nodiscard]] bool draw_recharged(Account* from, Account* to, Component component, std::uint64_t least,
                                    std::uint64_t most) noexcept;

  // Whoever waits for more in this account.
  [[nodiscard]] AccountQueue& queue(Account* account) const noexcept { return account->queue_; }
  // Indices below this were given out at least once.
  [[nodiscard]] std::uint32_t end() const noexcept { return fresh_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool granted(const Account* account, Component component) const noexcept;
  // kUnlimited or what can be drawn now, the caches' chunks included.
  [[nodiscard]] std::uint64_t left(const Account* account, Component component) const noexcept;
  // Whether what is credited to the account with that index ends up in `target`, which is open: it is that account, or
  // was closed below it.
  [[nodiscard]] bool flows_into(std::uint32_t index, const Account* target) const noexcept;
  // Nothing is charged to it, and no account below it lives. Its holder's question, when nobody draws on it any more.
  [[nodiscard]] bool is_unused(const Account* account) const noexcept {
    return account->references_.load(std::memory_order_acquire) == 1;
  }
  // Memory charged to the account and not yet credited. Not for the root.
  [[nodiscard]] std::uint64_t held(const Account* account) const noexcept;
  // The least that the root ever had left of its memory, chunks in caches not counted; kUnlimited before the first
  // draw.
  [[nodiscard]] std::uint64_t least_memory() const noexcept { return least_memory_.load(std::memory_order_relaxed); }

  // Owner of the cache. The cache's memory must stay readable until destroy(), also when unregistered: a caller-back
  // may still be looking at it. unregister gives the chunk back.
  void register_cache(MemoryCache& cache) noexcept;
  void unregister_cache(MemoryCache& cache) noexcept;

  // Records that are not free, the root included. Exact when nobody opens or closes.
  [[nodiscard]] std::uint32_t count() const noexcept { return live_.load(std::memory_order_relaxed); }

 private:
  friend struct DebuggerLayout;

  // Segment s holds kFirstSegment << s records, so that a record is found with a bit scan and never moves.
  static constexpr unsigned kFirstSegmentBits = 9;
  static constexpr unsigned kSegments = 32 - kFirstSegmentBits;

  // In parts, each of which calls those before it alone.
  // account_words.cpp: of one account.
  static bool take(Account* account, Component component, std::uint64_t amount) noexcept;
  static std::uint64_t take_all(Account* account, Component component) noexcept;
  static void put(Account* account, Component component, std::uint64_t amount) noexcept;
  static void grant_unlimited(Account* account, Component component) noexcept;
  static void pay_debt(Account* account) noexcept;
  static std::uint64_t pay_loans(Account* lender, std::uint64_t most) noexcept;
  static std::uint64_t take_up_to(Account* account, Component component, std::uint64_t most) noexcept;

  // account_table.cpp
  struct Place;
  static std::size_t segment_bytes(unsigned number) noexcept;
  Account* segment(unsigned number) noexcept;
  void unmap_segment(unsigned number) noexcept;
  Account* pop_free() noexcept;
  Account* fresh_record() noexcept;
  void free_record(Account* account) noexcept;

  // root_memory.cpp, on which pool_charge rests; the last four under moves_.
  bool draw_cached(MemoryCache& cache, std::uint64_t bytes) noexcept;
  bool draw_refilling(MemoryCache& cache, std::uint64_t bytes) noexcept;
  void credit_cached(MemoryCache& cache, std::uint64_t bytes) noexcept;
  [[gnu::noinline]] void credit_cutting(MemoryCache& cache, std::uint64_t bytes) noexcept;
  bool take_recalling(Account* account, Component component, std::uint64_t amount) noexcept;
  std::uint64_t take_all_recalling(Account* account, Component component) noexcept;
  [[nodiscard]] std::uint64_t chunk_size() const noexcept;
  static void await_leaving(MemoryCache& cache) noexcept;
  bool take_recalling_locked(std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t most_reachable() const noexcept;
  void fill(MemoryCache& cache, std::uint64_t chunk) noexcept;
  void recall_chunks() noexcept;
  bool take_noting(std::uint64_t bytes) noexcept;

  // account_record.cpp, above account_draw and pool_charge
  Account* take_record(bool has_paid) noexcept;
  Account* take_paid_record(Account* payer) noexcept;
  void free_paid_record(Account* account, Account* payer) noexcept;
  bool pay_for_fresh_record(bool has_paid) noexcept;
  [[nodiscard]] std::uint64_t end_charge_of_record(Account* payer) noexcept;

  // account_life.cpp
  [[nodiscard]] static bool is_empty(const Account& account) noexcept;
  bool carve(Account* from, const Amounts& wanted, Amounts& taken, Component* short_of) noexcept;
  static void uncarve(Account* from, const Amounts& taken, unsigned components) noexcept;

  Atomic<Account*> segments_[kSegments];
  Atomic<std::uint64_t> free_;   // index of the first free record, below a count that defeats ABA
  Atomic<std::uint32_t> fresh_;  // the first index that was never given out
  Atomic<std::uint32_t> live_;
  std::atomic<std::uint64_t> least_memory_{kUnlimited};  // a figure: orders nothing
  Atomic<MemoryCache*> caches_;                          // every cache that was ever registered
  Atomic<std::uint32_t> registered_;
  RankedLock<LockRank::kMoves> moves_;  // held while chunks move between the root and a cache
  std::uint64_t record_bytes_;          // what a record costs
  PoolCharge* pools_;                   // for all records that were ever taken
  std::uint32_t fills_;                 // of caches; under moves_
  std::uint32_t failed_recalls_;        // recent calls that did not bring in enough; under moves_
};

}  // namespace janus
