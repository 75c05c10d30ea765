// SPDX-License-Identifier: Apache-2.0
// Tasks through rt.h: handles, joins, states, names, locals, and panics that stay with their task.
#include "tests/api/in_task.h"
#include "tests/harness/scale.h"

namespace {

using namespace janus::test;

TASK_TEST(task, the_root_has_id_1_and_runs) {
  CHECK_EQ(janus_task_id(), 1u);
  CHECK_NE(janus_task_self().raw, 0u);
  CHECK_EQ(janus_task_state(janus_task_self()), JANUS_TASK_RUNNING);
  CHECK_EQ(janus_cancelled(), 0);
}

std::int64_t own_id(void*) {
  return static_cast<std::int64_t>(janus_task_id());
}

TASK_TEST(task, ids_are_never_used_twice) {
  constexpr int kTasks = 200;
  static janus_task tasks[kTasks];
  static std::int64_t ids[kTasks];
  janus_nursery* nursery = open_nursery();
  for (janus_task& task : tasks) task = spawn(nursery, own_id);
  for (int i = 0; i < kTasks; ++i) CHECK_EQ(janus_task_join(tasks[i], &ids[i]), 0);
  bool differ = true;
  for (int i = 0; i < kTasks; ++i) {
    differ &= ids[i] > 1;
    for (int j = 0; j < i; ++j) differ &= ids[i] != ids[j];
  }
  CHECK(differ);
  janus_result result = {};
  CHECK_EQ(janus_task_result(tasks[7], &result), 0);
  CHECK_EQ(result.task_id, ids[7]);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(task, a_join_gives_the_value_whatever_it_is_and_as_often_as_asked) {
  for (std::int64_t value : {INT64_C(0), INT64_C(1), INT64_MAX, INT64_C(-1), INT64_C(-5), INT64_MIN, INT64_C(-4097)}) {
    janus_nursery* nursery = open_nursery();
    const janus_task task = spawn(nursery, return_number, &value);
    for (int i = 0; i < 2; ++i) {
      std::int64_t result = 99;
      CHECK_EQ(janus_task_join(task, &result), 0);
      CHECK_EQ(result, value);
    }
    CHECK_EQ(janus_task_join(task, nullptr), 0);
    CHECK_EQ(janus_task_state(task), value < 0 ? JANUS_TASK_FAILED : JANUS_TASK_COMPLETED);
    CHECK_EQ(end(nursery), value < 0 ? value : 0);
  }
}

TASK_TEST(task, a_join_waits) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, park_until_cancelled);
  struct Both {
    janus_task task;
  } both = {task};
  const janus_task waker = spawn(
      nursery,
      [](void* arg) -> std::int64_t {
        const janus_task parked = static_cast<Both*>(arg)->task;
        for (int i = 0; i < 100; ++i) janus_yield();
        return janus_unpark(parked);
      },
      &both);
  std::int64_t value = 1;
  CHECK_EQ(janus_task_join(task, &value), 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(janus_task_join(waker, &value), 0);
  CHECK_EQ(value, 0);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t join_it(void* task) {
  return janus_task_join(*static_cast<janus_task*>(task), nullptr);
}

TASK_TEST(task, many_may_join_one) {
  janus_nursery* nursery = open_nursery();
  janus_task task = spawn(nursery, park_until_cancelled);
  for (int i = 0; i < 100; ++i) CHECK_NE(spawn(nursery, join_it, &task).raw, 0u);
  for (int i = 0; i < 10; ++i) janus_yield();
  CHECK_EQ(janus_unpark(task), 0);
  CHECK_EQ(end(nursery), 0);
}

std::int64_t join_self(void*) {
  return janus_task_join(janus_task_self(), nullptr) == JANUS_E_DEADLOCK ? 0 : -1000;
}

std::int64_t join_root(void* root) {
  return janus_task_join(*static_cast<janus_task*>(root), nullptr) == JANUS_E_DEADLOCK ? 0 : -1000;
}

TASK_TEST(task, joining_oneself_or_an_ancestor_is_a_deadlock) {
  janus_task root = janus_task_self();
  CHECK_EQ(janus_task_join(root, nullptr), JANUS_E_DEADLOCK);
  janus_nursery* nursery = open_nursery();
  spawn(nursery, join_self);
  spawn(nursery, join_root, &root);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(task, a_cancelled_joiner_gets_its_own_cancellation) {
  janus_nursery* lasting = open_nursery();
  janus_task task = spawn(lasting, park_until_cancelled);
  janus_nursery* nursery = open_nursery();
  const janus_task joiner = spawn(nursery, join_it, &task);
  CHECK(eventually([&] { return janus_task_state(joiner) == JANUS_TASK_BLOCKED; }));
  CHECK_EQ(janus_task_cancel(joiner), 0);
  std::int64_t value = 0;
  CHECK_EQ(janus_task_join(joiner, &value), 0);
  CHECK_EQ(value, JANUS_CANCELLED);
  CHECK_EQ(janus_task_state(joiner), JANUS_TASK_CANCELLED);
  end(nursery);
  CHECK_EQ(janus_unpark(task), 0);
  CHECK_EQ(end(lasting), 0);
}

TASK_TEST(task, its_result_is_pending_while_it_lives_and_tells_its_id) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, park_until_cancelled);
  janus_result result = {};
  CHECK_EQ(janus_task_result(task, &result), JANUS_PENDING);
  CHECK_EQ(result.kind, JANUS_KIND_PENDING);
  const std::uint64_t id = result.task_id;
  CHECK_GT(id, 1u);
  janus_unpark(task);
  janus_task_join(task, nullptr);
  CHECK_EQ(janus_task_result(task, &result), 0);
  CHECK_EQ(result.kind, JANUS_KIND_SUCCESS);
  CHECK_EQ(result.task_id, id);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(task, a_released_handle_is_stale) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, return_zero);
  CHECK_EQ(janus_task_join(task, nullptr), 0);
  CHECK_EQ(janus_task_release(task), 0);
  CHECK_EQ(janus_task_state(task), JANUS_E_STALE);
  CHECK_EQ(janus_task_join(task, nullptr), JANUS_E_STALE);
  CHECK_EQ(janus_task_result(task, nullptr), JANUS_E_STALE);
  CHECK_EQ(janus_task_cancel(task), JANUS_E_STALE);
  CHECK_EQ(janus_task_release(task), JANUS_E_STALE);
  CHECK_EQ(janus_unpark(task), JANUS_E_STALE);
  CHECK_EQ(end(nursery), 0);
}

