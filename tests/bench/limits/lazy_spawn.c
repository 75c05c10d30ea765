// SPDX-License-Identifier: Apache-2.0
// lazy_spawn.c — scopes of a thousand tasks on a minimal scheduler: a descriptor is taken from a free list and pushed;
// it is popped with a fence, gets a warm stack, is switched to and switches back.
#include "deque.h"
#include "fiber.h"
#include "limits.h"

enum { kScope = 1000, kStackBytes = 8192, kStacks = 8 };

struct task {
  _Alignas(64) void (*function)(void*);
  void* argument;
  struct task* next;  // of the free list
};

static struct {
  struct deque ready;
  struct task tasks[kScope], *free_tasks;
  void *stacks[kStacks], **free_stack;  // free_stack: one behind the last free one
  void* worker;                         // the worker's stack pointer when it was left
  struct task* running;
  long left;
} lazy;

static unsigned char marks[kScope], mark;

static void leave_mark(void* slot) {
  *(unsigned char*)slot = mark;
}

static void spawn(void (*function)(void*), void* argument) {
  struct task* const task = lazy.free_tasks;
  lazy.free_tasks = task->next;
  task->function = function;
  task->argument = argument;
  ++lazy.left;
  deque_push(&lazy.ready, task);
}

// Runs on the task's own stack.
static void run_task(void* arg) {
  struct task* const task = arg;
  task->function(task->argument);
  task->next = lazy.free_tasks;
  lazy.free_tasks = task;
  --lazy.left;
  void* abandoned;
  limit_switch(&abandoned, lazy.worker);
}

static void run_until_none_is_left(void) {
  while (lazy.left > 0) {
    struct task* const task = deque_pop(&lazy.ready);
    if (!task) fail("%ld tasks are lost", lazy.left);
    void* const stack = *--lazy.free_stack;
    limit_switch(&lazy.worker, fiber_on(stack, run_task, task));
    *lazy.free_stack++ = stack;
  }
}

static void scope(long tasks) {
  ++mark;
  for (long i = 0; i < tasks; ++i) spawn(leave_mark, &marks[i]);
  run_until_none_is_left();
  for (long i = 0; i < tasks; ++i)
    if (marks[i] != mark) fail("task %ld of a scope did not run", i);
}

static uint64_t scopes(long tasks) {
  const uint64_t start = now_ns();
  for (; tasks > 0; tasks -= kScope) scope(tasks < kScope ? tasks : kScope);
  return now_ns() - start;
}

void limit_of_lazy_spawn(long tasks, int workers) {
  pin(0, workers);
  for (int i = 0; i < kScope; ++i) {
    lazy.tasks[i].next = lazy.free_tasks;
    lazy.free_tasks = &lazy.tasks[i];
  }
  char* const stacks = pages((size_t)kStacks * kStackBytes);
  lazy.free_stack = lazy.stacks;
  for (int i = 1; i <= kStacks; ++i) *lazy.free_stack++ = stacks + i * kStackBytes;
  scopes(tasks < 100000 ? tasks : 100000);
  figure("ns", (double)scopes(tasks) / (double)tasks);
}
