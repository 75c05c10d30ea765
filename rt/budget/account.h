// SPDX-License-Identifier: Apache-2.0
// rt/budget/account.h — one account, which holds a budget. A nursery or task with an explicit budget opens one below its
// parent's; all others draw on the account that they inherit. Knows amounts, but no tasks, nurseries or policies.
// docs/decisions/0060, 0206
#pragma once

#include <cstddef>
#include <cstdint>

#include "rt/base/atomic.h"
#include "rt/base/list.h"
#include "rt/base/lock_rank.h"

namespace janus {

inline constexpr unsigned kAccountLine = 64;

enum class Component : unsigned { kOps, kMemory, kSpawns, kChannelOps, kSyscalls };
inline constexpr unsigned kComponents = 5;
constexpr Component component_at(unsigned number) noexcept {
  return static_cast<Component>(number);
}
constexpr std::uint8_t bit_of(Component component) noexcept {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(component));
}

// Drawing on an unlimited component does not reduce it. In a request, kUnlimited means everything that the giving
// account has.
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
inline constexpr std::uint64_t kMaxFinite = kUnlimited - 1;
inline constexpr std::uint32_t kRootIndex = 1;  // of the root account

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
// INVARIANT no-lost-return: an amount that comes into an account is offered to the tasks that wait there.
//   put:  1 add the amount    2 (step 1 is a full fence, too)     3 does a task wait? then list the account as unserved
//   wait: 1 enter the queue   2 full fence                        3 is the amount there?
// At least one side sees the other's first step. A thread that serves the list takes an account off before it looks.
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
// INVARIANT debt-is-carried: ops that were spent beyond what was drawn are a debt. Any amount that comes into the
// account pays it first, and the debt of a closed account passes to its parent, up to kMaxDebtAbove. Debt above that
// limit is forgiven, since a task may pass any cost to a yield check, and must not ruin accounts above.
//
// INVARIANT one-line-of-credit: each account gets a lender when it is opened: itself if it is the root or its parent's
// ops are unlimited, otherwise its parent's lender. All loans of one lender together never exceed the limit that is
// passed to borrow(). So an account and all accounts below it together spend at most what came in from above, plus one
// such limit.
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
  // Its users' blocks lie in spans of its own, whose pages it pays for (rt/mem/cage_heap.h). So do those of all accounts
  // that are opened below it.
  [[nodiscard]] bool pays_for_pages() const noexcept {
    return (granted_.load(std::memory_order_relaxed) & kPaysForPages) != 0;
  }
  // Called before anything draws on the account.
  void pay_for_pages() noexcept { granted_.fetch_or(kPaysForPages, std::memory_order_relaxed); }

 private:
  friend class AccountTable;
  friend class UnservedAccounts;
  friend class AccountWords;
  friend class AccountRecords;
  friend class RootMemory;
  friend class Recharges;
  friend class Accounts;
  friend struct DebuggerLayout;  // rt/abi/inspect/debugger.cpp

  Atomic<std::uint64_t> left_[kComponents];  // kUnlimited, or what can still be drawn
  Atomic<std::uint64_t> held_;               // memory drawn here and not yet credited; not counted for the root
  Atomic<std::uint64_t> owed_;               // ops that were spent here and not drawn yet
  // The part of recharges that accounts below may still draw when their own amounts are used up (draw_recharged()).
  Atomic<std::uint64_t> recharged_[kComponents];
  // The amounts that this account has drawn from recharges of an account above and has not spent: others may draw them
  // again when they come back. Amounts of other components count as spent when they are drawn.
  Atomic<std::uint64_t> drawn_memory_;
  Atomic<std::uint32_t> drawn_ops_;
  Atomic<std::uint32_t> on_loan_;  // as a lender: ops lent and not given back
  Account* lender_;
  Atomic<std::uint32_t> references_;
  // Bit c: component c was granted. Bits are only added while open. kPaidApart: its record is not charged to its parent.
  Atomic<std::uint8_t> granted_;
  static constexpr std::uint8_t kPaidApart = 128;
  static constexpr std::uint8_t kPaysForPages = 64;  // see pays_for_pages()
  Atomic<bool> is_closed_;
  std::uint16_t depth_;  // 0 for the root; stops at 65,535
  Account* parent_;      // nullptr for the root
  std::uint32_t index_;
  Atomic<std::uint32_t> next_free_;  // index of the next free record
  AccountQueue queue_;
};
static_assert(sizeof(Account) == 192);

}  // namespace janus
