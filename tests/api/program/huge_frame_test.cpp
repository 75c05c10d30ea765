// SPDX-License-Identifier: Apache-2.0
// A frame that is larger than its stack and the guard: janus-cc compiles with stack probes, so that it ends its task.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

__attribute__((noinline)) std::int64_t one_huge_frame(void*) {
  volatile char frame[512 * 1024];
  // uses the whole frame: a compiler may otherwise keep only one byte of it
  __asm__ volatile("" : : "r"(frame) : "memory");
  frame[0] = 1;
  return frame[0];
}
TASK_TEST(panic, a_frame_larger_than_the_stack_ends_its_task_alone) {
  std::atomic<int> ran = 0;
  janus_nursery* nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  for (int i = 0; i < 5; ++i) spawn(nursery, count_up, &ran);
  const janus_task task = spawn(nursery, one_huge_frame);
  for (int i = 0; i < 5; ++i) spawn(nursery, count_up, &ran);
  std::int64_t value = 0;
  CHECK_EQ(janus_task_join(task, &value), 0);
  CHECK_EQ(value, JANUS_PANIC);
  janus_result result = {};
  CHECK_EQ(end(nursery, &result), JANUS_PANIC);
  CHECK_EQ(result.errors, 1u);
  CHECK_EQ(ran.load(), 10);
}

}  // namespace
