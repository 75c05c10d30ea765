// SPDX-License-Identifier: Apache-2.0
// rt/budget/account.h — accounts, which hold budgets. A nursery or task with an explicit budget opens one below its
// parent's; all others draw on the account that they inherit. Knows amounts, but no tasks, nurseries or policies.
// docs/decisions/0060, 0206
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/list.h"
#include "rt/base/lock_rank.h"
#include "rt/budget/memory_cache.h"
#include "rt/optional.h"

namespace janus {

class PoolCharge;

enum class Component : unsigned { kOps, kMemory, kSpawns, kChannelOps, kSyscalls };
inline constexpr unsigned kComponents = 5;
constexpr Component component_at(unsigned number) noexcept {
  return static_cast<Component>(number);
}
constexpr std::uint8_t bit_of(Component component) noexcept {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(component));
}

// Drawing on an unlimited component does not diminish it. As a requested amount it means all that the giver has.
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
inline constexpr std::uint64_t kMaxFinite = kUnlimited - 1;

// In a request 0 means "not granted"; an Account distinguishes that from "used up".
struct Amounts {
  std::uint64_t of[kComponents];

  constexpr std::uint64_t& operator[](Component component) noexcept { return of[static_cast<unsigned>(component)]; }
  constexpr std::uint64_t operator[](Component component) const noexcept {
    return of[static_cast<unsigned>(component)];
  }
};

// A waiter for more of one component of an account. The layer above derives from it; linked under the queue's lock.
struct AccountWait : ListLink<> {
  Component component;
  std::uint64_t amount;
};
// The waiters of one account for each component, in the order in which they found it used up.
//
// INVARIANT no-lost-return: what comes into an account while a task waits there is offered to it.
//   put:  1 add the amount    2 (the exchange is a full fence)    3 does somebody wait? then list the account as unserved
//   wait: 1 enter the queue   2 full fence                        3 is the amount there?
// At least one side sees the other's first step. The server takes the account off the list before it looks.
struct AccountQueue {
  RankedLock<LockRank::kAccountQueue> lock;
  Atomic<std::uint32_t> next_unserved;  // on the list of unserved accounts; 0: not on it
  CompactList<AccountWait> waits[kComponents];

  // Under the lock. The caller of enter() then looks whether the amount is there.
  void enter(AccountWait& wait) noexcept {
    waits[static_cast<unsigned>(wait.component)].push_back(&wait);
    full_fence();
  }
  void leave(AccountWait& wait) noexcept { waits[static_cast<unsigned>(wait.component)].remove(&wait); }
};

// One account. Type-stable: the record is reused for other accounts, its memory stays readable until
// Accounts::destroy().
//
// INVARIANT debt-is-carried: ops that were spent beyond what was drawn are owed; all that comes into the account pays
// them first, and the debt of a closed account passes to its parent, up to kMaxDebtAbove. No debt is forgiven but what
// exceeds that: the cost given to a yield check is a claim, and the claims of a cage must not ruin the accounts above.
//
// INVARIANT one-line-of-credit: each account gets a lender when it is opened: the topmost account below one with
// unlimited ops, which is the account itself if its parent's ops are unlimited. All loans of one lender together never
// exceed the limit that is passed to borrow(). So whatever is opened below it, an account and all below it spend at
// most what came in from above, and one such limit.
//
//     free --open--> open --close--> closed --(last reference goes)--> free
//
// References are held by the holder (until close), by every account below that is not free, by retain(), and one for
// all memory that is charged to this account, so that the index in a block's tag names this account while the block
// lives. The records of accounts below count as such memory.
class alignas(kAccountLine) Account {
 public:
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] Account* parent() const noexcept { return parent_; }
  // How many accounts are above it; at most 65,535 are counted.
  [[nodiscard]] unsigned depth() const noexcept { return depth_; }
  // A closed account passes all that is credited to it to the nearest open account above.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_.load(std::memory_order_relaxed); }

 private:
  friend class Accounts;
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  Atomic<std::uint64_t> left_[kComponents];  // kUnlimited, or what can still be drawn
  Atomic<std::uint64_t> held_;               // memory drawn here and not yet credited; not counted for the root
  Atomic<std::uint64_t> owed_;               // ops that were spent here and not drawn yet
  // What came from recharges, and accounts below that have used up their own have not drawn yet.
  Atomic<std::uint64_t> recharged_[kComponents];
  // What this account has drawn of what its parent was recharged with, and has not spent: when it comes back, others
  // may draw it again. All that was drawn of other components is spent.
  Atomic<std::uint64_t> drawn_memory_;
  Atomic<std::uint32_t> drawn_ops_;
  Atomic<std::uint32_t> on_loan_;  // as a lender: ops lent and not given back
  Account* lender_;
  Atomic<std::uint32_t> references_;
  Atomic<std::uint8_t> granted_;  // bit c: component c was granted. Bits are only added while open
  Atomic<bool> is_closed_;
  std::uint16_t depth_;  // 0 for the root; stops at 65,535
  Account* parent_;      // nullptr for the root
  std::uint32_t index_;
  Atomic<std::uint32_t> next_free_;  // index of the next free record
  AccountQueue queue_;
};
static_assert(sizeof(Account) == 192);

