// SPDX-License-Identifier: Apache-2.0
// account_model_test.cpp — every interleaving of those who put ops into an account with those who owe some on it
// (rt/budget/account_words.cpp): what was put in pays the debt, whoever comes first, and pays it once.
#include "rt/budget/account.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Accounts;
using janus::Component;
using janus::model::Fences;
using janus::model::require;

// 'p': puts 1 op into an account that has none, 'o': owes 1 on it.
struct DebtWorld {
  static constexpr unsigned kMost = 3;
  const char* programs[kMost];
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

TEST(account_model, what_is_put_in_pays_what_is_owed) {
  REQUIRE(goes_well("one each", "p", "o"));
  REQUIRE(goes_well("more debt than ops", "p", "oo"));
  REQUIRE(goes_well("more ops than debt", "pp", "o"));
  REQUIRE(goes_well("two who put", "p", "o", "p"));
  REQUIRE(goes_well("two who owe", "o", "p", "o"));
}

}  // namespace
