// SPDX-License-Identifier: Apache-2.0
// Bare: one CPU, several that are emulated take minutes
// Ops, memory and `syscalls` run out at each point of each call of the C library that has shared state, and a read
// faults midway: afterwards a neighbour has its errno, and can use the streams that the cage used.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "hostile.h"

enum { kMaxOps = 40 };

static const uint64_t patience_ns = 20000000000u;

static FILE* zeroes;  // shared by all tasks; for reading and writing
static char sink[3000];

static int64_t ask_for_errno(void* unused) {
  (void)unused;
  errno = 5;
  return 0;
}

// Spends one op first, so that the ops run out in the first call for errno.
static int64_t ask_late_for_errno(void* unused) {
  janus_yield_check(1);
  return ask_for_errno(unused);
}

static int64_t fail_to_open(void* unused) {
  (void)unused;
  return open("/nonexistent", O_RDONLY);
}

static int64_t get_one(void* unused) {
  (void)unused;
  return fgetc(zeroes);
}

static int64_t get_many(void* unused) {
  (void)unused;
  return (int64_t)fread(sink, 1, sizeof sink, zeroes);
}

static int64_t get_line(void* unused) {
  (void)unused;
  return fgets(sink, sizeof sink, zeroes) != NULL;
}

static int64_t push_back(void* unused) {
  (void)unused;
  return ungetc('x', zeroes);
}

static int64_t put_one(void* unused) {
  (void)unused;
  return fputc('x', zeroes);
}

static int64_t print_long(void* unused) {
  (void)unused;
  return fprintf(zeroes, "%1000d", 1);
}

static int64_t move(void* unused) {
  (void)unused;
  return fseek(zeroes, 0, SEEK_SET) + ftell(zeroes) + fflush(zeroes);
}

static int64_t read_nowhere(void* unused) {
  (void)unused;
  return (int64_t)fread(UNMAPPED, 1, 100, zeroes);
}

static int64_t open_and_close(void* unused) {
  (void)unused;
  FILE* const file = fopen("/dev/null", "r+");
  return file != NULL ? fclose(file) : -1;
}

static const janus_task_fn calls[] = {ask_for_errno, fail_to_open, get_one, get_many,     get_line,      push_back,
                                      put_one,       print_long,   move,    read_nowhere, open_and_close};
enum { kCalls = sizeof calls / sizeof *calls };

// ---- The neighbour --------------------------------------------------------------------------------------------------

static int is_done;

static int64_t look_at_errno(void* unused) {
  (void)unused;
  errno = 7;
  CHECK_EQ(errno, 7);
  CHECK_EQ(open("/nonexistent", O_RDONLY), -1);
  CHECK_EQ(errno, ENOENT);
  __atomic_store_n(&is_done, 1, __ATOMIC_RELAXED);
  return 0;
}

static int64_t use_all(void* unused) {
  CHECK_EQ(fseek(zeroes, 0, SEEK_SET), 0);
  clearerr(zeroes);
  CHECK_EQ(fgetc(zeroes), 0);
  CHECK_EQ(fread(sink, 1, sizeof sink, zeroes), sizeof sink);
  CHECK_EQ(fputc('x', zeroes), 'x');
  return look_at_errno(unused);
}

// Ends the program if the neighbour waits for ever, since a task that waits for a lost lock cannot be ended.
static void have_a_neighbour(janus_task_fn what, long call, long ops) {
  janus_nursery* const house = open_plain();
  is_done = 0;
  spawn_roomy(house, what, NULL);
  const uint64_t until = janus_now_ns() + patience_ns;
  while (!__atomic_load_n(&is_done, __ATOMIC_RELAXED) && janus_now_ns() < until) janus_yield();
  if (!__atomic_load_n(&is_done, __ATOMIC_RELAXED)) {
    janus_print(1, "after call %ld with %ld ops a neighbour waits for ever\n", call, ops);
    janus_exit(1);
  }
  CHECK_EQ(close_cage(house), 0);
}

// ---- The attacks ----------------------------------------------------------------------------------------------------

static janus_budget with(long ops, long syscalls) {
  const janus_budget budget = {(uint32_t)ops, (size_t)1 << 20, 1, 1, (uint16_t)syscalls};
  return budget;
}

static void runs_out(long call, janus_budget budget) {
  run_in_cage(budget, calls[call], NULL);
  have_a_neighbour(use_all, call, budget.ops);
}

// The task waits to be recharged. Tasks that want its stream wait, too, until it is cancelled.
static void waits(long call, janus_budget budget) {
  janus_nursery* const cage = open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget);
  const janus_task task = spawn_roomy(cage, calls[call], NULL);
  for (long i = 0; i < 50 && janus_task_state(task) < JANUS_TASK_BUDGET_EXHAUSTED; ++i) janus_yield();
  have_a_neighbour(look_at_errno, call, budget.ops);
  CHECK_EQ(janus_nursery_cancel(cage), 0);
  janus_nursery_await(cage, NULL);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  have_a_neighbour(use_all, call, budget.ops);
}

// Begins with the least memory for a task, and adds a little each time.
static void has_no_memory(long call) {
  for (size_t more = 256; more < 4096; more += 64) {
    janus_budget budget = with(100000, 100);
    budget.memory = ((size_t)64 << 10) + more;
    run_in_cage(budget, calls[call], NULL);
  }
  have_a_neighbour(use_all, call, 100000);
}

int main(void) {
  run_in_cage(with(1, 0), ask_late_for_errno, NULL);  // before any other use in this process
  have_a_neighbour(look_at_errno, -1, 1);
  zeroes = fopen("/dev/zero", "r+");
  if (!CHECK(zeroes != NULL)) return end();
  for (long call = 0; call < kCalls; ++call) {
    for (long ops = 1; ops < kMaxOps; ++ops) {
      runs_out(call, with(ops, 100));
      waits(call, with(ops, 100));
    }
    for (long syscalls = 0; syscalls < 4; ++syscalls) {
      runs_out(call, with(100000, syscalls));
      waits(call, with(100000, syscalls));
    }
    has_no_memory(call);
  }
  return end();
}