TASK_TEST(task, its_nurserys_end_makes_handles_stale) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, return_zero);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(janus_task_state(task), JANUS_E_STALE);
}

TASK_TEST(task, one_token_lets_one_park_through) {
  CHECK_EQ(janus_unpark(janus_task_self()), 0);
  CHECK_EQ(janus_unpark(janus_task_self()), 0);
  CHECK_EQ(janus_park(-1), 0);
  CHECK_EQ(janus_park(1000000), JANUS_E_TIMEOUT);
}

std::int64_t wait_for_cancel_and_token(void*) {
  CHECK_EQ(janus_park(-1), JANUS_CANCELLED);
  CHECK(eventually([] { return janus_park(0) == 0; }));
  return 0;
}

TASK_TEST(task, a_cancel_that_comes_before_a_token_ends_the_wait_and_leaves_the_token) {
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, wait_for_cancel_and_token);
  CHECK(eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; }));
  CHECK_EQ(janus_task_cancel(task), 0);
  CHECK_EQ(janus_unpark(task), 0);  // on one worker before the task runs again
  CHECK_EQ(end(nursery), 0);
}

std::int64_t park_ten_times(void* count) {
  for (int i = 0; i < 10; ++i) {
    if (janus_park(-1) < 0) return -1;
    static_cast<std::atomic<int>*>(count)->fetch_add(1);
  }
  return 0;
}

TASK_TEST(task, no_unpark_is_lost) {
  std::atomic<int> count = 0;
  janus_nursery* nursery = open_nursery();
  const janus_task task = spawn(nursery, park_ten_times, &count);
  for (int i = 0; i < 10; ++i) {
    janus_unpark(task);
    CHECK(eventually([&] { return count.load() > i; }));
  }
  CHECK_EQ(end(nursery), 0);
}

std::int64_t use_name(void*) {
  return janus_task_set_name("a name of more than thirty-one bytes, which is cut") == 0 ? 0 : -5;
}

TASK_TEST(task, names_are_cut_not_refused) {
  janus_nursery* nursery = open_nursery();
  janus_spawn_options options = {};
  options.name = "given at the spawn";
  CHECK_NE(janus_nursery_spawn_in(nursery, use_name, nullptr, &options).raw, 0u);
  CHECK_EQ(end(nursery), 0);
}

std::atomic<int> destroyed;
janus_local_key key;

std::int64_t use_local(void* value) {
  if (janus_local_get(key) != nullptr) return -5;
  if (janus_local_set(key, value) != 0) return -6;
  for (int i = 0; i < 5; ++i) janus_yield();
  return janus_local_get(key) == value ? 0 : -7;
}

TASK_TEST(task, locals_belong_to_one_task_and_end_with_it) {
  REQUIRE(janus_local_new(&key, [](void*) { destroyed.fetch_add(1); }) == 0);
  destroyed = 0;
  static int values[40];
  janus_nursery* nursery = open_nursery();
  for (int& value : values) spawn(nursery, use_local, &value);
  CHECK_EQ(end(nursery), 0);
  CHECK_EQ(destroyed.load(), 40);
  CHECK(janus_local_get(key) == nullptr);
}

