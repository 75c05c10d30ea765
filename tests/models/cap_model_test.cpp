// SPDX-License-Identifier: Apache-2.0
// cap_model_test.cpp — every interleaving of revokes with checks of a token that derives from what is revoked
// (rt/task/record/cap.h): a check that begins after a revoke has returned fails, though others have found the token in force
// before, or are about to say so; and of several who revoke one token, one does.
#include "rt/task/record/cap.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::CapLife;
using janus::model::Fences;
using janus::model::require;

constexpr unsigned kTokens = 3;  // each derives from the one before

// `revokes`: a digit for each thread that revokes: which token. The others check the last token, each `checks` times.
struct CapWorld {
  const char* revokes;
  unsigned checkers;
  unsigned checks;
  janus::Atomic<std::uint64_t> epoch{0};
  CapLife tokens[kTokens]{};
  // What a program may use to know that a revoke has returned.
  janus::Atomic<std::uint32_t> returned{0};
  unsigned done = 0;  // revokes that were the first of their token

  unsigned revokers() const { return revokes[1] == '\0' ? 1 : 2; }
  unsigned threads() const { return revokers() + checkers; }
  void begin() {
    for (unsigned i = 0; i < kTokens; ++i) {
      tokens[i].parent = i != 0 ? &tokens[i - 1] : nullptr;
      tokens[i].clean_epoch.store(CapLife::kNever, std::memory_order_relaxed);
    }
  }

  void run(unsigned thread) {
    if (thread < revokers()) {
      const unsigned which = static_cast<unsigned>(revokes[thread] - '0');
      if (tokens[which].revoke(epoch)) ++done;
      returned.store(1, std::memory_order_release);
      return;
    }
    for (unsigned i = 0; i < checks; ++i) {
      const bool is_late = returned.load(std::memory_order_acquire) != 0;
      unsigned steps = 0;
      const bool is_in_force = tokens[kTokens - 1].is_in_force(epoch, steps);
      require(!is_late || !is_in_force, "a check that begins after a revoke fails");
      require(steps <= kTokens, "a check looks at each token once at most");
    }
  }

  void end() {
    unsigned steps = 0;
    require(!tokens[kTokens - 1].is_in_force(epoch, steps), "in the end the token is not in force");
    const bool are_alike = revokers() == 2 && revokes[0] == revokes[1];
    require(done == (are_alike ? 1 : revokers()), "a token is revoked once");
  }
};

bool goes_well(const char* name, const char* revokes, unsigned checkers, unsigned checks) {
  return janus::model::goes_well<CapWorld>(name, Fences::kHeavy, revokes, checkers, checks);
}

TEST(cap_model, a_check_during_the_revoke_of_the_token_itself) {
  REQUIRE(goes_well("one who checks twice", "2", 1, 2));
  REQUIRE(goes_well("two who check", "2", 2, 1));
}

TEST(cap_model, a_check_during_the_revoke_of_one_above) {
  REQUIRE(goes_well("the next above", "1", 1, 2));
  REQUIRE(goes_well("the first", "0", 1, 2));
  REQUIRE(goes_well("two who check", "0", 2, 2));
}

TEST(cap_model, two_revokes) {
  REQUIRE(goes_well("of one token", "11", 1, 2));
  REQUIRE(goes_well("of two", "02", 1, 2));
}

}  // namespace
