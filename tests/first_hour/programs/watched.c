// SPDX-License-Identifier: Apache-2.0
// watched.c WHAT: does one thing that a sanitizer must report, or one that is correct, on which the sanitizer must be
// silent. Prints `done` at the end of the latter.
#include <janus/rt.h>
#include <janus/sync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTasks = 20, kRounds = 50 };

static long shared;
static janus_channel* channel;

static void run_all(janus_task_fn fn, int count) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < count; i++) janus_nursery_spawn_in(nursery, fn, NULL, NULL);
  if (janus_nursery_await(nursery, NULL) != 0) exit(9);
  janus_nursery_destroy(nursery);
}

// --- Races -----------------------------------------------------------------------------------------------------------

__attribute__((noinline)) static int64_t add_without_order(void* arg) {
  (void)arg;
  shared++;
  return 0;
}
static void race(void) {
  run_all(add_without_order, 2);
}

// Race: the parent goes on writing after the spawn.
__attribute__((noinline)) static int64_t read_parents(void* arg) {
  return *(long*)arg >= 0 ? 0 : -9;
}
static void race_with_parent(void) {
  long mine = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, read_parents, &mine, NULL);
  *(volatile long*)&mine = 1;
  janus_nursery_await(nursery, NULL);
}

// Race: the sender goes on writing to the block whose address it has sent.
__attribute__((noinline)) static int64_t write_after_send(void* arg) {
  (void)arg;
  long* block = janus_alloc(sizeof *block);
  *block = 1;
  if (janus_channel_send(channel, &block) != 0) return -9;
  *(volatile long*)block = 2;
  return 0;
}
static void race_after_send(void) {
  channel = janus_channel_create(sizeof(long*), 1);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, write_after_send, NULL, NULL);
  long* block;
  janus_channel_recv(channel, &block);
  shared = *(volatile long*)block;
  janus_nursery_await(nursery, NULL);
  janus_free(block);
  janus_channel_release(channel);
}

// --- Correct programs ------------------------------------------------------------------------------------------------

// Each task has frames where another task had some before, and memory that another task has freed.
static int64_t leave_traces(void* arg) {
  (void)arg;
  volatile char frame[3000];
  for (unsigned i = 0; i < sizeof frame; i++) frame[i] = (char)i;
  volatile char* block = janus_alloc(100);
  block[99] = frame[99];
  janus_yield();
  janus_free((void*)block);
  return frame[2999] == (char)2999 ? 0 : -9;
}

static int64_t write_result(void* arg) {
  *(long*)arg = (long)janus_task_id();
  return 0;
}
static void await_orders(void) {
  for (int round = 0; round < kRounds; round++) {
    long results[4] = {0};
    janus_nursery* nursery = janus_nursery_open(NULL, NULL);
    for (int i = 0; i < 4; i++) janus_nursery_spawn_in(nursery, write_result, &results[i], NULL);
    janus_nursery_await(nursery, NULL);
    for (int i = 0; i < 4; i++) shared += results[i];
    janus_nursery_destroy(nursery);
    run_all(leave_traces, kTasks);
  }
}

static void await_all_orders(void) {
  for (int round = 0; round < kRounds; round++) {
    long results[4] = {0};
    janus_nursery_create();
    for (int i = 0; i < 4; i++) janus_nursery_spawn(write_result, &results[i]);
    janus_nursery_await_all();
    for (int i = 0; i < 4; i++) shared += results[i];
  }
}

static void join_orders(void) {
  for (int round = 0; round < kRounds; round++) {
    long result = 0;
    janus_nursery* nursery = janus_nursery_open(NULL, NULL);
    const janus_task task = janus_nursery_spawn_in(nursery, write_result, &result, NULL);
    janus_task_join(task, NULL);
    shared += result;
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
  }
}

// Tasks pass a token round; the holder may access `shared`.
static int64_t pass_round(void* arg) {
  (void)arg;
  for (int round = 0; round < kRounds; round++) {
    long* token;
    if (janus_channel_recv(channel, &token) != 0) return -9;
    ++*token;
    ++shared;
    if (janus_channel_send(channel, &token) != 0) return -9;
  }
  return 0;
}
static void channel_orders_for(size_t capacity) {
  channel = janus_channel_create(sizeof(long*), capacity);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 4; i++) janus_nursery_spawn_in(nursery, pass_round, NULL, NULL);
  long* token = calloc(1, sizeof *token);
  janus_channel_send(channel, &token);
  for (int round = 0; round < kRounds; round++) {
    janus_channel_recv(channel, &token);
    ++*token;
    janus_channel_send(channel, &token);
  }
  janus_nursery_await(nursery, NULL);
  free(token);
  janus_channel_release(channel);
}

