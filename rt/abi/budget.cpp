// SPDX-License-Identifier: Apache-2.0
// rt/abi/budget.cpp — reads and recharges budgets.
#include "rt/abi/entry/budget_convert.h"
#include "rt/abi/entry/entry.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

// Whether the account has the amounts; of kUnlimited, whatever it has.
bool has_left(const Accounts& accounts, const Account* account, const Amounts& amounts) noexcept {
  for (unsigned c = 0; c < kComponents; ++c) {
    if (amounts.of[c] != kUnlimited && amounts.of[c] > accounts.left_in_all(account, static_cast<Component>(c)))
      return false;
  }
  return true;
}

// A task pays from its account, a thread outside tasks from the root's. No task pays for a nursery of another runtime.
int recharge_nursery(const Caller& me, Nursery& nursery, const Amounts& amounts) noexcept {
  Runtime& runtime = *nursery.runtime;
  if (me.task != nullptr && (worker_in(runtime, me) == nullptr || !is_permitted(*me.task, Right::kBudget)))
    return JANUS_E_NO_CAP;
  Account* const payer = me.task != nullptr ? me.task->account : runtime.root_account;
  return janus::recharge(runtime, worker_in(runtime, me), payer, nursery.account, amounts) ? 0 : JANUS_E_BUDGET;
}

// Both must allow it: the right, which the caller has asked for, and the limit. A task that has a token keeps the account
// of the limit in place.
int recharge_itself(const Caller& me, const Confinement& to, const Amounts& amounts) noexcept {
  Runtime& runtime = runtime_of(*me.worker);
  if (!has_left(runtime.accounts, to.cap->limit, amounts)) return JANUS_E_BUDGET;
  if (!me.task->is_caged()) return 0;  // it spends from what has no limit
  return janus::recharge(runtime, me.worker, to.cap->limit, me.task->account, amounts) ? 0 : JANUS_E_BUDGET;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

janus_budget janus_budget_get_current(void) {
  const Caller me = enter();
  if (me.task == nullptr) return {};
  Accounts& accounts = runtime_of(*me.worker).accounts;
  Amounts left;
  for (unsigned c = 0; c < kComponents; ++c)
    left.of[c] = accounts.left_in_all(me.task->account, static_cast<Component>(c));
  // The unspent rest of the slice belongs to the task, too.
  left[Component::kOps] += rest_of_slice(*me.worker);
  return budget_of(left);
}

// A task that a token confines recharges the account that it draws on, out of the token's limit; in a cage if the token was
// presented to the cage, or in it. For others this moves
// nothing, since a task without a budget of its own draws on its nursery's account anyway; it only checks that the account
// has the amount.
int janus_budget_recharge(janus_budget amount) {
  const Caller me = enter();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (const Confinement to = confinement_of(*me.task); to.is_confined) {
    if (!does_give(runtime_of(*me.worker), to.cap, Right::kBudget)) return JANUS_E_NO_CAP;
    if (has_cap_in_cage(*me.task)) return recharge_itself(me, to, amounts_of(amount));
  }
  if (!may_recharge_itself(*me.task)) return JANUS_E_NO_CAP;
  return has_left(runtime_of(*me.worker).accounts, me.task->account, amounts_of(amount)) ? 0 : JANUS_E_BUDGET;
}

int janus_nursery_recharge(janus_nursery* pointer, janus_budget amount) {
  const Caller me = enter();
  const OrError<Nursery*> nursery = check(pointer, me);
  return nursery ? recharge_nursery(me, *nursery.value, amounts_of(amount)) : nursery.error;
}

int janus_budget_grant64(janus_nursery* pointer, int component, uint64_t amount) {
  const Caller me = enter();
  const OrError<Nursery*> found = check(pointer, me);
  if (!found) return found.error;
  Nursery* const nursery = found.value;
  if (component < 0 || component >= static_cast<int>(kComponents)) return JANUS_E_INVALID;
  Amounts amounts{};
  amounts.of[component] = amount;
  return recharge_nursery(me, *nursery, amounts);
}

}  // extern "C"
