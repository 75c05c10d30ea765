// SPDX-License-Identifier: Apache-2.0
// rt/budget/accounts.h — all accounts of one runtime: opening and closing them, drawing and crediting, and moving amounts
// from one to another. docs/decisions/0060, 0206
//
// Class Accounts is a facade for
//   AccountRecords    takes and frees records, and charges for them              rt/budget/account_record.h
//   AccountTable      the records by index                                       rt/budget/account_table.h
//   AccountWords      the amounts of one account: left, owed and lent            rt/budget/account_words.h
//   UnservedAccounts  accounts that got an amount while tasks waited there       rt/budget/account_unserved.h
//   RootMemory        the root's memory, and the workers' chunks of it           rt/budget/root_memory.h
//   Recharges         amounts added to an account for those below to draw        rt/budget/recharges.h
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/budget/account.h"
#include "rt/budget/account_record.h"
#include "rt/budget/account_words.h"
#include "rt/budget/recharges.h"
#include "rt/budget/root_memory.h"

namespace janus {

// All accounts of one runtime: a tree whose root is kRootIndex; index 0 means none. All-zero bytes are a valid table
// before init().
//
// INVARIANT conservation: for every component that is finite at the root, the amounts left in all accounts and caches,
// those drawn and not credited, and those moving between two accounts add up to what the root was given. No
// interleaving creates any, since amounts leave one place before they reach the next. Amounts below an unlimited
// account may vanish into it, but never grow. tests/budget/account_property_test.cpp
class Accounts {
 public:
  // Called by one thread, before all other functions. False: the machine has no memory.
  [[nodiscard]] bool init(const Amounts& root) noexcept;
  // Called before the first open(). Makes each record cost `bytes` of memory until it is free. The parent pays; if that
  // is the root, it pays in bulk through `pools`, for each record that is taken for the first time. nullptr: it does
  // not pay.
  void charge_records(std::uint64_t bytes, PoolCharge* pools) noexcept { records_.charge(bytes, pools); }
  // Called before the first wait: when an amount comes into an account at which tasks wait, any thread calls
  // notify(context), with any lock held; it calls it only once until take_unserved().
  void notify_of_returns(void (*notify)(void*) noexcept, void* context) noexcept {
    words_.unserved().notify(notify, context);
  }
  // Called by one thread, when no other one draws or credits any more. Every Account and index becomes invalid.
  void destroy() noexcept;

  [[nodiscard]] Account* root() const noexcept { return at(kRootIndex); }
  // The record with this index. Precondition: the index has been given out before. Costs two loads.
  [[nodiscard]] Account* at(std::uint32_t index) const noexcept { return records_.table().at(index); }

  // Everything below may be called by any thread.

  // Opens an account with `wanted` taken out of `parent`, all or nothing: a finite amount literally, kUnlimited as all
  // that the parent has (unlimited if the parent is, else everything left, possibly nothing). nullptr: *short_of (if
  // given) is the component that was short; kMemory also if the record cannot be paid for, or there is no memory for
  // it.
  [[nodiscard]] Account* open(Account* parent, const Amounts& wanted, Component* short_of) noexcept;

  // As open(), for a caller who has paid bytes_of_record() already, with the payer's memory or, if `has_drawn` is false,
  // the root's, which pays in bulk; so that it can be below an account without memory.
  [[nodiscard]] Account* open_paid(Account* parent, bool has_drawn, const Amounts& wanted,
                                   Component* short_of) noexcept;
  [[nodiscard]] std::uint64_t bytes_of_record() const noexcept { return records_.bytes(); }

  // Closes an account, once for each open(): the rest goes to the nearest open account above, and so does every later
  // credit. The holder must not use the pointer any more. Never called for the root.
  void close(Account* account) noexcept;

  // retain() keeps the record from being reused, but not the account from being closed.
  static void retain(Account* account) noexcept { AccountWords::retain(account); }
  void release(Account* account) noexcept;