static janus_channel* back;
static int64_t answer(void* arg) {
  (void)arg;
  long value;
  while (janus_channel_recv(channel, &value) == 0) {
    shared += value;
    if (janus_channel_send(back, &value) != 0) return -9;
  }
  return 0;
}
static void rendezvous_orders(void) {
  channel = janus_channel_create(sizeof(long), 0);
  back = janus_channel_create(sizeof(long), 0);
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, answer, NULL, NULL);
  for (long round = 0; round < kRounds; round++) {
    shared++;
    janus_channel_send(channel, &round);
    janus_channel_recv(back, &round);
  }
  janus_channel_close(channel);
  janus_nursery_await(nursery, NULL);
  janus_channel_release(channel);
  janus_channel_release(back);
}
static void channel_orders(void) {
  channel_orders_for(1);
  channel_orders_for(5);
  rendezvous_orders();
}

static int64_t write_and_close(void* arg) {
  (void)arg;
  shared = 5;
  janus_channel_close(channel);
  return 0;
}
static void close_orders(void) {
  for (int round = 0; round < kRounds; round++) {
    channel = janus_channel_create(sizeof(long), 0);
    janus_nursery* nursery = janus_nursery_open(NULL, NULL);
    janus_nursery_spawn_in(nursery, write_and_close, NULL, NULL);
    long value;
    if (janus_channel_recv(channel, &value) != JANUS_E_CLOSED) exit(9);
    shared++;
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
    janus_channel_release(channel);
  }
}

static janus_task sleeper;
static int64_t sleep_and_look(void* arg) {
  (void)arg;
  for (int round = 0; round < kRounds; round++) {
    if (janus_park(-1) != 0) return -9;
    shared++;
    janus_unpark(*(janus_task*)arg);
  }
  return 0;
}
static void park_orders(void) {
  janus_task self = janus_task_self();
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  sleeper = janus_nursery_spawn_in(nursery, sleep_and_look, &self, NULL);
  for (int round = 0; round < kRounds; round++) {
    shared++;
    janus_unpark(sleeper);
    janus_park(-1);
  }
  janus_nursery_await(nursery, NULL);
}

static int64_t wait_for_cancel(void* arg) {
  (void)arg;
  while (janus_yield() == 0) {
  }
  return shared == 77 ? -1 : -9;
}
static void cancel_orders(void) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 4; i++) janus_nursery_spawn_in(nursery, wait_for_cancel, NULL, NULL);
  janus_yield();
  shared = 77;
  janus_nursery_cancel(nursery);
  if (janus_nursery_await(nursery, NULL) != JANUS_CANCELLED) exit(9);
}

// --- Memory ----------------------------------------------------------------------------------------------------------

__attribute__((noinline)) static int64_t overflow_task(void* arg) {
  (void)arg;
  volatile char* block = janus_alloc(20);
  block[20] = 1;
  return 0;
}
static void overflow(void) {
  run_all(overflow_task, 1);
}

__attribute__((noinline)) static int64_t after_free_task(void* arg) {
  (void)arg;
  volatile char* block = janus_alloc(20);
  janus_free((void*)block);
  block[0] = 1;
  return 0;
}
static void after_free(void) {
  run_all(after_free_task, 1);
}

__attribute__((noinline)) static int64_t double_free_task(void* arg) {
  (void)arg;
  void* volatile block = janus_alloc(20);
  janus_free(block);
  janus_free(block);
  return 0;
}
static void double_free(void) {
  run_all(double_free_task, 1);
}

__attribute__((noinline)) static int64_t stack_task(void* arg) {
  char text[16];
  janus_yield();
  for (volatile int i = 0; i < 17 + (arg != NULL); i++) text[i] = 1;
  return text[3] == 1 ? 0 : -9;
}
static void stack_overflow(void) {
  run_all(stack_task, 1);
}

