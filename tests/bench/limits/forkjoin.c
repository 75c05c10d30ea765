// SPDX-License-Identifier: Apache-2.0
// forkjoin.c — fib by stackful fork-join, child first: the child runs at once on its own stack, and the parent is in
// the deque meanwhile. Since nobody steals the parent, the child's end returns to it.
#include "fiber.h"
#include "limits.h"

enum { kDepth = 128, kStackBytes = 8192, kCapacity = 256 };

struct fork {
  _Alignas(64) long top;
  _Alignas(64) long bottom;
  void** buffer;
  long mask;
  void** stacks;  // one behind the last free one
};
_Static_assert(offsetof(struct fork, top) == FORK_TOP && offsetof(struct fork, bottom) == FORK_BOTTOM, "");
_Static_assert(offsetof(struct fork, buffer) == FORK_BUFFER && offsetof(struct fork, mask) == FORK_MASK, "");
_Static_assert(offsetof(struct fork, stacks) == FORK_STACKS, "");

__attribute__((visibility("hidden"))) void limit_fork(struct fork*, void (*function)(void*), void* argument);

static struct fork tree;

struct call {
  long n, result;
};

static void fib(void* arg) {
  struct call* const call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return;
  }
  struct call left = {call->n - 1, 0}, right = {call->n - 2, 0};
  limit_fork(&tree, fib, &left);
  fib(&right);
  call->result = left.result + right.result;
}

void limit_of_forkjoin(long n, int workers) {
  static void *buffer[kCapacity], *free_stacks[kDepth];
  pin(0, workers);
  if (n >= kDepth) fail("fib: an n below %d", kDepth);
  tree = (struct fork){.buffer = buffer, .mask = kCapacity - 1, .stacks = free_stacks};
  char* const stacks = pages((size_t)kDepth * kStackBytes);
  // The tops of the stacks are in different cache sets; the stack pushed last is used first.
  for (int i = 1; i <= kDepth; ++i) *tree.stacks++ = stacks + i * kStackBytes - i % 32 * 64;
  struct call warm_up = {n < 25 ? n : 25, 0}, call = {n, 0};
  fib(&warm_up);
  const uint64_t start = now_ns();
  fib(&call);
  const uint64_t spent = now_ns() - start;
  if (call.result != fib_by_adding(n)) fail("fib(%ld) is not %ld", n, call.result);
  const double spawns = spawns_of_fib(n);
  figure("ns", (double)spent / (spawns > 1 ? spawns : 1));
}