// All accounts of one runtime: a tree whose root is index 1; index 0 means none. All-zero bytes are a valid table
// before init().
//
// INVARIANT conservation: for every component that is finite at the root, what is left in all accounts and caches, what
// was drawn and not credited, and what is being moved between two accounts add up to what the root was given; nothing
// is minted, at any moment, under any interleaving (amounts leave one place before they reach the next). Amounts below
// an unlimited account may vanish into it, but never grow. tests/budget/account_property_test.cpp
class Accounts {
 public:
  // Called by one thread, before all other functions. False: the machine has no memory.
  [[nodiscard]] bool init(const Amounts& root) noexcept;
  // Called before the first open(). Makes each record cost `bytes` of memory until it is free. The parent pays; if that
  // is the root, it pays in bulk through `pools`, for each record that is taken for the first time. nullptr: it does
  // not pay.
  void charge_records(std::uint64_t bytes, PoolCharge* pools) noexcept {
    record_bytes_ = bytes;
    pools_ = pools;
  }
  // Called before the first wait: when something comes into an account at which others wait, notify(context) is called,
  // by any thread, with any lock held. Once: not again until take_unserved().
  void notify_of_returns(void (*notify)(void*) noexcept, void* context) noexcept {
    notify_ = notify;
    notify_context_ = context;
  }
  // Called by one thread, when no other one draws or credits any more. Every Account and index becomes invalid.
  void destroy() noexcept;

  [[nodiscard]] Account* root() const noexcept { return at(1); }
  // The record with this index. Precondition: the index has been given out before. Costs two loads.
  [[nodiscard]] Account* at(std::uint32_t index) const noexcept;

  // Everything below may be called by any thread.

  // Opens an account with `wanted` taken out of `parent`, all or nothing: a finite amount literally, kUnlimited as all
  // that the parent has (unlimited if the parent is, else everything left, possibly nothing). nullptr: *short_of (if
  // given) is the component that was short; kMemory also if the record cannot be paid for, or there is no memory for
  // it.
  [[nodiscard]] Account* open(Account* parent, const Amounts& wanted, Component* short_of) noexcept;

  // Closes an account, once for each open(): the rest goes to the nearest open account above, and so does every later
  // credit. The holder must not use the pointer any more. Never called for the root.
  void close(Account* account) noexcept;

  // retain() keeps the record from being reused, but not the account from being closed.
  void retain(Account* account) noexcept;
  void release(Account* account) noexcept;