  // Draws all of `amount`, or nothing. False: the account has less, or the component was never granted (see granted()).
  [[nodiscard]] bool draw(Account* account, Component component, std::uint64_t amount) noexcept;
  // draw() for the components that are counted: all but memory. False: draw() may find more, aside.
  [[nodiscard]] static bool draw_count(Account* account, Component component, std::uint64_t amount) noexcept {
    return AccountWords::take_left(account, component, amount);
  }
  // Draws as much as there is, up to `most`; returns how much. For slices of ops; not for memory.
  [[nodiscard]] std::uint64_t draw_up_to(Account* account, Component component, std::uint64_t most) noexcept;
  // The same for who would wait otherwise: also out of what is aside below a mark.
  [[nodiscard]] std::uint64_t draw_up_to_in_all(Account* account, Component component, std::uint64_t most) noexcept {
    const std::uint64_t amount = draw_up_to(account, component, most);
    if (amount != 0 || !AccountWords::has_aside()) return amount;
    return AccountWords::take_up_to_with_aside(account, component, most);
  }
  // The most that a closed account's debt adds to its parent's, in ops: the price of the runtime's most expensive
  // operation, the growth of a stack to 64 MiB in one step.
  static constexpr std::uint64_t kMaxDebtAbove = AccountWords::kMaxDebtAbove;
  // Settles `amount` ops that were spent but not drawn: takes the available part now, and the rest from amounts that
  // come in later.
  void owe(Account* account, std::uint64_t amount) noexcept { AccountWords::owe(account, amount); }
  [[nodiscard]] std::uint64_t owed(const Account* account) const noexcept {
    return account->owed_.load(std::memory_order_relaxed);
  }
  // Borrows up to `most` ops beyond what the account has, for the grace of a cancelled task, from the account's lender,
  // which has at most `limit` on loan. Returns the amount. The caller gives back the unspent part; the rest is repaid
  // from recharges of the lender, or never.
  [[nodiscard]] std::uint64_t borrow(Account* account, std::uint64_t most, std::uint32_t limit) noexcept {
    return AccountWords::borrow(account, most, limit);
  }
  void give_back(Account* account, std::uint64_t amount) noexcept { words_.give_back(account, amount); }
  // How much the lender of the account has on loan.
  [[nodiscard]] std::uint64_t on_loan(const Account* account) const noexcept {
    return account->lender_->on_loan_.load(std::memory_order_relaxed);
  }
  // Credits a drawn amount that was not used: freed memory, the rest of a slice. Also valid after close().
  void credit(Account* account, Component component, std::uint64_t amount) noexcept;

  // draw() and credit() of memory through the calling worker's cache (nullptr: the thread has none), so that the common
  // case, the root's memory, touches no line that others write. A draw and its credit may use different caches, or
  // none.
  [[nodiscard]] bool draw_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;
  void credit_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept;
  // These for an account that is not the root, and some bytes.
  [[nodiscard]] static bool draw_below_root(Account* account, std::uint64_t bytes) noexcept {
    return AccountWords::hold(account, bytes);
  }
  void credit_below_root(Account* account, std::uint64_t bytes) noexcept;

  // Cuts a chunk that a credit at hand has made too large.
  void cut(MemoryCache& cache) noexcept { root_memory_.cut(cache); }

  // What PoolCharge draws on.
  [[nodiscard]] RootMemory& root_memory() noexcept { return root_memory_; }

  // A pause of `to` neither begins nor ends during a transfer: who transfers holds its queue's lock, unless `to` is fresh.
  // Moves amounts between accounts, all or nothing (kUnlimited: all that `from` has). A component that was not granted
  // to `to` is granted by this. A component that is unlimited in `to` is not moved. False: *short_of (if given) is the
  // component that was short.
  [[nodiscard]] bool transfer(Account* from, Account* to, const Amounts& amounts,
                              Component* short_of = nullptr) noexcept;

  // As transfer(); from the amounts `to` first pays back its outstanding loans as a lender, and the accounts below `to`
  // may draw the rest (draw_recharged()). If `from` is `to`, nothing is moved, and the accounts below may draw the
  // amounts. False: `from` does not have that much.
  [[nodiscard]] bool recharge(Account* from, Account* to, const Amounts& amounts) noexcept;
  // For an account `to` below `from` whose own amount is used up: moves `amount` of the recharges of `from` to it. Ops
  // pay a debt: as many as there are, and up to `ahead` more, which may be drawn again if they come back unspent. Other
  // components move as a whole or not at all; memory may be drawn again when it comes back. Called by one thread at a
  // time for each `to`, which is open.
  void draw_recharged(Account* from, Account* to, Component component, std::uint64_t amount,
                      std::uint64_t ahead = 0) noexcept {
    if (Recharges::draw != nullptr) Recharges::draw(*this, from, to, component, amount, ahead);
  }

  // Moves to the account above what of `most` is left, of each component separately (kUnlimited: all), and returns how
  // much that was. Nothing of a component that is unlimited. Under the queue's lock; below the root.
  Amounts withdraw(Account* account, const Amounts& most) noexcept;

  // After ops have come back to the account in one sum: in a pause they go where the others are. Without a lock.
  [[JANUS_OPTIONAL]] void see_to_pause(Account* account) noexcept;
  // Called before the first amount is put aside.
  void begin_aside() noexcept;

