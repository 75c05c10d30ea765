// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_recharge.cpp — recharges, and drawing on them. An archive member of its own, linked by a call of
// recharge(): in a program that never recharges there is nothing to draw on. docs/decisions/0296
#include "rt/base/checked.h"
#include "rt/budget/accounts.h"
#include "rt/budget/recharges.h"

namespace janus {
namespace {

// Takes up to `most` of the word; returns how much.
template <typename Word>
std::uint64_t take_part(Atomic<Word>& word, std::uint64_t most) noexcept {
  Word seen = word.load(std::memory_order_relaxed);
  Word part = 0;
  do {
    part = seen < most ? seen : static_cast<Word>(most);
  } while (part != 0 && !word.compare_exchange_weak(seen, static_cast<Word>(seen - part), std::memory_order_relaxed));
  return part;
}

}  // namespace

void Recharges::add(Account* account, Component component, std::uint64_t amount) noexcept {
  Atomic<std::uint64_t>& pool = account->recharged_[static_cast<unsigned>(component)];
  std::uint64_t seen = pool.load(std::memory_order_relaxed);
  while (!pool.compare_exchange_weak(seen, saturating_add(seen, amount, kMaxFinite), std::memory_order_relaxed)) {
  }
}

// Pays back loans with up to `most` ops of the lender, so that it may lend again; returns how much. Takes the ops
// before it reduces the loan, so that the lender's limit holds at every moment.
std::uint64_t Recharges::pay_loans(AccountWords& words, Account* lender, std::uint64_t most) noexcept {
  Atomic<std::uint32_t>& on_loan = lender->on_loan_;
  std::uint32_t seen = on_loan.load(std::memory_order_relaxed);
  if (seen == 0) return 0;
  const std::uint64_t taken = AccountWords::take_up_to(lender, Component::kOps, seen < most ? seen : most);
  std::uint32_t paid = 0;
  do {
    paid = seen < taken ? seen : static_cast<std::uint32_t>(taken);  // other threads may have given some back meanwhile
  } while (!on_loan.compare_exchange_weak(seen, seen - paid, std::memory_order_relaxed));
  words.put(lender, Component::kOps, taken - paid);
  return paid;
}

bool Accounts::recharge(Account* from, Account* to, const Amounts& amounts) noexcept {
  Amounts moved = amounts;
  for (unsigned i = 0; i < kComponents; ++i) {
    if (amounts.of[i] == kUnlimited) moved.of[i] = left_in_all(from, component_at(i));
  }
  if (from == to) {
    // Nothing moves, but a recharge must not promise more than the account has.
    for (unsigned i = 0; i < kComponents; ++i)
      if (moved.of[i] > left_in_all(from, component_at(i))) return false;
  } else {
    if (!transfer(from, to, amounts)) return false;
    moved[Component::kOps] -= Recharges::pay_loans(words_, to, moved[Component::kOps]);
  }
  for (unsigned i = 0; i < kComponents; ++i) Recharges::add(to, component_at(i), moved.of[i]);
  return true;
}

void Recharges::draw(Accounts& accounts, Account* from, Account* to, Component component, std::uint64_t amount,
                     std::uint64_t ahead) noexcept {
  const bool as_a_whole = component != Component::kOps;
  const std::uint64_t most = saturating_add(amount, ahead, kMaxFinite);
  Atomic<std::uint64_t>& pool = from->recharged_[static_cast<unsigned>(component)];
  std::uint64_t seen = pool.load(std::memory_order_relaxed);
  std::uint64_t part = 0;
  do {
    part = seen < most ? seen : most;
    if (part == 0 || (as_a_whole && part < most)) return;
  } while (!pool.compare_exchange_weak(seen, seen - part, std::memory_order_relaxed));
  // Other tasks may have spent part of the recharge; that part goes back to the pool, to be drawn from later amounts.
  const std::uint64_t moved = !as_a_whole ? AccountWords::take_up_to(from, component, part)
                              : accounts.root_memory_.take(from, component, part) ? part
                                                                                  : 0;
  add(from, component, part - moved);
  if (component == Component::kOps) {  // replaces the old value: ops drawn before are spent
    const std::uint64_t unspent = moved > amount ? moved - amount : 0;
    to->drawn_ops_.store(unspent < UINT32_MAX ? static_cast<std::uint32_t>(unspent) : UINT32_MAX,
                         std::memory_order_relaxed);
  } else if (component == Component::kMemory) {
    to->drawn_memory_.fetch_add(moved, std::memory_order_relaxed);
  }
  to->granted_.fetch_or(bit_of(component), std::memory_order_relaxed);
  AccountWords::note_income(to, component, moved);
  accounts.words_.put(to, component, moved);
}

void Recharges::pass_on_drawn(Account* closed, Component component, std::uint64_t amount) noexcept {
  if (component == Component::kOps)
    add(closed->parent_, component, take_part(closed->drawn_ops_, amount));
  else if (component == Component::kMemory)
    add(closed->parent_, component, take_part(closed->drawn_memory_, amount));
}

}  // namespace janus