  // Draws all of `amount`, or nothing. False: the account has not so much, or the component was never granted, which
  // granted() tells.
  [[nodiscard]] bool draw(Account* account, Component component, std::uint64_t amount) noexcept;
  // Draws as much as there is, up to `most`; returns how much. For slices of ops; not for memory.
  [[nodiscard]] std::uint64_t draw_up_to(Account* account, Component component, std::uint64_t most) noexcept;
  // The most that a closed account's debt adds to its parent's: the price of the dearest operation of the runtime, the
  // step by which a stack grows to 64 MiB.
  static constexpr std::uint64_t kMaxDebtAbove = 16384;
  // Settles `amount` ops that were spent but not drawn: takes the available part now, and the rest from amounts that
  // come in later.
  void owe(Account* account, std::uint64_t amount) noexcept;
  [[nodiscard]] std::uint64_t owed(const Account* account) const noexcept {
    return account->owed_.load(std::memory_order_relaxed);
  }
  // Borrows up to `most` ops beyond what the account has, for the grace of a cancelled task, from the account's lender,
  // which has at most `limit` on loan. Returns the amount. The caller gives back the unspent part; the rest is repaid
  // from recharges of the lender, or never.
  [[nodiscard]] std::uint64_t borrow(Account* account, std::uint64_t most, std::uint32_t limit) noexcept;
  void give_back(Account* account, std::uint64_t amount) noexcept;
  // How much the lender of the account has on loan.
  [[nodiscard]] std::uint64_t on_loan(const Account* account) const noexcept {
    return account->lender_->on_loan_.load(std::memory_order_relaxed);
  }
  // Credits what was drawn and not used: memory that was freed, the rest of a slice. Also valid after close().
  void credit(Account* account, Component component, std::uint64_t amount) noexcept;

  // draw() and credit() of memory through the calling worker's cache (nullptr: the thread has none), so that the common
  // case, the root's memory, touches no line that others write. A draw and its credit may use different caches, or
  // none.
  [[nodiscard]] bool draw_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;
  void credit_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;

  // draw() and credit() of the root's memory without a cache, for the layers below the one that draws for tasks.
  [[nodiscard]] bool draw_root_memory(std::uint64_t bytes) noexcept {
    return take_recalling(root(), Component::kMemory, bytes);
  }
  void credit_root_memory(std::uint64_t bytes) noexcept { put(root(), Component::kMemory, bytes); }

  // Moves amounts between accounts, all or nothing (kUnlimited: all that `from` has). A component that was not granted
  // to `to` is granted by this. A component that is unlimited in `to` is not moved. False: *short_of (if given) is the
  // component that was short.
  [[nodiscard]] bool transfer(Account* from, Account* to, const Amounts& amounts,
                              Component* short_of = nullptr) noexcept;

  // As transfer(); from the amounts `to` first pays back its outstanding loans as a lender, and the accounts below `to`
  // may draw the rest (draw_recharged()). If `from` is `to`, nothing is moved, and the accounts below may draw the
  // amounts. False: `from` does not have that much.
  [[nodiscard]] bool recharge(Account* from, Account* to, const Amounts& amounts) noexcept;
  // For an account `to` below `from` that has used up its own: moves `amount` out of what `from` was recharged with and
  // still has. Ops are a debt, which is spent at once: as many as there are, and beyond that up to `ahead`, which
  // accounts below `from` may draw again when they come back unspent. All else comes as a whole or not at all; memory
  // may be drawn again. Called by one thread at a time for each `to`, which is open.
  void draw_recharged(Account* from, Account* to, Component component, std::uint64_t amount,
                      std::uint64_t ahead = 0) noexcept {
    if (draw_of_recharge != nullptr) draw_of_recharge(*this, from, to, component, amount, ahead);
  }

