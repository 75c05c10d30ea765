// SPDX-License-Identifier: Apache-2.0
// rt/budget/accounts.cpp — see accounts.h. Every move between accounts first takes the amount from one account, and
// then puts it into the other. docs/decisions/0295
#include "rt/budget/accounts.h"

#include "rt/base/assert.h"
#include "rt/base/checked.h"
#include "rt/budget/pauses.h"

namespace janus {
namespace {

void report_short(Component* out, Component component) noexcept {
  if (out != nullptr) *out = component;
}

}  // namespace

// ---- All of them --------------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] bool Accounts::init(const Amounts& root) noexcept {
  records_.table().init();
  words_.unserved().init();
  charge_records(0, nullptr);
  Account* const account = records_.take(false);
  if (account == nullptr) return false;
  std::uint8_t granted = 0;
  for (unsigned i = 0; i < kComponents; ++i) {
    account->left_[i].store(root.of[i], std::memory_order_relaxed);
    if (root.of[i] != 0) granted |= bit_of(component_at(i));
  }
  account->granted_.store(granted, std::memory_order_relaxed);
  account->parent_ = nullptr;
  account->depth_ = 0;
  account->lender_ = account;
  account->unserved_ = &words_.unserved();
  account->is_closed_.store(false, std::memory_order_relaxed);
  puts_aside_.store(false, std::memory_order_relaxed);
  root_memory_.init(account, &words_);
  return true;
}

[[gnu::noinline, gnu::cold]] void Accounts::destroy() noexcept {
  records_.table().destroy();
  root_memory_.destroy();
}

// ---- Opening and closing ------------------------------------------------------------------------------------------

[[gnu::noinline, gnu::cold]] Account* Accounts::open(Account* parent, const Amounts& wanted,
                                                     Component* short_of) noexcept {
  Account* const account = records_.take_paid(words_, parent);
  if (account == nullptr) {
    report_short(short_of, Component::kMemory);
    return nullptr;
  }
  if (fill(account, parent, wanted, 0, short_of)) return account;
  records_.free_paid(words_, account, parent);
  return nullptr;
}

[[gnu::noinline, gnu::cold]] Account* Accounts::open_paid(Account* parent, bool has_drawn, const Amounts& wanted,
                                                          Component* short_of) noexcept {
  Account* const account = records_.take(has_drawn);
  if (account == nullptr) {
    report_short(short_of, Component::kMemory);
    return nullptr;
  }
  if (fill(account, parent, wanted, Account::kPaidApart, short_of)) return account;
  records_.table().free_record(account);
  return nullptr;
}

// Takes the amounts out of the parent, and sets the fields of a record that was taken.
[[gnu::cold]] bool Accounts::fill(Account* account, Account* parent, const Amounts& wanted, std::uint8_t granted,
                                  Component* short_of) noexcept {
  Amounts taken;
  if (!carve(parent, wanted, taken, short_of)) return false;
  for (unsigned i = 0; i < kComponents; ++i) {
    account->left_[i].store(taken.of[i], std::memory_order_relaxed);
    account->came_in_[i].store(taken.of[i], std::memory_order_relaxed);
    // If the parent was not granted the component, a request for kUnlimited does not grant it. If the parent has used
    // it up, the component is granted with an amount of 0.
    if (wanted.of[i] == kUnlimited ? this->granted(parent, component_at(i)) : wanted.of[i] != 0)
      granted |= bit_of(component_at(i));
  }
  granted |= parent->granted_.load(std::memory_order_relaxed) & Account::kPaysForPages;
  account->granted_.store(granted, std::memory_order_relaxed);
  account->parent_ = parent;
  account->depth_ = parent->depth_ != UINT16_MAX ? static_cast<std::uint16_t>(parent->depth_ + 1) : UINT16_MAX;
  account->lender_ = left_in_all(parent, Component::kOps) == kUnlimited ? account : parent->lender_;
  account->unserved_ = &words_.unserved();
  retain(parent);
  open_for_all(account);
  return true;
}

