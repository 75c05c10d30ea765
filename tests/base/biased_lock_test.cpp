// SPDX-License-Identifier: Apache-2.0
// biased_lock_test.cpp — the lock on real threads. biased_lock_model_test.cpp explores every order of its steps.
#include "rt/base/biased_lock.h"

#include "tests/harness/test.h"
#include "tests/harness/thread_group.h"

namespace {

using janus::BiasedLock;
using janus::LockOwner;
using Hold = BiasedLock::Hold;

constexpr unsigned kTurnsToOwn = 33;  // the first turn only records the user

struct Fresh : BiasedLock {
  explicit Fresh(bool may_bias = true) { init(may_bias); }
};

// The number of the turn in which `me` owns the lock; `most` + 1 if it never does.
unsigned turns_until_owner(BiasedLock& lock, LockOwner& me, unsigned most = 10'000) {
  for (unsigned turn = 1; turn <= most; ++turn) {
    const Hold hold = lock.lock(&me);
    lock.unlock(&me, hold);
    if (hold == Hold::kBiased) return turn;
  }
  return most + 1;
}

TEST(biased_lock, a_sole_user_becomes_the_owner) {
  if (!janus::platform::has_heavy_fence()) return janus::test::skip("no heavy fence on this machine");
  Fresh lock;
  LockOwner me;
  CHECK_EQ(turns_until_owner(lock, me), kTurnsToOwn + 1);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(lock.try_lock_biased(me));
    lock.unlock_biased(me);
  }
}

TEST(biased_lock, a_second_user_ends_ownership_and_the_next_owner_needs_twice_as_many_uses) {
  if (!janus::platform::has_heavy_fence()) return janus::test::skip("no heavy fence on this machine");
  Fresh lock;
  LockOwner me, other;
  unsigned wanted = kTurnsToOwn;
  for (int round = 0; round < 3; ++round) {
    CHECK_EQ(turns_until_owner(lock, me), wanted + 1);
    const Hold hold = lock.lock(round == 1 ? nullptr : &other);
    CHECK_EQ(hold, Hold::kPlain);
    CHECK(!lock.try_lock_biased(me));
    lock.unlock(&other, hold);
    CHECK(!lock.try_lock_biased(me));
    wanted = 2 * wanted - 1;
  }
}

TEST(biased_lock, an_owner_that_is_slow_between_its_two_looks_finds_out) {
  if (!janus::platform::has_heavy_fence()) return janus::test::skip("no heavy fence on this machine");
  Fresh lock;
  LockOwner me, other;
  CHECK_EQ(turns_until_owner(lock, me), kTurnsToOwn + 1);
  CHECK(lock.is_owned_by(me));
  CHECK_EQ(turns_until_owner(lock, other), 2 * kTurnsToOwn);
  REQUIRE(lock.try_lock_biased(other));
  CHECK(!lock.try_enter(me));
  lock.leave(me);  // after the failed try_enter(): must not release the lock that `other` holds
  CHECK(lock.try_exit(other));
  CHECK(lock.is_owned_by(other));
}

TEST(biased_lock, several_workers_in_turn_make_no_owner) {
  Fresh lock;
  LockOwner members[2];
  for (int i = 0; i < 10'000; ++i) {
    const Hold hold = lock.lock(&members[i % 2]);
    CHECK_EQ(hold, Hold::kPlain);
    lock.unlock(&members[i % 2], hold);
  }
}

TEST(biased_lock, guests_strangers_and_users_of_a_shared_lock_are_not_owners) {
  Fresh lock, shared(false);
  LockOwner me;
  for (int i = 0; i < 10'000; ++i) {
    Hold hold = lock.lock_as_guest(&me);
    CHECK_EQ(hold, Hold::kPlain);
    lock.unlock(&me, hold);
    hold = lock.lock(nullptr);
    CHECK_EQ(hold, Hold::kPlain);
    lock.unlock(nullptr, hold);
  }
  CHECK_EQ(turns_until_owner(shared, me), 10'001u);
}

TEST(biased_lock, after_the_bias_is_given_up_for_good_there_is_no_owner) {
  if (!janus::platform::has_heavy_fence()) return janus::test::skip("no heavy fence on this machine");
  Fresh lock;
  LockOwner me;
  CHECK_EQ(turns_until_owner(lock, me), kTurnsToOwn + 1);
  Hold hold = lock.lock(&me);
  CHECK_EQ(hold, Hold::kBiased);
  lock.unlock_for_good(&me, hold);
  CHECK(!lock.try_lock_biased(me));
  for (unsigned i = 0; i < kTurnsToOwn; ++i) {
    hold = lock.lock(&me);
    CHECK_EQ(hold, Hold::kPlain);
    i + 1 < kTurnsToOwn ? lock.unlock(&me, hold) : lock.unlock_for_good(&me, hold);
  }
  CHECK(!lock.try_lock_biased(me));
}

// --- Storms ---

constexpr unsigned kMembers = 4;
struct Storm {
  Fresh lock;
  LockOwner owners[kMembers];
  std::uint64_t guarded[2] = {0, 0};  // both always have the same value
  std::uint64_t wrong = 0;            // guarded by the lock, too
  std::atomic<std::uint64_t> biased{0};
} storm;

// Long runs of turns let this thread come to own the lock while others wait; short runs let it lose the lock again.
void take_turns(unsigned number) {
  LockOwner* const me = number + 1 == kMembers ? nullptr : &storm.owners[number];
  std::uint64_t biased = 0;
  for (unsigned burst = 0; burst < 60; ++burst) {
    for (unsigned turn = 0; turn < (burst % 3 == number % 3 ? 300u : 3u); ++turn) {
      const Hold hold = burst % 7 == 6 ? storm.lock.lock_as_guest(me) : storm.lock.lock(me);
      biased += hold == Hold::kBiased;
      storm.wrong += storm.guarded[0] != storm.guarded[1];
      ++storm.guarded[0];
      if (turn % 16 == 0) janus::arch::pause();
      ++storm.guarded[1];
      if (hold == Hold::kBiased && turn % 64 == 63)
        storm.lock.unlock_for_good(me, hold);
      else
        storm.lock.unlock(me, hold);
    }
    const std::uint64_t nap = janus::platform::now_ns() + 20'000;
    while (janus::platform::now_ns() < nap) janus::arch::pause();
  }
  storm.biased.fetch_add(biased, std::memory_order_relaxed);
}

TEST(biased_lock, two_threads_never_hold_it_at_once) {
  constexpr unsigned kRounds = 10;
  std::uint64_t turns = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    storm.lock.init(true);
    REQUIRE(janus::test::ThreadGroup::run(kMembers, take_turns));
    turns += kMembers * (20 * 300 + 40 * 3);
    CHECK_EQ(storm.guarded[0], turns);
  }
  CHECK_EQ(storm.wrong, 0u);
  janus::test::note("turns by the owner", storm.biased.load());
  if (janus::platform::has_heavy_fence()) CHECK_GT(storm.biased.load(), 0u);
}

}  // namespace
