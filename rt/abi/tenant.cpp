// SPDX-License-Identifier: Apache-2.0
// rt/abi/tenant.cpp — a nursery with a budget of its own as a tenant: what it has used, what of its budget is taken back,
// and its pause. docs/decisions/0346, 0348
#include "rt/abi/tenant.h"
#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/entry.h"
#include "rt/task/account/pause.h"
#include "rt/task/account/usage.h"
#include "rt/task/record/price.h"

namespace janus {

namespace {

void fill(std::uint64_t (&to)[kComponents], const Amounts& amounts) noexcept {
  for (unsigned i = 0; i < kComponents; ++i) to[i] = amounts.of[i];
}

// What a withdrawal asks for at most: as a budget says, but all that there is if nothing is said.
Amounts wanted_of(const janus_budget& asked) noexcept {
  return amounts_of(is_given(asked) ? asked : JANUS_BUDGET_ALL);
}

int pause_or_resume(janus_nursery* pointer, bool is_paused) noexcept {
  const Caller me = enter();
  const OrError<Nursery*> found = check_tenant_from_above(pointer, me);
  if (!found) return found.error;
  set_paused(*found.value->runtime, me.task, *found.value, is_paused);
  return 0;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

int janus_nursery_usage(const janus_nursery* pointer, janus_usage* out) {
  const Caller me = enter();
  const OrError<Nursery*> found = check_tenant(pointer, me);
  if (!found) return found.error;
  if (out == nullptr) return JANUS_E_INVALID;
  const auto asked = read_user<std::uint64_t>(out);
  if (asked != 0 && asked < sizeof(janus_usage)) return JANUS_E_INVALID;
  const Usage usage = usage_of(worker_in(*found.value->runtime, me), *found.value);
  janus_usage told = {};
  told.size = asked;
  fill(told.spent, usage.books.spent);
  fill(told.left, usage.books.left);
  fill(told.returned, usage.books.returned);
  fill(told.peak, usage.peak);
  told.resident_bytes = usage.books.held;
  told.longest_hold_ns = usage.longest_hold_ns;
  told.times_dry = usage.times_dry;
  told.tasks = usage.tasks;
  told.price_table = price::kTable;
  write_user(out, told);
  return 0;
}

// The amount is read before anything is taken.
int janus_nursery_withdraw(janus_nursery* pointer, janus_budget* amount) {
  const Caller me = enter();
  const OrError<Nursery*> found = check_tenant_from_above(pointer, me);
  if (!found) return found.error;
  if (me.task != nullptr && !is_permitted(*me.task, Right::kBudget)) return JANUS_E_NO_CAP;
  const Amounts wanted = wanted_of(amount != nullptr ? read_user<janus_budget>(amount) : janus_budget{});
  if (amount != nullptr) write_user(amount, janus_budget{});
  Accounts& accounts = found.value->runtime->accounts;
  Account* const account = found.value->account;
  Amounts taken;
  {
    LockGuard guard(accounts.queue(account).lock);
    taken = accounts.withdraw(account, wanted);
  }
  accounts.see_to_pause(account->parent());  // linked with the pauses of this file
  if (amount != nullptr) write_user(amount, budget_of(taken));
  return 0;
}

int janus_nursery_pause(janus_nursery* pointer) {
  return pause_or_resume(pointer, true);
}

int janus_nursery_resume(janus_nursery* pointer) {
  return pause_or_resume(pointer, false);
}

}  // extern "C"