__attribute__((noinline)) static void receive_too_much(void) {
  char element[16];
  long small = 0;
  memset(element, 1, sizeof element);
  channel = janus_channel_create(sizeof element, 1);
  janus_channel_send(channel, element);
  janus_channel_recv(channel, &small);
}

// Loses many blocks: the checker takes every word that looks like an address for one, and some may be left on unused
// stacks.
__attribute__((noinline)) static int64_t leak_task(void* arg) {
  enum { kLost = 64 };
  (void)arg;
  void* volatile block = NULL;
  for (int i = 0; i < kLost; i++) block = janus_alloc(1234);
  block = NULL;
  return block == NULL ? 0 : -9;
}
static void leak(void) {
  run_all(leak_task, 1);
}

// Blocks that only a channel or a task's stack leads to are not lost, even if the process ends while the task is
// running.
static int64_t keep(void* arg) {
  (void)arg;
  char* volatile mine = malloc(100);
  janus_park(-1);
  free(mine);
  return 0;
}
static void keep_all(void) {
  channel = janus_channel_create(sizeof(void*), 2);
  void* block = janus_alloc(100);
  janus_channel_send(channel, &block);
  block = NULL;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 4; i++) janus_nursery_spawn_in(nursery, keep, NULL, NULL);
  for (int i = 0; i < 100; i++) janus_yield();
  puts("done");
  exit(0);
}

// Nor are blocks that tasks allocate while the process ends: on other workers tasks go on until it is gone.
__attribute__((noinline)) static int hold_at_depth(unsigned depth) {
  char* volatile mine = malloc(100);
  const int status = depth != 0 ? hold_at_depth(depth - 1) : janus_yield();
  free(mine);
  return status;
}
static int64_t hold(void* arg) {
  unsigned depth = (unsigned)(uintptr_t)arg;
  while (hold_at_depth(depth % 16) == 0) depth = depth * 5 + 3;
  return 0;
}
static void go_on(void) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (uintptr_t i = 0; i < 16; i++) janus_nursery_spawn_in(nursery, hold, (void*)i, NULL);
  for (int i = 0; i < 100; i++) janus_yield();
  puts("done");
  exit(0);
}

// Each lock, and what is waited for, passes on what was done before.
static janus_mutex mutex;
static janus_cond changed;
static janus_rwlock rwlock;
static janus_semaphore permit;
static janus_event is_set;
static janus_once once;
static long under[5];

static void set_once(void* arg) {
  *(long*)arg = 7;
}

static int64_t use_all_locks(void* arg) {
  (void)arg;
  janus_once_call(&once, set_once, &under[0]);
  if (under[0] != 7) return -9;
  for (int i = 0; i < kRounds; i++) {
    janus_mutex_lock(&mutex);
    under[1]++;
    janus_cond_signal(&changed);
    if (i % 8 == 0) janus_yield();
    janus_mutex_unlock(&mutex);
    if (i % 4 == 0 ? janus_rwlock_write_lock(&rwlock) : janus_rwlock_read_lock(&rwlock)) return -9;
    if (i % 4 == 0)
      under[2]++;
    else if (under[2] < 0)
      return -9;
    i % 4 == 0 ? janus_rwlock_write_unlock(&rwlock) : janus_rwlock_read_unlock(&rwlock);
    janus_semaphore_acquire(&permit);
    under[3]++;
    janus_semaphore_release(&permit, 1);
  }
  janus_event_wait(&is_set);
  return under[4] == 7 ? 0 : -9;
}

static int64_t wait_for_all(void* arg) {
  (void)arg;
  janus_mutex_lock(&mutex);
  while (under[1] < kTasks * kRounds) janus_cond_wait(&changed, &mutex);
  janus_mutex_unlock(&mutex);
  under[4] = 7;
  return janus_event_set(&is_set);
}

static int64_t end_with_it(void* arg) {
  (void)arg;
  janus_mutex_lock(&mutex);
  under[1] = -1;
  return 0;
}

static int64_t heal_it(void* arg) {
  (void)arg;
  for (int answer = 0; answer != JANUS_E_STATE; janus_yield()) {
    answer = janus_mutex_lock(&mutex);
    if (answer == JANUS_E_STATE && (under[1] != -1 || janus_mutex_heal(&mutex) != 0)) return -9;
    janus_mutex_unlock(&mutex);
  }
  return 0;
}

