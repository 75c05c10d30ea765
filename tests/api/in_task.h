// SPDX-License-Identifier: Apache-2.0
// tests/api/in_task.h — TASK_TEST: a test whose body is a root task. A program that janus-cc compiles runs it in main,
// with the workers that its environment says (program/in_main.cpp); the other worlds run it in runtimes of its own, each
// with other workers (in_own_runtimes.cpp). Sees rt.h alone.
#pragma once

#include "tests/harness/tasks.h"

namespace janus::test {

// Calls `body` once or several times, each time in a root task.
void run_in_root_tasks(void (*body)());

// Called by a task. False on the bare machine, where no system call works.
inline bool has_kernel() {
  constexpr long kGetPid = 39, kNoSuchCall = -38;
  return janus_syscall(kGetPid) != kNoSuchCall;
}

}  // namespace janus::test

#define TASK_TEST(suite, name)                                    \
  static void task_body_##suite##_##name();                       \
  TEST(suite, name) {                                             \
    ::janus::test::run_in_root_tasks(task_body_##suite##_##name); \
  }                                                               \
  static void task_body_##suite##_##name()
