// SPDX-License-Identifier: Apache-2.0
// A cage makes a chain of tasks, each of which awaits the next. The last one cancels small nurseries of its own, and
// checks after each whether it was itself cancelled: a walk along the whole chain, for which it pays. And a spawn whose
// stack has to be mapped costs as much as a block that has to be mapped.
#include "hostile.h"

enum { kDepth = 300, kCancels = 100, kStepsPerOp = 2, kLargeStacks = 20, kMapping = 16 };

static long spent_on_top, spent_below;

static long ops(void) {
  return (long)janus_budget_get_current().ops;
}

static int64_t nothing(void* unused) {
  (void)unused;
  return 0;
}

static long cancel_and_look(void) {
  const long before = ops();
  for (int i = 0; i < kCancels; ++i) {
    janus_nursery* nursery = open_plain();
    CHECK_EQ(janus_nursery_cancel(nursery), 0);
    CHECK_EQ(janus_cancelled(), 0);
    (void)close_cage(nursery);
  }
  return before - ops();
}

static int64_t descend(void* arg) {
  const long left = (long)arg;
  if (left == kDepth) spent_on_top = cancel_and_look();
  if (left == 0) {
    spent_below = cancel_and_look();
    return 0;
  }
  janus_nursery* nursery = open_plain();
  CHECK(spawn(nursery, descend, (void*)(left - 1)).raw != 0);
  CHECK_EQ(close_cage(nursery), 0);
  return 0;
}

static int64_t spawn_large(void* unused) {
  (void)unused;
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 2 << 20;
  const long before = ops();
  for (int i = 0; i < kLargeStacks; ++i) {
    janus_nursery* nursery = open_plain();
    CHECK(janus_nursery_spawn_in(nursery, nothing, NULL, &options).raw != 0);
    CHECK_EQ(close_cage(nursery), 0);
  }
  const long spent = before - ops();
  CHECK_THAT(spent, spent >= kLargeStacks * kMapping);
  return 0;
}

int main(void) {
  CHECK_EQ(run_in_cage(roomy(), descend, (void*)(long)kDepth), 0);
  const long more = spent_below - spent_on_top;
  // Half of the price, since ops that the chain's other tasks return meanwhile reduce the measured amount.
  CHECK_THAT(more, more >= kCancels * (kDepth / kStepsPerOp) / 2);
  CHECK_EQ(run_in_cage(roomy(), spawn_large, NULL), 0);
  return end();
}
