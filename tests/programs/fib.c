// SPDX-License-Identifier: Apache-2.0
// fib [N]: the N-th Fibonacci number. Each call for 2 or more spawns a task for one half and calls itself for the other:
// fib(N + 1) - 1 tasks. To spawn them it uses only the three frozen functions.
#include "size.h"

struct call {
  long n;
  long result;
};

// Arguments and results are on the spawner's stack, which is valid since the spawner waits and stacks never move.
static int64_t fib(void* arg) {
  struct call* call = arg;
  if (call->n < 2) {
    call->result = call->n;
    return 0;
  }
  struct call left = {call->n - 1, 0}, right = {call->n - 2, 0};
  janus_nursery_create();
  if (janus_nursery_spawn(fib, &left) < 0) fib(&left);  // no budget for another task: call it directly
  fib(&right);
  const long status = janus_nursery_await_all();
  call->result = left.result + right.result;
  return status;
}

static long fib_by_adding(long n) {
  long a = 0, b = 1;
  for (; n > 0; --n) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return a;
}

int main(int argc, char** argv) {
  struct call call = {size_argument(argc, argv, 27, 45), 0};
  const int64_t status = fib(&call);
  janus_print(1, "fib(%ld) = %ld\n", call.n, call.result);
  return status < 0 || call.result != fib_by_adding(call.n);
}
