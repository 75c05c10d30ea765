// SPDX-License-Identifier: Apache-2.0
#include "rt/task/account/pause.h"

#include "rt/budget/pauses.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/record/price.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

// The tasks that have waited for the end of the pause look again: their policy decides if there is too little.
void go_on(Runtime& runtime, Task* task, Account* account) noexcept {
  {
    LockGuard guard(runtime.accounts.queue(account).lock);
    Keeping::renew(account);
  }
  serve_exhausted(runtime, task != nullptr ? &current_worker() : worker_of(runtime), account);
}

}  // namespace

void set_paused(Runtime& runtime, Task* task, Nursery& nursery, bool is_paused) noexcept {
  Accounts& accounts = runtime.accounts;
  const Account* const paused = nursery.account;
  Pauses::mark(accounts, nursery.account, is_paused);
  unsigned steps = 0;
  for (std::uint32_t index = kRootIndex + 1; index < accounts.end(); ++index) {
    if (Pauses::see_to_number(accounts, index, paused, ++steps) == Pauses::Change::kResumed)
      go_on(runtime, task, accounts.at(index));
    if (task == nullptr || index % price::kRecordsAtOnce != 0) continue;
    take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
    steps = 0;
    let_others_run(*task);
  }
  if (task != nullptr) take_fuel_unchecked(current_worker(), steps / price::kStepsPerOp);
}

}  // namespace janus
