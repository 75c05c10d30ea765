// SPDX-License-Identifier: Apache-2.0
// assert_sample.cpp — assertions that hold and assertions that fail. assert_test.py runs each test in a process of its
// own and checks what it prints and how it ends.
#include "rt/base/assert.h"
#include "rt/base/lock_rank.h"
#include "rt/base/worker_slot.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

// assert_test.py compares the machine code of these two functions where assertions are off.
extern "C" [[gnu::noinline, gnu::used, gnu::retain]] int janus_test_asserted(int number) {
  JANUS_ASSERT(number > 0);
  return number * 3;
}
extern "C" [[gnu::noinline, gnu::used, gnu::retain]] int janus_test_unasserted(int number) {
  return number * 3;
}

namespace {

unsigned asked = 0;

bool answer(bool holds) {
  ++asked;
  return holds;
}

TEST(claims, that_hold_cost_nothing_else) {
  JANUS_CHECK(answer(true));
  CHECK_EQ(asked, 1u);
  JANUS_ASSERT(answer(true));
  CHECK_EQ(asked, janus::kAssertions ? 2u : 1u);
  CHECK_EQ(janus_test_asserted(2), janus_test_unasserted(2));
}

TEST(claims, checked) {
  JANUS_CHECK(answer(false) && "a, b");
}

TEST(claims, asserted) {
  JANUS_ASSERT(answer(false));
}

TEST(claims, too_long) {
  JANUS_CHECK(answer(false) &&
              "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789"
              "01234567890123456789012345678901234567890123456789012345678901234567890123456789");
}

// --- Locks by rank ---

using janus::LockRank;

janus::RankedLock<LockRank::kTask> outer;
janus::RankedLock<LockRank::kInjector> inner;
janus::RankedLock<LockRank::kNursery> nurseries[2];

// Makes the calling thread look like a worker: lock ranks are checked on workers only.
class AsWorker {
 public:
  AsWorker() : before_(janus::platform::worker_slot()) { janus::platform::set_worker_slot(&slot_); }
  ~AsWorker() { janus::platform::set_worker_slot(before_); }

 private:
  void* before_;
  janus::WorkerSlot slot_{};
};

TEST(claims, locks_in_order) {
  const AsWorker worker;
  outer.lock();
  nurseries[0].lock();
  nurseries[1].lock();
  inner.lock();
  nurseries[0].unlock();  // the order of unlocks is free
  inner.unlock();
  nurseries[1].unlock();
  outer.unlock();
  inner.lock();
  CHECK(outer.try_lock());  // allowed: a try_lock() cannot deadlock
  outer.unlock();
  inner.unlock();
  outer.lock();
  outer.unlock();
}

TEST(claims, locks_of_a_stranger) {
  inner.lock();
  outer.lock();
  outer.unlock();
  inner.unlock();
}

TEST(claims, locks_out_of_order) {
  const AsWorker worker;
  inner.lock();
  outer.lock();
  outer.unlock();
  inner.unlock();
}

TEST(claims, two_locks_of_one_rank) {
  const AsWorker worker;
  janus::RankedLock<LockRank::kTask> another;
  outer.lock();
  another.lock();
  another.unlock();
  outer.unlock();
}

TEST(claims, a_lock_that_another_was_tried_beside) {
  const AsWorker worker;
  CHECK(inner.try_lock());
  outer.lock();
  outer.unlock();
  inner.unlock();
}

}  // namespace
