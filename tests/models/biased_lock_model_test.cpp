// SPDX-License-Identifier: Apache-2.0
// biased_lock_model_test.cpp — every interleaving of a few uses of rt/base/biased_lock.{h,cpp}: no two threads hold it
// at once, no store that it guards is lost, no thread sleeps for ever, and unlocked for good it has no owner. In a
// model the second use in a row makes an owner.
#include "rt/base/biased_lock.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::BiasedLock;
using janus::LockOwner;
using janus::model::Fences;
using janus::model::require;

// A thread's uses of the lock, one letter for each. 'w': lock and unlock as a worker; 'o': as a thread that cannot become
// the owner; 'g': with lock_as_guest(); 'l': with unlock_for_good(), before or after the last uses of the other threads.
// The first thread owns the lock at the start.
struct BiasedLockWorld {
  static constexpr unsigned kMax = 3;
  const char* turns[kMax];
  BiasedLock lock{};
  LockOwner owners[kMax]{};
  janus::Atomic<std::uint32_t> guarded{0};
  std::uint8_t inside = 0;

  unsigned threads() const { return turns[2] == nullptr ? 2 : 3; }

  void begin() {
    lock.init(true);
    for (int i = 0; i < 2; ++i) lock.unlock(&owners[0], lock.lock(&owners[0]));
    require(lock.is_owned_by(owners[0]), "two turns in a row make an owner");
  }

  void run(unsigned thread) {
    for (const char* how = turns[thread]; *how != '\0'; ++how) {
      LockOwner* const me = *how == 'o' ? nullptr : &owners[thread];
      const BiasedLock::Hold hold = *how == 'g' ? lock.lock_as_guest(me) : lock.lock(me);
      require(inside++ == 0, "two never hold it");
      guarded.store(guarded.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      --inside;
      if (*how == 'l')
        lock.unlock_for_good(me, hold);
      else
        lock.unlock(me, hold);
    }
  }

  void end() {
    unsigned all = 0;
    for (unsigned i = 0; i < threads(); ++i)
      for (const char* how = turns[i]; *how != '\0'; ++how) ++all;
    require(guarded.load() == all, "no store is lost");
    // No thread holds the lock, so these calls do not wait. The second use in a row makes the worker the owner, and
    // unlock_for_good() then removes the owner.
    lock.unlock(&owners[1], lock.lock(&owners[1]));
    lock.unlock_for_good(&owners[1], lock.lock(&owners[1]));
    for (LockOwner& owner : owners) require(!lock.is_owned_by(owner), "at rest it has no owner");
  }
};

bool goes_well(const char* first, const char* second, const char* third = nullptr, Fences fences = Fences::kHeavy) {
  return janus::model::goes_well<BiasedLockWorld>(first, fences, first, second, third);
}

TEST(biased_lock_model, an_owner_and_one_who_revokes) {
  REQUIRE(goes_well("ww", "o"));
  REQUIRE(goes_well("ww", "oo"));
}

TEST(biased_lock_model, two_workers_that_take_it_from_each_other) {
  REQUIRE(goes_well("www", "www"));
}

TEST(biased_lock_model, an_owner_and_two_who_revoke) {
  REQUIRE(goes_well("ww", "w", "w"));
  REQUIRE(goes_well("ww", "o", "o"));
}

TEST(biased_lock_model, ownership_can_change_between_two_looks_of_the_last_owner) {
  REQUIRE(goes_well("ww", "www", "o"));
}

TEST(biased_lock_model, a_guest_and_one_who_gives_it_up_for_good) {
  REQUIRE(goes_well("wl", "g", "w"));
  REQUIRE(goes_well("ll", "o"));
  REQUIRE(goes_well("ll", "ll"));
}

}  // namespace
