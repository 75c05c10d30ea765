// SPDX-License-Identifier: Apache-2.0
// forkjoin.c: trees of tasks. A child writes its result to where its argument points; every call has its own nursery.
#include <string.h>

#include "bench.h"

// --- fib: one child per call, the other half inline -----------------------------------------------------------------

struct fib {
  long n, result;
};

static int64_t fib(void* arg) {
  struct fib* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return 0;
  }
  struct fib left = {call->n - 1, 0}, right = {call->n - 2, 0};
  if (!janus_nursery_create() || janus_nursery_spawn(fib, &left) < 0) return -1;
  const int64_t inline_half = fib(&right);
  const long spawned_half = janus_nursery_await_all();
  call->result = left.result + right.result;
  return inline_half < 0 || spawned_half < 0 ? -1 : 0;
}

static uint64_t time_fib(long n) {
  long a = 0, b = 1;
  for (long i = 0; i < n; ++i) {
    const long next = a + b;
    a = b;
    b = next;
  }
  struct fib root = {n, 0};
  const uint64_t start = janus_now_ns();
  const int64_t status = fib(&root);
  const uint64_t end = janus_now_ns();
  EXPECT(status == 0 && root.result == a);
  return end - start;
}

// fib(size); the operations are its spawns.
void bench_fib(long size, int workers) {
  (void)workers;
  long spawns = 0, before = 0;
  for (long i = 2; i <= size; ++i) {
    const long now = spawns + before + 1;
    before = spawns;
    spawns = now;
  }
  EXPECT(spawns > 0);
  time_fib(size > 24 ? 20 : size / 2);
  figure("ns", (int64_t)time_fib(size), spawns);
}

// --- skynet: ten children per task, down to the leaves, which return their number -----------------------------------

struct skynet {
  long first, leaves, sum;
};

static int64_t skynet(void* arg) {
  struct skynet* node = arg;
  if (node->leaves == 1) {
    node->sum = node->first;
    return 0;
  }
  struct skynet child[10];
  if (!janus_nursery_create()) return -1;
  for (int i = 0; i < 10; ++i) {
    child[i].leaves = node->leaves / 10;
    child[i].first = node->first + i * child[i].leaves;
    if (janus_nursery_spawn(skynet, &child[i]) < 0) return -1;
  }
  const long status = janus_nursery_await_all();
  node->sum = 0;
  for (int i = 0; i < 10; ++i) node->sum += child[i].sum;
  return status;
}

static uint64_t time_skynet(long leaves) {
  struct skynet root = {0, leaves, 0};
  const uint64_t start = janus_now_ns();
  const int64_t status = skynet(&root);
  const uint64_t end = janus_now_ns();
  EXPECT(status == 0 && root.sum == leaves * (leaves - 1) / 2);
  return end - start;
}

// `size` leaves, a power of ten; each task is an operation.
void bench_skynet(long size, int workers) {
  (void)workers;
  long tasks = 0, power = 1;
  for (; power < size; power *= 10) tasks += power * 10;
  EXPECT(power == size && tasks > 0);
  time_skynet(size > 10000 ? 10000 : 10);
  const uint64_t time = time_skynet(size);
  figure("ns", (int64_t)time, tasks);
  figure("ms", (int64_t)time, 1000000);
}

// The same with many more workers than CPUs. They started before main; in the first run all of them wake up once.
void bench_crowd(long size, int workers) {
  (void)workers;
  time_skynet(size);
  figure("ms", (int64_t)time_skynet(size), 1000000);
}

// --- nqueens: a task for each placement, with its own board ---------------------------------------------------------

enum { kMaxQueens = 14 };

struct queens {
  int size, placed;
  long solutions;
  char columns[kMaxQueens];  // of the queens placed so far, one per row
};

// Whether a queen in the next row is safe from those placed so far, which do not attack each other.
static int is_safe(const struct queens* board, int column) {
  for (int row = 0; row < board->placed; ++row) {
    const int distance = column - board->columns[row], rows = board->placed - row;
    if (distance == 0 || distance == rows || distance == -rows) return 0;
  }
  return 1;
}

static int64_t queens(void* arg) {
  struct queens* board = arg;
  board->solutions = board->placed == board->size;
  if (board->solutions) return 0;
  struct queens next[kMaxQueens];
  int placements = 0;
  if (!janus_nursery_create()) return -1;
  for (int column = 0; column < board->size; ++column) {
    if (!is_safe(board, column)) continue;
    struct queens* child = &next[placements++];
    child->size = board->size;
    child->placed = board->placed + 1;
    memcpy(child->columns, board->columns, (size_t)board->placed);
    child->columns[board->placed] = (char)column;
    if (janus_nursery_spawn(queens, child) < 0) return -1;
  }
  const long status = janus_nursery_await_all();
  for (int i = 0; i < placements; ++i) board->solutions += next[i].solutions;
  return status;
}

static uint64_t time_queens(int size, long known) {
  struct queens root = {.size = size};
  const uint64_t start = janus_now_ns();
  const int64_t status = queens(&root);
  const uint64_t end = janus_now_ns();
  EXPECT(status == 0 && root.solutions == known);
  return end - start;
}

// A board of `size` x `size`.
void bench_nqueens(long size, int workers) {
  (void)workers;
  static const long kKnown[kMaxQueens + 1] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  EXPECT(size <= kMaxQueens);
  time_queens(8, 92);
  figure("ms", (int64_t)time_queens((int)size, kKnown[size]), 1000000);
}
