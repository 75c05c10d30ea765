// SPDX-License-Identifier: Apache-2.0
// exit_test.cpp — a task with a budget of its own cannot end the process.
#include <stdlib.h>

#include "tests/harness/tasks.h"

extern "C" int __cxa_atexit(void (*destructor)(void*), void* argument, void* library);

namespace janus::test {

namespace {

janus_budget small_budget() {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.memory = 1 << 20;
  return budget;
}

// The result of `fn` in a nursery with a budget and in a task with a budget, and in nurseries and tasks below these.
void check_in_cages(janus_task_fn fn, long wanted) {
  const auto deeper = [](void* inner) -> std::int64_t {
    janus_nursery* nursery = open_nursery();
    spawn(nursery, *static_cast<janus_task_fn*>(inner));
    return end(nursery);
  };
  janus_nursery* cage = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, small_budget());
  spawn(cage, fn);
  CHECK_EQ(end(cage), wanted);
  cage = open_nursery(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_FAIL, small_budget());
  spawn(cage, deeper, &fn);
  CHECK_EQ(end(cage), wanted);
  janus_nursery* nursery = open_nursery();
  janus_spawn_options options = {};
  options.budget = small_budget();
  janus_nursery_spawn_in(nursery, fn, nullptr, &options);
  CHECK_EQ(end(nursery), wanted);
}

std::int64_t exit_at_once(void*) {
  janus_exit(0);
}
std::int64_t exit_as_c_does(void*) {
  exit(0);
}

// Makes the test program fail if it is ever called.
void never() {
  janus_write(2, "a function of a cage ran as main\n", 33);
  janus_exit(99);
}
void never_called(void*) {
  never();
}

std::int64_t register_for_the_end(void*) {
  const bool is_refused = atexit(never) != 0 && __cxa_atexit(never_called, nullptr, nullptr) != 0;
  return is_refused ? 0 : -5;
}

}  // namespace

TEST(exit, exit_in_a_cage_panics_the_task) {
  check_in_cages(exit_at_once, JANUS_PANIC);
  check_in_cages(exit_as_c_does, JANUS_PANIC);
}

TEST(exit, a_cage_registers_nothing_for_the_end) {
  check_in_cages(register_for_the_end, 0);
}

TEST(exit, a_task_on_the_root_budget_may_register) {
  const auto nothing = [](void*) -> std::int64_t { return atexit([] {}); };
  janus_nursery* nursery = open_nursery();
  spawn(nursery, nothing);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(nothing(nullptr), 0);
}

}  // namespace janus::test