static void locks_order(void) {
  if (janus_semaphore_init(&permit, 1) != 0) exit(9);
  janus_nursery* users = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(users, wait_for_all, NULL, NULL);
  for (int i = 0; i < kTasks; i++) janus_nursery_spawn_in(users, use_all_locks, NULL, NULL);
  if (janus_nursery_await(users, NULL) != 0) exit(9);
  janus_nursery_destroy(users);
  janus_nursery* two = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(two, heal_it, NULL, NULL);
  janus_nursery_spawn_in(two, end_with_it, NULL, NULL);
  if (janus_nursery_await(two, NULL) != 0 || under[1] != -1) exit(9);
  janus_nursery_destroy(two);
}

static void reallocate(void) {
  char* text = janus_alloc(1);
  for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 / 2 + 1) {
    text = janus_realloc(text, bytes);
    memset(text, 1, bytes);
  }
  text = janus_realloc(text, 10);
  janus_free(text);
  void* aligned = janus_alloc_aligned(4096, 3);
  memset(aligned, 1, 3);
  janus_free(aligned);
}

// --- Errors that are contained ---------------------------------------------------------------------------------------

__attribute__((noinline)) static int64_t fault_task(void* arg) {
  (void)arg;
  char frame[100];
  memset(frame, 1, sizeof frame);
  *(volatile int*)8 = frame[5];
  return 0;
}
static int64_t spin_task(void* arg) {
  (void)arg;
  for (;;)
    if (janus_yield() != 0) return -1;
}
static long end_of(janus_task_fn fn, const janus_nursery_options* options) {
  janus_nursery* nursery = janus_nursery_open(NULL, options);
  janus_nursery_spawn_in(nursery, fn, NULL, NULL);
  const long end = janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return end;
}
static int64_t panic_task(void* arg) {
  (void)arg;
  janus_task_panic("on purpose");
}

// Several tasks at a time overflow their stacks, each down to the last byte of a stack that another task had before.
static volatile int goes_on = 1;
__attribute__((noinline)) static int64_t go_too_deep(void* arg) {
  volatile char frame[40];
  frame[0] = 1;
  const int64_t below = goes_on ? go_too_deep(arg) : 0;
  return below + frame[0];
}
static void overflow_together(void) {
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  for (int i = 0; i < 6; i++) janus_nursery_spawn_in(nursery, go_too_deep, NULL, NULL);
  if (janus_nursery_await(nursery, NULL) != JANUS_PANIC) exit(6);
  janus_nursery_destroy(nursery);
}

static void contained(void) {
  janus_nursery_options options = {0};
  options.budget = (janus_budget){.ops = 20000, .memory = 1 << 20, .spawn_count = 9};
  options.on_exhaustion = JANUS_ON_EXHAUSTION_FAIL;
  for (int round = 0; round < 10; round++) {
    if (end_of(fault_task, NULL) != JANUS_PANIC) exit(9);
    if (end_of(panic_task, NULL) != JANUS_PANIC) exit(8);
    if (end_of(spin_task, &options) != JANUS_BUDGET_EXCEEDED) exit(7);
    run_all(leave_traces, kTasks);
  }
  for (int round = 0; round < 3; round++) overflow_together();
}

static const struct {
  const char* name;
  void (*run)(void);
} all[] = {
    {"race", race},
    {"race-with-parent", race_with_parent},
    {"race-after-send", race_after_send},
    {"await", await_orders},
    {"await-all", await_all_orders},
    {"join", join_orders},
    {"channel", channel_orders},
    {"close", close_orders},
    {"park", park_orders},
    {"cancel", cancel_orders},
    {"locks", locks_order},
    {"realloc", reallocate},
    {"overflow", overflow},
    {"after-free", after_free},
    {"double-free", double_free},
    {"stack", stack_overflow},
    {"receive", receive_too_much},
    {"leak", leak},
    {"keep", keep_all},
    {"go-on", go_on},
    {"contained", contained},
};

int main(int argc, char** argv) {
  for (unsigned i = 0; argc == 2 && i < sizeof all / sizeof *all; i++) {
    if (strcmp(all[i].name, argv[1]) != 0) continue;
    all[i].run();
    puts("done");
    return 0;
  }
  return 2;
}
