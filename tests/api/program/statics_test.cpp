// SPDX-License-Identifier: Apache-2.0
// statics_test.cpp — function-local statics whose initialisation fails, and the tasks that wait for it.
#include "tests/harness/tasks.h"

namespace janus::test {

namespace {

struct Attempt {
  std::atomic<int> attempts{0};
  std::atomic<int> waiting{0};
  std::atomic<bool> may_go_on{false};
};

int settle(Attempt& attempt, void (*first_fails)()) {
  if (attempt.attempts.fetch_add(1) == 0) {
    while (!attempt.may_go_on.load()) janus_yield();
    first_fails();
  }
  return 42;
}

// Each instance has a static of its own, so that tests do not share them.
template <int kInstance>
int value_of(Attempt& attempt, void (*first_fails)()) {
  static const int value = settle(attempt, first_fails);
  return value;
}

template <int kInstance, void (*kFirstFails)()>
std::int64_t ask(void* attempt) {
  auto& mine = *static_cast<Attempt*>(attempt);
  mine.waiting.fetch_add(1);
  return value_of<kInstance>(mine, kFirstFails);
}

void panic() {
  janus_task_panic("in the middle of an initialisation");
}
void fault() {
  __builtin_trap();
}
void succeed() {}

// The first of five tasks fails while the others wait. One of these initialises the static, and the others get its
// value.
template <int kInstance, void (*kFails)()>
void check_that_the_next_one_tries_again() {
  static Attempt attempt;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  janus_task asking[5];
  for (auto& task : asking) task = spawn(nursery, ask<kInstance, kFails>, &attempt);
  CHECK(eventually([] { return attempt.waiting.load() == 5; }));
  for (int i = 0; i < 10; ++i) janus_yield();
  attempt.may_go_on.store(true);
  int made = 0, panicked = 0;
  for (const auto& task : asking) {
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    made += value == 42;
    panicked += value == JANUS_PANIC;
  }
  CHECK_EQ(made, 4);
  CHECK_EQ(panicked, 1);
  CHECK_EQ(attempt.attempts.load(), 2);
  CHECK_EQ(end(nursery), JANUS_PANIC);
}

}  // namespace

TEST(statics, an_initialiser_that_panics_leaves_it_to_the_next) {
  check_that_the_next_one_tries_again<0, panic>();
}

TEST(statics, an_initialiser_that_faults_leaves_it_to_the_next) {
  check_that_the_next_one_tries_again<1, fault>();
}

TEST(statics, the_next_task_after_a_panic_tries_again) {
  static Attempt attempt;
  attempt.may_go_on.store(true);
  janus_nursery* nursery = open_nursery();
  spawn(nursery, ask<2, panic>, &attempt);
  CHECK_EQ(end(nursery), JANUS_PANIC);
  CHECK_EQ((ask<2, panic>(&attempt)), 42);
  CHECK_EQ((ask<2, panic>(&attempt)), 42);
  CHECK_EQ(attempt.attempts.load(), 2);
}

// The panicking parent ends only after its nursery, whose child waits for the static that the parent was initialising.
TEST(statics, a_child_that_waits_for_its_panicking_parent_gets_its_turn) {
  static Attempt attempt;
  static janus_nursery* inner = nullptr;
  attempt.may_go_on.store(true);
  const auto parent = [](void*) -> std::int64_t {
    inner = open_nursery();
    return value_of<3>(attempt, [] {
      spawn(inner, ask<3, panic>, &attempt);
      while (attempt.waiting.load() == 0) janus_yield();
      for (int i = 0; i < 10; ++i) janus_yield();
      panic();
    });
  };
  janus_nursery* nursery = open_nursery();
  spawn(nursery, parent);
  CHECK_EQ(end(nursery), JANUS_PANIC);
  CHECK_EQ((ask<3, panic>(&attempt)), 42);
}

// The tasks wait longer than their grace allows.
TEST(statics, cancelled_tasks_wait_without_paying_for_it) {
  static Attempt attempt;
  janus_nursery* initialising = open_nursery();
  janus_nursery* told = open_nursery();
  spawn(initialising, ask<4, succeed>, &attempt);
  CHECK(eventually([] { return attempt.attempts.load() == 1; }));
  constexpr int kWaiters = 3;
  janus_task waiters[kWaiters];
  for (auto& task : waiters) task = spawn(told, ask<4, succeed>, &attempt);
  CHECK(eventually([] { return attempt.waiting.load() == 1 + kWaiters; }));
  janus_nursery_cancel(told);
  for (int i = 0; i < 100000; ++i) janus_yield();
  attempt.may_go_on.store(true);
  for (const auto& task : waiters) {
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    CHECK_EQ(value, 42);
  }
  CHECK_EQ(end(told), JANUS_CANCELLED);
  CHECK_EQ(end(initialising), 0);
}

TEST(statics, a_static_that_needs_itself_is_a_panic) {
  static Attempt attempt;
  attempt.may_go_on.store(true);
  janus_nursery* nursery = open_nursery();
  spawn(nursery,
        [](void*) -> std::int64_t { return value_of<5>(attempt, [] { (void)value_of<5>(attempt, succeed); }); });
  CHECK_EQ(end(nursery), JANUS_PANIC);
}

}  // namespace janus::test
