// SPDX-License-Identifier: Apache-2.0
// rt/budget/account_draw.cpp — drawing, and the references that keep an account meanwhile.
#include "rt/budget/account.h"

#include "rt/base/assert.h"

namespace janus {

void Accounts::retain(Account* account) noexcept {
  [[maybe_unused]] const std::uint32_t before = account->references_.fetch_add(1, std::memory_order_relaxed);
  JANUS_ASSERT(before != 0);  // the caller has a reference, or another party holds one for it
}

bool Accounts::draw(Account* account, Component component, std::uint64_t amount) noexcept {
  if (component == Component::kMemory) return draw_memory(nullptr, account, amount);
  return take(account, component, amount);
}

std::uint64_t Accounts::draw_up_to(Account* account, Component component, std::uint64_t most) noexcept {
  if (component == Component::kOps) pay_debt(account);
  return take_up_to(account, component, most);
}

bool Accounts::draw_memory(MemoryCache* cache, Account* account, std::uint64_t bytes) noexcept {
  if (account->parent_ == nullptr) {
    if (account->left_[static_cast<unsigned>(Component::kMemory)].load(std::memory_order_relaxed) == kUnlimited)
      return true;
    return cache != nullptr ? draw_cached(*cache, bytes) : take_recalling(account, Component::kMemory, bytes);
  }
  if (bytes == 0) return true;
  if (!take(account, Component::kMemory, bytes)) return false;
  // The reference for charged memory. The caller's own one keeps the account until this is counted.
  if (account->held_.fetch_add(bytes, std::memory_order_relaxed) == 0) retain(account);
  return true;
}

}  // namespace janus
