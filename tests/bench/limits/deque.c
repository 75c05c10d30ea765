// SPDX-License-Identifier: Apache-2.0
// deque.c — the simplest deque on one core: a thief's steals, and the owner's pairs of push and pop.
#include "deque.h"

#include "limits.h"

static struct deque deque;
enum { kBatch = 1000 };

static void* item(long number) {
  return (char*)0 + 16 * (number + 1);
}

static uint64_t steal_batch(void) {
  for (long i = 0; i < kBatch; ++i) deque_push(&deque, item(i));
  const uint64_t start = now_ns();
  for (long i = 0; i < kBatch; ++i)
    if (deque_steal(&deque) != item(i)) fail("stolen: not what was pushed");
  return now_ns() - start;
}

void limit_of_steal(long items, int workers) {
  pin(0, workers);
  const long batches = (items + kBatch - 1) / kBatch;
  uint64_t spent = 0;
  for (long i = 0; i < 10; ++i) steal_batch();
  for (long i = 0; i < batches; ++i) spent += steal_batch();
  figure("ns", (double)spent / (double)(batches * kBatch));
}

static uint64_t push_and_pop(long pairs) {
  const uint64_t start = now_ns();
  for (long i = 0; i < pairs; ++i) {
    deque_push(&deque, item(i));
    if (deque_pop(&deque) != item(i)) fail("popped: not what was pushed");
  }
  return now_ns() - start;
}

// One item at a time, so that every pop must take into account that a thief may take the same item.
void limit_of_deque(long pairs, int workers) {
  pin(0, workers);
  push_and_pop(pairs / 10);
  figure("ns", (double)push_and_pop(pairs) / (double)pairs);
}