[[gnu::noinline, gnu::cold]] void Accounts::close(Account* account) noexcept {
  JANUS_ASSERT(account->parent_ != nullptr && !account->is_closed_.load(std::memory_order_relaxed));
  account->is_closed_.store(true, std::memory_order_seq_cst);
  if (AccountWords::has_aside()) end_aside(account);
  for (unsigned i = 0; i < kComponents; ++i) {
    const std::uint64_t rest = AccountWords::take_all(account, component_at(i));
    if (rest != kUnlimited) words_.put(account, component_at(i), rest);
  }
  if (const std::uint64_t debt = account->owed_.exchange(0, std::memory_order_seq_cst)) owe(account, debt);
  if (AccountWords::has_aside()) see_to_pause(account->parent_);
  release(account);
}

// The account can be drawn on from now on. A pause of an account above marks that one before it looks for those below, and
// this looks for marks after it has opened the account (both fully ordered), so one of the two puts the ops aside.
[[gnu::cold]] void Accounts::open_for_all(Account* account) noexcept {
  account->is_closed_.store(false, std::memory_order_seq_cst);
  if (Pauses::are_any()) (void)Pauses::see_to(account);
}

// Takes `wanted` out of `from`, all or nothing; taken.of[i] is how much of each component. False: *short_of was short.
[[gnu::cold]] bool Accounts::carve(Account* from, const Amounts& wanted, Amounts& taken, Component* short_of) noexcept {
  for (unsigned i = 0; i < kComponents; ++i) {
    const Component component = component_at(i);
    if (wanted.of[i] == kUnlimited) {
      taken.of[i] = is_aside(from, component) ? AccountWords::take_aside(from, kUnlimited)
                                              : root_memory_.take_all(from, component);
    } else if (root_memory_.take(from, component, wanted.of[i]) ||
               (AccountWords::has_aside() && take_wherever(from, component, wanted.of[i]))) {
      taken.of[i] = wanted.of[i];
    } else {
      uncarve(from, taken, i);
      report_short(short_of, component);
      return false;
    }
  }
  return true;
}

void Accounts::uncarve(Account* from, const Amounts& taken, unsigned components) noexcept {
  for (unsigned i = 0; i < components; ++i) {
    if (taken.of[i] == kUnlimited) continue;
    if (is_aside(from, component_at(i)))
      AccountWords::add_aside(from, taken.of[i]);
    else
      words_.put(from, component_at(i), taken.of[i]);
  }
}

// Books-balance: the amount comes into `to`, and into each account above it that is not above `from`, too. Those get what is
// left of it when the accounts below them close; until then they have given it away, so that it counts as spent there.
[[gnu::cold]] void Accounts::note_transfer(const Account* from, Account* to, Component component,
                                           std::uint64_t amount) noexcept {
  if (amount == kUnlimited) return AccountWords::note_income(to, component, amount);
  for (Account* above = to; above != from;) {
    const bool is_higher = above->depth_ < from->depth_;
    if (above->depth_ <= from->depth_) from = from->parent_;
    if (is_higher) continue;
    AccountWords::note_income(above, component, amount);
    above = above->parent_;
  }
}

[[gnu::noinline, gnu::cold]] bool Accounts::transfer(Account* from, Account* to, const Amounts& amounts,
                                                     Component* short_of) noexcept {
  Amounts wanted = amounts;
  for (unsigned i = 0; i < kComponents; ++i) {
    if (left_in_all(to, component_at(i)) == kUnlimited) wanted.of[i] = 0;
  }
  Amounts taken;
  if (!carve(from, wanted, taken, short_of)) return false;
  for (unsigned i = 0; i < kComponents; ++i) {
    if (taken.of[i] == 0) continue;
    to->granted_.fetch_or(bit_of(component_at(i)), std::memory_order_relaxed);
    note_transfer(from, to, component_at(i), taken.of[i]);
    if (is_aside(to, component_at(i))) {
      AccountWords::add_aside(to, taken.of[i]);
    } else if (taken.of[i] == kUnlimited) {
      AccountWords::grant_unlimited(to, component_at(i));
    } else {
      words_.put(to, component_at(i), taken.of[i]);
    }
  }
  return true;
}