  // The waiters for more in this account.
  [[nodiscard]] AccountQueue& queue(Account* account) const noexcept { return account->queue_; }
  // Lists the account as one that something has come into while others wait there.
  void list_unserved(Account* account) noexcept { words_.unserved().list(account); }
  // list_unserved(), if a task waits for more of the component. After a full fence.
  void list_if_waiting(Account* account, Component component) noexcept {
    if (!account->queue_.waits[static_cast<unsigned>(component)].is_empty()) list_unserved(account);
  }
  // Takes the whole list, and returns the index of its first account. take_off_unserved() takes the account with that
  // index off the list, and returns the index of the next one. The record may belong to another account by now.
  static constexpr std::uint32_t kEndOfUnserved = UnservedAccounts::kEnd;
  [[nodiscard]] std::uint32_t take_unserved() noexcept { return words_.unserved().take(); }
  [[nodiscard]] std::uint32_t take_off_unserved(std::uint32_t index) const noexcept {
    return at(index)->queue_.next_unserved.exchange(0, std::memory_order_seq_cst);
  }
  // Indices below this were given out at least once.
  [[nodiscard]] std::uint32_t end() const noexcept { return records_.table().end(); }

  [[nodiscard]] bool granted(const Account* account, Component component) const noexcept;
  // kUnlimited, or what can be drawn now; for the root's memory with the caches' chunks.
  [[nodiscard]] std::uint64_t left(const Account* account, Component component) const noexcept {
    return root_memory_.left(account, component);
  }
  // Whether credits to the account with this index reach `target`, which is open: it is that account, or a closed one
  // below it with only closed ones in between.
  [[nodiscard]] bool flows_into(std::uint32_t index, const Account* target) const noexcept;
  // Whether nothing is charged to the account, and no account below it is in use. Called by the holder, after all other
  // threads have stopped drawing on it.
  [[nodiscard]] bool is_unused(const Account* account) const noexcept {
    return account->references_.load(std::memory_order_acquire) == 1;
  }
  // From now on `to` holds so many bytes that `from` has held, below the root both: they are credited there once they are
  // freed. The caller has a reference to each.
  static void move_held(Account* from, Account* to, std::uint64_t bytes) noexcept {
    if (to->held_.fetch_add(bytes, std::memory_order_relaxed) == 0) retain(to);
    if (from->held_.fetch_sub(bytes, std::memory_order_acq_rel) == bytes)
      from->references_.fetch_sub(1, std::memory_order_acq_rel);  // that of held memory; the caller's stays
  }
  // Memory charged to the account and not yet credited. Not valid for the root.
  [[nodiscard]] std::uint64_t held(const Account* account) const noexcept;
  // Under the queue's lock, so that nothing comes in meanwhile.
  [[nodiscard]] Books books(const Account* account) const noexcept;
  // Something was asked for that the account had not.
  static void note_dry(Account* account) noexcept { account->times_dry_.fetch_add(1, std::memory_order_relaxed); }
  // The least memory that a draw on the root has left in the root and the caches together; kUnlimited before the first.
  [[nodiscard]] std::uint64_t least_memory() const noexcept { return root_memory_.least_left(); }

  // Owner of the cache only. The cache's memory must stay readable until destroy(), also after unregister_cache(): a
  // recall may still access it. unregister_cache() gives the chunk back.
  void register_cache(MemoryCache& cache) noexcept { root_memory_.register_cache(cache); }
  void unregister_cache(MemoryCache& cache) noexcept { root_memory_.unregister_cache(cache); }

  // As left(), with what is aside (aside-is-not-drawn).
  [[nodiscard]] std::uint64_t left_in_all(const Account* account, Component component) const noexcept;

  // How many records are not free, the root included. Exact while no thread opens or closes accounts.
  [[nodiscard]] std::uint32_t count() const noexcept { return records_.table().count(); }

 private:
  friend class Recharges;
  friend class Keeping;
  friend class Pauses;
  friend struct DebuggerLayout;

  [[nodiscard]] static bool is_empty(const Account& account) noexcept;
  bool fill(Account* account, Account* parent, const Amounts& wanted, std::uint8_t granted,
            Component* short_of) noexcept;
  // Whether what the account has of the component is aside in a pause.
  [[nodiscard]] static bool is_aside(const Account* account, Component component) noexcept {
    return component == Component::kOps && account->is_in_pause_.load(std::memory_order_relaxed);
  }
  void open_for_all(Account* account) noexcept;
  [[JANUS_OPTIONAL]] void end_aside(Account* account) noexcept;
  [[JANUS_OPTIONAL]] std::uint64_t left_with_aside(const Account* account, Component component) const noexcept;
  [[JANUS_OPTIONAL]] bool take_wherever(Account* from, Component component, std::uint64_t amount) noexcept;
  bool carve(Account* from, const Amounts& wanted, Amounts& taken, Component* short_of) noexcept;
  static void note_transfer(const Account* from, Account* to, Component component, std::uint64_t amount) noexcept;
  void uncarve(Account* from, const Amounts& taken, unsigned components) noexcept;

  AccountRecords records_;
  AccountWords words_;
  RootMemory root_memory_;
  // Set by the first keeper, and by the first pause: without these nothing is ever put aside.
  Atomic<bool> puts_aside_;
};

}  // namespace janus
