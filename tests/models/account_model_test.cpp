// SPDX-License-Identifier: Apache-2.0
// account_model_test.cpp — every interleaving of threads that put ops into an account with threads that owe some on it
// (rt/budget/account_words.cpp): the ops pay the debt, in either order, and only once. Also every interleaving of
// threads that put ops in with threads that wait for some (account_unserved.cpp): each waiter whose amount is there is
// served.
#include "rt/budget/accounts.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Account;
using janus::AccountQueue;
using janus::Accounts;
using janus::AccountWait;
using janus::Component;
using janus::model::Fences;
using janus::model::require;

// 'p': puts 1 op into an account that has none, 'o': owes 1 on it.
struct DebtWorld {
  static constexpr unsigned kMax = 3;
  const char* programs[kMax];
  Accounts accounts{};
  std::uint64_t put = 0, owed = 0;

  unsigned threads() const { return programs[2] == nullptr ? 2 : 3; }

  void begin() { require(accounts.init({}), "there is memory"); }

  void run(unsigned thread) {
    for (const char* what = programs[thread]; *what != '\0'; ++what) {
      if (*what == 'p') {
        accounts.credit(accounts.root(), Component::kOps, 1);
        ++put;
      } else {
        accounts.owe(accounts.root(), 1);
        ++owed;
      }
    }
  }

  void end() {
    require(accounts.left(accounts.root(), Component::kOps) == (put > owed ? put - owed : 0),
            "what was put in has paid the debt, and no more");
    accounts.credit(accounts.root(), Component::kOps, 4);
    require(accounts.left(accounts.root(), Component::kOps) == 4 + put - owed, "what is still owed is not forgotten");
  }
};

bool goes_well(const char* name, const char* first, const char* second, const char* third = nullptr) {
  return janus::model::goes_well<DebtWorld>(name, Fences::kOwn, first, second, third);
}

TEST(account_model, a_credit_pays_the_debt_first) {
  REQUIRE(goes_well("one each", "p", "o"));
  REQUIRE(goes_well("more debt than ops", "p", "oo"));
  REQUIRE(goes_well("more ops than debt", "pp", "o"));
  REQUIRE(goes_well("two who put", "p", "o", "p"));
  REQUIRE(goes_well("two who owe", "o", "p", "o"));
}

// 'p': puts 1 op into the root's account, 'q': into one below it. 'w' and 'x': waits for 1 there, as a task does. 's':
// serves waiters, if it was notified.
struct ReturnWorld {
  static constexpr unsigned kMax = 3;
  const char* programs[kMax];
  Accounts accounts{};
  Account* below = nullptr;
  AccountWait waits[kMax] = {};
  unsigned put = 0, served = 0;
  bool is_told = false;

  unsigned threads() const { return programs[2] == nullptr ? 2 : 3; }

  void begin() {
    require(accounts.init({}), "there is memory");
    below = accounts.open(accounts.root(), {}, nullptr);
    require(below != nullptr, "there is memory for one more");
    accounts.notify_of_returns([](void* told) noexcept { *static_cast<bool*>(told) = true; }, &is_told);
  }

  bool draws(Account* account) {
    const bool drawn = accounts.draw(account, Component::kOps, 1);
    served += drawn ? 1 : 0;
    return drawn;
  }

  void wait(Account* account, AccountWait& wait) {
    AccountQueue& queue = accounts.queue(account);
    wait = {{}, Component::kOps, 1};
    queue.lock.lock();
    queue.enter(wait);
    if (queue.waits[0].front() == &wait && draws(account)) queue.leave(wait);
    queue.lock.unlock();
  }

  void serve() {
    if (!is_told) return;
    is_told = false;
    for (std::uint32_t index = accounts.take_unserved(); index != Accounts::kEndOfUnserved;) {
      Account* const account = accounts.at(index);
      index = accounts.take_off_unserved(index);
      AccountQueue& queue = accounts.queue(account);
      queue.lock.lock();
      while (AccountWait* const first = queue.waits[0].front()) {
        if (!draws(account)) break;
        queue.leave(*first);
      }
      queue.lock.unlock();
    }
  }

  void run(unsigned thread) {
    for (const char* what = programs[thread]; *what != '\0'; ++what) {
      Account* const account = *what == 'p' || *what == 'w' ? accounts.root() : below;
      if (*what == 's') {
        serve();
      } else if (*what == 'w' || *what == 'x') {
        wait(account, waits[thread]);
      } else {
        accounts.credit(account, Component::kOps, 1);
        ++put;
      }
    }
  }

  void end() {
    serve();
    std::uint64_t left = 0;
    for (Account* const account : {accounts.root(), below}) {
      const std::uint64_t there = accounts.left(account, Component::kOps);
      require(there == 0 || accounts.queue(account).waits[0].is_empty(), "nobody waits for what is there");
      left += there;
    }
    require(left + served == put, "each op is drawn once");
  }
};

bool returns_go_well(const char* name, const char* first, const char* second, const char* third = nullptr) {
  return janus::model::goes_well<ReturnWorld>(name, Fences::kOwn, first, second, third);
}

TEST(account_model, returned_budget_is_offered_to_waiters) {
  REQUIRE(returns_go_well("one each", "p", "w"));
  REQUIRE(returns_go_well("one who serves meanwhile", "pp", "w", "s"));
  REQUIRE(returns_go_well("two who wait", "p", "w", "w"));
  REQUIRE(returns_go_well("two who put", "p", "p", "w"));
  REQUIRE(returns_go_well("one who serves in between", "psp", "w", "w"));
  REQUIRE(returns_go_well("two accounts", "wp", "xq", "s"));
}

}  // namespace