// Checks INVARIANT nothing-rests-in-a-closed-account for an account without references.
inline bool Accounts::is_empty(const Account& account) noexcept {
  for (const auto& left : account.left_) {
    const std::uint64_t rest = left.load(std::memory_order_relaxed);
    if (rest != 0 && rest != kUnlimited) return false;
  }
  return account.is_closed_.load(std::memory_order_relaxed) && account.held_.load(std::memory_order_relaxed) == 0;
}

[[gnu::noinline, gnu::cold]] void Accounts::release(Account* account) noexcept {
  // The cost of the freed records, carried up to an open account in one sum: to credit each separately would take time
  // quadratic in the length of a chain of closed accounts.
  std::uint64_t returned = 0;
  for (;;) {
    // If ours is the last reference, no other thread uses the account, and we carry the sum on. Otherwise another
    // thread may free the record once our reference is gone, so the sum is credited before that.
    if (returned != 0 && (!account->is_closed() || account->references_.load(std::memory_order_acquire) != 1)) {
      words_.put(account, Component::kMemory, returned);
      returned = 0;
    }
    // Release: our use of the record happens before its reuse. Acquire: so does the use by all other threads.
    const std::uint32_t before = account->references_.fetch_sub(1, std::memory_order_acq_rel);
    JANUS_CHECK(before != 0);
    if (before != 1) return;
    Account* const parent = account->parent_;
    JANUS_ASSERT(parent != nullptr && is_empty(*account));
    const bool is_paid_apart = (account->granted_.load(std::memory_order_relaxed) & Account::kPaidApart) != 0;
    records_.table().free_record(account);
    if (!is_paid_apart) returned += records_.end_charge(parent);
    account = parent;
  }
}

// ---- Drawing ------------------------------------------------------------------------------------------------------

bool Accounts::draw(Account* account, Component component, std::uint64_t amount) noexcept {
  if (component == Component::kMemory) return draw_memory(nullptr, account, amount);
  return AccountWords::take(account, component, amount);
}

std::uint64_t Accounts::draw_up_to(Account* account, Component component, std::uint64_t most) noexcept {
  if (component == Component::kOps) AccountWords::pay_debt(account);
  return AccountWords::take_up_to(account, component, most);
}

bool Accounts::draw_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept {
  if (account->parent_ == nullptr)
    return cache != nullptr ? root_memory_.draw_cached(*cache, bytes) : root_memory_.draw(bytes);
  return bytes == 0 || draw_below_root(account, bytes);
}

// ---- Crediting ----------------------------------------------------------------------------------------------------

void Accounts::credit(Account* account, Component component, std::uint64_t amount) noexcept {
  if (component == Component::kMemory) return credit_memory(nullptr, account, amount);
  words_.put(account, component, amount);
}

void Accounts::credit_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept {
  if (account->parent_ == nullptr) {
    if (cache != nullptr) return root_memory_.credit_cached(*cache, bytes);
    return root_memory_.credit(bytes);
  }
  if (bytes != 0) credit_below_root(account, bytes);
}

void Accounts::credit_below_root(Account* account, std::uint64_t bytes) noexcept {
  words_.put_some(account, Component::kMemory, bytes);
  // The credit that reduces held_ to 0 releases the reference that was taken when held_ rose from 0.
  const std::uint64_t held = account->held_.fetch_sub(bytes, std::memory_order_acq_rel);
  AccountWords::note_held(account, held);
  if (held > bytes) [[likely]]
    return;
  JANUS_CHECK(held == bytes);
  release(account);
}

bool Accounts::granted(const Account* account, Component component) const noexcept {
  return (account->granted_.load(std::memory_order_relaxed) & bit_of(component)) != 0;
}

std::uint64_t Accounts::left_in_all(const Account* account, Component component) const noexcept {
  const bool is_any = account->aside_[static_cast<unsigned>(component)].load(std::memory_order_acquire) != 0;
  return is_any && AccountWords::has_aside() ? left_with_aside(account, component) : left(account, component);
}

bool Accounts::flows_into(std::uint32_t index, const Account* target) const noexcept {
  const Account* account = at(index);
  while (account != nullptr && account != target && account->is_closed_.load(std::memory_order_acquire))
    account = account->parent_;
  return account == target;
}

std::uint64_t Accounts::held(const Account* account) const noexcept {
  return account->held_.load(std::memory_order_relaxed);
}

}  // namespace janus