  // The waiters for more in this account.
  [[nodiscard]] AccountQueue& queue(Account* account) const noexcept { return account->queue_; }
  // Lists the account as one that something has come into while others wait there.
  void list_unserved(Account* account) noexcept;
  // Takes that list, whose first account has this index. take_off_unserved() takes an account off it, which may be
  // another one by now, and returns the index of the next.
  static constexpr std::uint32_t kEndOfUnserved = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t take_unserved() noexcept {
    return unserved_.exchange(kEndOfUnserved, std::memory_order_seq_cst);
  }
  [[nodiscard]] std::uint32_t take_off_unserved(std::uint32_t index) const noexcept {
    return at(index)->queue_.next_unserved.exchange(0, std::memory_order_seq_cst);
  }
  // Indices below this were given out at least once.
  [[nodiscard]] std::uint32_t end() const noexcept { return fresh_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool granted(const Account* account, Component component) const noexcept;
  // kUnlimited, or what can be drawn now; for the root's memory with the caches' chunks.
  [[nodiscard]] std::uint64_t left(const Account* account, Component component) const noexcept;
  // Whether credits to the account with this index reach `target`, which is open: it is that account, or a closed one
  // below it with only closed ones in between.
  [[nodiscard]] bool flows_into(std::uint32_t index, const Account* target) const noexcept;
  // Whether nothing is charged to the account, and no account below it is in use. Called by the holder, after all other
  // threads have stopped drawing on it.
  [[nodiscard]] bool is_unused(const Account* account) const noexcept {
    return account->references_.load(std::memory_order_acquire) == 1;
  }
  // Memory charged to the account and not yet credited. Not valid for the root.
  [[nodiscard]] std::uint64_t held(const Account* account) const noexcept;
  // The least memory that the root has ever had left, without chunks in caches; kUnlimited before the first draw.
  [[nodiscard]] std::uint64_t least_memory() const noexcept { return least_memory_.load(std::memory_order_relaxed); }

  // Owner of the cache only. The cache's memory must stay readable until destroy(), also after unregister_cache(): a
  // recall may still access it. unregister_cache() gives the chunk back.
  void register_cache(MemoryCache& cache) noexcept;
  void unregister_cache(MemoryCache& cache) noexcept;

  // How many records are not free, the root included. Exact while no thread opens or closes accounts.
  [[nodiscard]] std::uint32_t count() const noexcept { return live_.load(std::memory_order_relaxed); }

 private:
  friend struct DebuggerLayout;

  // Segment s holds kFirstSegment << s records, so that a record is found with a bit scan and never moves.
  static constexpr unsigned kFirstSegmentBits = 9;
  static constexpr unsigned kSegments = 32 - kFirstSegmentBits;

  // The sources are layered; each calls only those before it.
  // account_words.cpp: the words of one account.
  static bool take(Account* account, Component component, std::uint64_t amount) noexcept;
  static std::uint64_t take_all(Account* account, Component component) noexcept;
  static Account* next_above(Account* closed, Component component, std::uint64_t amount) noexcept;
  void put(Account* account, Component component, std::uint64_t amount) noexcept;
  static void grant_unlimited(Account* account, Component component) noexcept;
  static void pay_debt(Account* account) noexcept;
  static std::uint64_t take_up_to(Account* account, Component component, std::uint64_t most) noexcept;

  // account_table.cpp
  struct Place;
  static std::size_t segment_bytes(unsigned number) noexcept;
  Account* segment(unsigned number) noexcept;
  void unmap_segment(unsigned number) noexcept;
  Account* pop_free() noexcept;
  Account* fresh_record() noexcept;
  void free_record(Account* account) noexcept;

  // root_memory.cpp, which pool_charge builds on; from take_recalling_locked() to recall_chunks() under moves_.
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
  void uncarve(Account* from, const Amounts& taken, unsigned components) noexcept;

  // account_recharge.cpp, which a program may lack
  static void add_recharged(Account* account, Component component, std::uint64_t amount) noexcept;
  std::uint64_t pay_loans(Account* lender, std::uint64_t most) noexcept;
  [[JANUS_OPTIONAL]] static void draw_of_recharge(Accounts& accounts, Account* from, Account* to, Component component,
                                                  std::uint64_t amount, std::uint64_t ahead) noexcept;
  [[JANUS_OPTIONAL]] static void pass_on_drawn(Account* closed, Component component, std::uint64_t amount) noexcept;

  Atomic<Account*> segments_[kSegments];
  Atomic<std::uint64_t> free_;   // low half: index of the first free record; high half: a count against ABA
  Atomic<std::uint32_t> fresh_;  // the first index that was never given out
  Atomic<std::uint32_t> live_;
  std::atomic<std::uint64_t> least_memory_{kUnlimited};  // statistics only; orders nothing
  Atomic<MemoryCache*> caches_;                          // every cache that was ever registered
  Atomic<std::uint32_t> registered_;
  RankedLock<LockRank::kMoves> moves_;  // held while chunks move between the root and a cache
  Atomic<std::uint32_t> unserved_;      // index of the first unserved account, or kEndOfUnserved
  void (*notify_)(void*) noexcept;      // notify_of_returns()
  void* notify_context_;
  std::uint64_t record_bytes_;    // what a record costs
  PoolCharge* pools_;             // pays for records (charge_records())
  std::uint32_t fills_;           // calls of fill(); under moves_
  std::uint32_t failed_recalls_;  // recent recalls that did not bring in enough; under moves_
};

}  // namespace janus
