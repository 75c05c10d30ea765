// SPDX-License-Identifier: Apache-2.0
// janus_result.cause: why a task or nursery ended as it did.
#include <cstdlib>
#include <exception>
#include <new>

#include "tests/harness/tasks.h"

namespace {

using namespace janus::test;

// The result of a nursery with one child, which is also the child's result.
janus_result result_of(janus_task_fn fn, std::uint32_t on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND,
                       janus_budget budget = {}) {
  janus_nursery* const nursery = open_nursery(JANUS_ON_ERROR_COLLECT, on_exhaustion, budget);
  const janus_task task = spawn(nursery, fn);
  janus_result of_task = {}, of_nursery = {};
  janus_nursery_await(nursery, &of_nursery);
  CHECK_EQ(janus_task_result(task, &of_task), 0);
  CHECK_EQ(of_task.kind, of_nursery.kind);
  CHECK_EQ(of_task.cause, of_nursery.cause);
  janus_nursery_destroy(nursery);
  return of_nursery;
}

TEST(cause, of_a_success_and_of_a_childs_own_failure_there_is_none) {
  CHECK_EQ(result_of(return_zero).cause, JANUS_CAUSE_NONE);
  CHECK_EQ(result_of([](void*) -> std::int64_t { return -5; }).cause, JANUS_CAUSE_NONE);
}

std::int64_t overflow(void* depth) {
  volatile char much[4096];
  much[0] = 1;
  if (depth == &much) return 0;
  return overflow(depth) + much[0];
}

TEST(cause, of_a_panic_is_what_the_task_did) {
  static volatile int* nowhere = nullptr;
  static volatile int zero = 0;
  const struct {
    janus_task_fn fn;
    std::uint32_t cause;
  } panics[] = {
      {overflow, JANUS_CAUSE_STACK_OVERFLOW},
      {[](void*) -> std::int64_t { return *nowhere; }, JANUS_CAUSE_BAD_ACCESS},
      {[](void*) -> std::int64_t { __builtin_trap(); }, JANUS_CAUSE_ILLEGAL_INSTRUCTION},
      {[](void*) -> std::int64_t { return 7 / zero; }, JANUS_CAUSE_DIVISION},
      {[](void*) -> std::int64_t {
         __asm__ volatile("int3");
         return 0;
       },
       JANUS_CAUSE_OTHER},
      {[](void*) -> std::int64_t { std::abort(); }, JANUS_CAUSE_ABORT},
      {[](void*) -> std::int64_t { std::terminate(); }, JANUS_CAUSE_ABORT},
      {[](void*) -> std::int64_t { return janus_nursery_close(reinterpret_cast<janus_nursery*>(0x1234567)); },
       JANUS_CAUSE_MISUSE},
      {[](void*) -> std::int64_t { janus_task_panic("on purpose"); }, JANUS_CAUSE_TASK_PANIC},
      {[](void*) -> std::int64_t {
         static volatile std::size_t too_much = std::size_t{1} << 50;
         return static_cast<char*>(::operator new(too_much))[0];
       },
       JANUS_CAUSE_NO_MEMORY},
  };
  for (const auto& each : panics) {
    const janus_result result = result_of(each.fn);
    CHECK_EQ(result.kind, JANUS_KIND_PANIC);
    CHECK_EQ(result.cause, each.cause);
  }
}

std::int64_t ignore_its_cancel(void*) {
  for (;;) (void)janus_yield_check(1000);
}

TEST(cause, of_a_task_that_outlives_its_grace) {
  janus_nursery* const nursery = open_nursery();
  const janus_task task = spawn(nursery, ignore_its_cancel);
  while (janus_task_state(task) == JANUS_TASK_CREATED) janus_yield();
  janus_nursery_cancel(nursery);
  janus_result result = {};
  end(nursery, &result);
  CHECK_EQ(result.cause, JANUS_CAUSE_GRACE_OVER);
}

TEST(cause, of_an_exhausted_task_is_what_ran_out) {
  constexpr janus_budget kBudget = {10000, 1 << 20, 3, 3, 3};
  const struct {
    janus_task_fn fn;
    std::uint32_t cause;
  } ends[] = {
      {[](void*) -> std::int64_t {
         while (janus_yield_check(1) == 0) {
         }
         return -5;
       },
       JANUS_CAUSE_OPS},
      {[](void*) -> std::int64_t { return janus_alloc(2 << 20) == nullptr ? -5 : -6; }, JANUS_CAUSE_MEMORY},
      {[](void*) -> std::int64_t {
         janus_nursery_create();
         for (int i = 0; i < 4; ++i) (void)janus_nursery_spawn(return_zero, nullptr);
         return -5;
       },
       JANUS_CAUSE_SPAWN_COUNT},
      {[](void*) -> std::int64_t {
         janus_channel* const channel = janus_channel_create(8, 4);
         const std::int64_t word = 1;
         for (int i = 0; i < 4; ++i) (void)janus_channel_try_send(channel, &word);
         return -5;
       },
       JANUS_CAUSE_CHANNEL_OPS},
      {[](void*) -> std::int64_t {
         for (int i = 0; i < 4; ++i) (void)janus_syscall(39);
         return -5;
       },
       JANUS_CAUSE_SYSCALLS},
  };
  for (const auto& each : ends) {
    const janus_result result = result_of(each.fn, JANUS_ON_EXHAUSTION_FAIL, kBudget);
    CHECK_EQ(result.kind, JANUS_KIND_BUDGET_EXCEEDED);
    CHECK_EQ(result.cause, each.cause);
  }
}

std::uint32_t cause_of(janus_task task) {
  janus_result result = {};
  CHECK_EQ(janus_task_result(task, &result), 0);
  CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
  return result.cause;
}

TEST(cause, of_a_cancel_is_who_asked_for_it) {
  janus_nursery* nursery = open_nursery();
  janus_task task = spawn(nursery, park_until_cancelled);
  janus_task_cancel(task);
  janus_task_join(task, nullptr);
  CHECK_EQ(cause_of(task), JANUS_CAUSE_ASKED);
  end(nursery);

  nursery = open_nursery();
  task = spawn(nursery, yield_until_cancelled);
  janus_nursery_cancel(nursery);
  janus_result result = {};
  CHECK_EQ(janus_nursery_await(nursery, &result), JANUS_CANCELLED);
  CHECK_EQ(result.cause, JANUS_CAUSE_ASKED);
  CHECK_EQ(cause_of(task), JANUS_CAUSE_ASKED);
  janus_nursery_destroy(nursery);

  nursery = open_nursery();
  task = spawn(nursery, yield_until_cancelled);
  spawn(nursery, [](void*) -> std::int64_t { return -5; });
  CHECK_EQ(janus_nursery_await(nursery, &result), -5);
  CHECK_EQ(result.cause, JANUS_CAUSE_NONE);
  CHECK_EQ(cause_of(task), JANUS_CAUSE_SIBLING_FAILED);
  janus_nursery_destroy(nursery);
}

TEST(cause, of_a_cancel_from_above_is_the_parent) {
  static janus_result inner_result, child_result;
  janus_nursery* const outer = open_nursery();
  const janus_task task = spawn(outer, [](void*) -> std::int64_t {
    janus_nursery* const inner = open_nursery();
    const janus_task child = spawn(inner, park_until_cancelled);
    const long code = janus_nursery_await(inner, &inner_result);
    janus_task_result(child, &child_result);
    janus_nursery_destroy(inner);
    return code;
  });
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
  janus_task_cancel(task);
  janus_task_join(task, nullptr);
  CHECK_EQ(cause_of(task), JANUS_CAUSE_ASKED);
  CHECK_EQ(inner_result.kind, JANUS_KIND_CANCELLED);
  CHECK_EQ(inner_result.cause, JANUS_CAUSE_PARENT);
  CHECK_EQ(child_result.cause, JANUS_CAUSE_PARENT);
  end(outer);
}

}  // namespace