// ---- Panics

// Sanitizers check what the compiler knows to be a store or a division.
void store(std::uintptr_t address) {
  __asm__ volatile("movl $1, (%0)" : : "r"(address) : "memory");
}
std::int64_t write_to_nowhere(void*) {
  store(0);
  return 0;
}
std::int64_t write_far_away(void*) {
  store(0x123456789000);
  return 0;
}
std::int64_t write_no_address(void*) {
  store(0x8000000000000000);
  return 0;
}
std::int64_t divide_by_zero(void*) {
  std::int32_t quotient = 7;
  __asm__ volatile("xorl %%edx, %%edx; divl %%edx" : "+a"(quotient) : : "edx", "cc");
  return quotient;
}
std::int64_t execute_nothing(void*) {
  __asm__ volatile("ud2");
  return 0;
}
std::int64_t jump_nowhere(void*) {
  void (*volatile function)() = reinterpret_cast<void (*)()>(0x1000);
  function();
  return 0;
}
__attribute__((noinline)) int recurse(int depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}
std::int64_t recurse_for_ever(void*) {
  return recurse(0);
}
std::int64_t say_why(void*) {
  janus_task_panic("the test asked for it");
}

TASK_TEST(panic, each_fault_ends_its_task_alone) {
  const struct {
    const char* name;
    janus_task_fn fn;
  } faults[] = {
      {"write to nowhere", write_to_nowhere},  {"write far away", write_far_away},  {"no address", write_no_address},
      {"divide by zero", divide_by_zero},      {"no instruction", execute_nothing}, {"jump nowhere", jump_nowhere},
      {"endless recursion", recurse_for_ever}, {"a panic with words", say_why},
  };
  for (const auto& fault : faults) {
    std::atomic<int> ran = 0;
    janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 5; ++i) spawn(nursery, count_up, &ran);
    janus_spawn_options options = {};
    options.name = fault.name;
    const janus_task task = janus_nursery_spawn_in(nursery, fault.fn, nullptr, &options);
    for (int i = 0; i < 5; ++i) spawn(nursery, count_up, &ran);
    std::int64_t value = 0;
    CHECK_EQ(janus_task_join(task, &value), 0);
    if (!CHECK_EQ(value, JANUS_PANIC)) note("fault", fault.name);
    janus_result result = {};
    CHECK_EQ(janus_task_result(task, &result), 0);
    CHECK_EQ(result.kind, JANUS_KIND_PANIC);
    CHECK_EQ(end(nursery, &result), JANUS_PANIC);
    CHECK_EQ(result.errors, 1u);
    CHECK_EQ(ran.load(), 10);
  }
}

TASK_TEST(panic, a_hundred_overflows_in_a_row_leave_the_runtime_whole) {
  const int rounds = scaled(100, 5);  // ThreadSanitizer keeps the calls that an overflow leaves, 65,536 in all
  for (int i = 0; i < rounds; ++i) {
    janus_nursery* nursery = open_nursery();
    spawn(nursery, recurse_for_ever);
    CHECK_EQ(end(nursery), JANUS_PANIC);
  }
}

std::int64_t note_end(void* ended) {
  while (janus_yield() == 0) {
  }
  return count_up(ended);
}

std::int64_t panic_over_children(void* counter) {
  janus_nursery* nursery = open_nursery();
  for (int i = 0; i < 10; ++i) spawn(nursery, note_end, counter, JANUS_SPAWN_RUN_CANCELLED);
  janus_yield();
  store(0);
  return 0;
}

TASK_TEST(panic, the_children_of_a_panicked_task_are_cancelled_and_awaited) {
  std::atomic<int> ended = 0;
  janus_nursery* nursery = open_nursery();
  spawn(nursery, panic_over_children, &ended);
  CHECK_EQ(end(nursery), JANUS_PANIC);
  CHECK_EQ(ended.load(), 10);
}

std::int64_t ignore_cancellation(void* has_begun) {
  static_cast<std::atomic<bool>*>(has_begun)->store(true);
  uint32_t counter = 0;
  for (;;) (void)JANUS_LOOP_CHECK(counter);
}

TASK_TEST(panic, a_task_that_ignores_its_cancellation_beyond_its_grace_ends_as_one) {
  janus_nursery* nursery = open_nursery();
  std::atomic<bool> has_begun{false};
  spawn(nursery, ignore_cancellation, &has_begun);
  CHECK(eventually([&] { return has_begun.load(); }));
  janus_nursery_cancel(nursery);
  CHECK_EQ(end(nursery), JANUS_PANIC);
}

}  // namespace
