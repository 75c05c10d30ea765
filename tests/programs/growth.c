// SPDX-License-Identifier: Apache-2.0
// growth HOW [N]: tasks that need more stack than they begin with. growth_test.py checks what can be seen of each HOW.
#include <janus/rt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { kGetpid = 39, kFork = 57, kWait4 = 61, kPrctl = 157, kSeccomp = 317, kExecve = 59, kExitGroup = 231 };
enum { kGetrandom = 318, kReadlink = 89 };

// For functions whose frames are not touched page by page (no stack probes).
#ifdef __clang__
#define UNPROBED __attribute__((noinline))
#else
#define UNPROBED __attribute__((noinline, optimize("no-stack-clash-protection")))
#endif

static long tasks_or(char** argv, long usual) {
  return argv[2] != NULL ? strtol(argv[2], NULL, 10) : usual;
}

static janus_nursery* open_collecting(void) {
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  return janus_nursery_open(NULL, &options);
}

static size_t stack_size;  // of spawned tasks; 0: the default

static void spawn(janus_nursery* nursery, janus_task_fn fn, void* arg) {
  const janus_spawn_options options = {.size = sizeof options, .stack_size = stack_size, .flags = JANUS_SPAWN_DETACHED};
  if (janus_nursery_spawn_in(nursery, fn, arg, &options).raw == 0) janus_print(2, "a spawn failed\n");
}

static janus_channel* gate;
static long arrived;

// Waits at the gate, which opens when all have arrived.
static void meet(void) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
  char byte;
  (void)janus_channel_recv(gate, &byte);
}

// --- Frames of 20,000 bytes

static __attribute__((noinline)) int64_t use_frame(void* arg) {
  volatile char frame[20000];
  for (size_t i = 0; i < sizeof frame; i += 1000) frame[i] = (char)(uintptr_t)arg;
  meet();
  for (size_t i = 0; i < sizeof frame; i += 1000)
    if (frame[i] != (char)(uintptr_t)arg) return -5;
  return 0;
}

// --- Recursion

static __attribute__((noinline)) long go_down(long bytes, int meets) {
  char frame[512];
  memset(frame, (int)bytes, sizeof frame);
  __asm__ volatile("" : : "r"(frame) : "memory");  // keeps the frame
  if (bytes <= 0) {
    if (meets) meet();
    return 0;
  }
  return go_down(bytes - 560, meets) + (frame[17] == (char)bytes);
}

static int64_t recurse(void* bytes) {
  const long steps = go_down((long)(intptr_t)bytes, 1);
  return steps == ((long)(intptr_t)bytes + 559) / 560 ? 0 : -6;
}

static long all_at_once(janus_task_fn fn, void* arg, long count) {
  gate = janus_channel_create(1, 1);
  janus_nursery* nursery = open_collecting();
  for (long i = 0; i < count; i++) spawn(nursery, fn, arg);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < count) janus_yield();
  (void)janus_channel_close(gate);
  return janus_nursery_await(nursery, NULL);
}

// --- How deep a task can go

static uintptr_t began, deepest;

static volatile int goes_on = 1;

static __attribute__((noinline)) int64_t overflow(void* arg) {
  volatile char frame[64];
  frame[0] = 1;
  deepest = (uintptr_t)frame;
  const int64_t below = goes_on ? overflow(arg) : 0;
  return below + frame[0];
}

static int64_t begin_to_overflow(void* arg) {
  volatile char here = 0;
  began = (uintptr_t)&here;
  return overflow(arg);
}

static int64_t wait_at_gate(void* arg) {
  (void)arg;
  meet();
  return 0;
}

static long been;  // how deep the spawners have been before they spawn

static int64_t nest(void* arg);

static void spawn_nested(janus_nursery* nursery, long deeper) {
  stack_size = deeper > 0 ? (size_t)been : 0;
  spawn(nursery, deeper > 0 ? nest : begin_to_overflow, (void*)(intptr_t)deeper);
}

// A child spawns a child, `arg` deep: each begins deeper on the same stack, or on its own.
static int64_t nest(void* arg) {
  janus_nursery* nursery = open_collecting();
  (void)go_down(been / 2, 0);
  spawn_nested(nursery, (long)(intptr_t)arg - 1);
  return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 0 : -7;
}

static long depth(char** argv) {
  const long beside = tasks_or(argv, 0);
  gate = janus_channel_create(1, 1);
  janus_nursery* others = open_collecting();
  for (long i = 0; i < beside; i++) spawn(others, wait_at_gate, NULL);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < beside) janus_yield();
  const long nested = argv[2] != NULL && argv[3] != NULL ? strtol(argv[3], NULL, 10) : 0;
  been = argv[2] != NULL && argv[3] != NULL && argv[4] != NULL ? strtol(argv[4], NULL, 10) : 0;
  (void)go_down(been, 0);
  janus_nursery* nursery = open_collecting();
  spawn_nested(nursery, nested);
  (void)janus_nursery_await(nursery, NULL);
  (void)janus_channel_close(gate);
  (void)janus_nursery_await(others, NULL);
  janus_print(1, "%lu\n", (unsigned long)(began - deepest));
  return 0;
}

// --- More than a MiB, on request

static int64_t recurse_far(void* arg) {
  (void)arg;
  return go_down(38 << 20, 0) > 0 ? 0 : -6;
}

static int spawn_on(janus_nursery* nursery, size_t bytes) {
  const janus_spawn_options options = {.stack_size = bytes, .flags = JANUS_SPAWN_DETACHED};
  return janus_nursery_spawn_in(nursery, recurse_far, NULL, &options).raw != 0 ? 0 : janus_last_error();
}

// Three such tasks at once, twice; then requests beyond the budget and beyond the maximum.
static long far(void) {
  for (int round = 0; round < 2; round++) {
    janus_nursery* nursery = open_collecting();
    for (int i = 0; i < 3; i++)
      if (spawn_on(nursery, 40 << 20) != 0) return 1;
    if (janus_nursery_await(nursery, NULL) != 0) return 2;
  }
  janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT, .budget = JANUS_BUDGET_ALL};
  options.budget.memory = 60 << 20;
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  if (spawn_on(cage, 40 << 20) != JANUS_E_BUDGET || spawn_on(cage, (64 << 20) + 1) != JANUS_E_INVALID) return 3;
  return janus_nursery_await(cage, NULL) == 0 ? 0 : 4;
}

static long too_far(void) {
  janus_nursery* nursery = open_collecting();
  if (spawn_on(nursery, 40 << 20) != 0) return 5;
  return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 7 : 8;
}

// --- The other half of a fork, below a half that has left a long stack

static int64_t use_much(void* unused) {
  (void)unused;
  return go_down(600000, 0) != 0 ? 0 : -6;
}

static uintptr_t deepest_half;

static int64_t fork_on_a_long_stack(void* unused) {
  (void)unused;
  janus_result results[2];
  (void)janus_fork_join(use_much, NULL, begin_to_overflow, NULL, results);
  if (results[1].kind != JANUS_KIND_PANIC) return -7;
  if (began - deepest > deepest_half) deepest_half = began - deepest;
  return 0;
}

// Prints how deep the deepest one went.
static int halves(void) {
  janus_nursery* nursery = open_collecting();
  for (stack_size = 65536; stack_size <= (size_t)4 << 20; stack_size *= 4) spawn(nursery, fork_on_a_long_stack, NULL);
  const long code = janus_nursery_await(nursery, NULL);
  janus_print(1, "%lu\n", (unsigned long)deepest_half);
  return (int)-code;
}

// --- What JANUS_STATS prints about stacks

static int64_t recurse_alone(void* bytes) {
  return go_down((long)(intptr_t)bytes, 0) > 0 ? 0 : -6;
}

// More names than the table holds, with a newline in each, which must not break a line of the table.
static long deep_ones(char** argv) {
  (void)go_down(300000, 0);
  janus_nursery* nursery = open_collecting();
  for (long i = 0; i < tasks_or(argv, 3); i++) {
    char name[] = "deep\n0";
    name[5] = (char)('0' + i);
    const long bytes = i < 3 ? 60000L << i : 70000;
    const janus_spawn_options options = {
        .name = i < 40 ? name : NULL, .flags = JANUS_SPAWN_DETACHED, .stack_size = 8192};
    if (janus_nursery_spawn_in(nursery, recurse_alone, (void*)(intptr_t)bytes, &options).raw == 0) return 9;
  }
  spawn(nursery, recurse_alone, (void*)(intptr_t)100000);
  return janus_nursery_await(nursery, NULL);
}

// --- With little memory in the budget

// A task without memory for more than its first stack, whose parent has used much more.
static long depth_of_a_pauper(char** argv) {
  been = tasks_or(argv, 0);
  (void)go_down(been, 0);
  janus_nursery* nursery = open_collecting();
  const janus_spawn_options options = {.flags = JANUS_SPAWN_DETACHED, .budget = {.ops = 1000000, .memory = 16384}};
  if (janus_nursery_spawn_in(nursery, begin_to_overflow, NULL, &options).raw == 0) return 9;
  (void)janus_nursery_await(nursery, NULL);
  janus_print(1, "%lu\n", (unsigned long)(began - deepest));
  return 0;
}

static long in_a_cage(char** argv) {
  janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT, .budget = JANUS_BUDGET_ALL};
  options.budget.memory = 100000;
  if (argv[2] != NULL && argv[3] != NULL) options.on_exhaustion = JANUS_ON_EXHAUSTION_FAIL;
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  const long times = tasks_or(argv, 1);
  for (long i = 0; i < times; i++) spawn(cage, recurse_alone, (void*)(intptr_t)(i % 2 != 0 ? 2000 : 250000));
  const long ended = janus_nursery_await(cage, NULL);
  return ended == JANUS_PANIC ? 7 : ended == JANUS_BUDGET_EXCEEDED ? 6 : 8;
}

// --- System calls that the machine refuses

typedef struct instruction {
  uint16_t code;
  uint8_t yes, no;
  uint32_t k;
} instruction;

// From now on madvise fails with EPERM, for `advice` or for any advice (0).
static int refuse_madvise(uint32_t advice) {
  const instruction filter[] = {
      {0x20, 0, 0, 0},                                // the number of the system call
      {0x15, 0, (uint8_t)(advice != 0 ? 3 : 1), 28},  // madvise
      {advice != 0 ? 0x20 : 0x06, 0, 0, advice != 0 ? 32 : 0x00050001},
      {0x15, 0, 1, advice},
      {0x06, 0, 0, 0x00050001},
      {0x06, 0, 0, 0x7fff0000},
  };
  const instruction any[] = {{0x20, 0, 0, 0}, {0x15, 0, 1, 28}, {0x06, 0, 0, 0x00050001}, {0x06, 0, 0, 0x7fff0000}};
  const struct {
    uint16_t count;
    const instruction* code;
  } program = {advice != 0 ? 6 : 4, advice != 0 ? filter : any};
  if (janus_syscall(kPrctl, 38L, 1L, 0L, 0L, 0L) != 0) return 0;
  return janus_syscall(kSeccomp, 1L, 1L /* every thread */, &program) == 0;
}

static long refused_later(char** argv) {
  if (!refuse_madvise(argv[2] != NULL ? (uint32_t)strtoul(argv[2], NULL, 10) : 0)) return 77;
  janus_nursery* nursery = open_collecting();
  for (int i = 0; i < 10; i++) spawn(nursery, recurse_alone, (void*)(intptr_t)(i % 2 != 0 ? 2000 : 250000));
  return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 7 : 8;
}

// Executes another program, for which movable guards are refused from the start.
static long without_growth(char** argv) {
  extern char** environ;
  if (!refuse_madvise(102)) return 77;
  (void)janus_syscall(kExecve, argv[2], argv + 2, environ);
  return 78;
}

static long sizes(void) {
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  janus_print(1, "%lu %lu\n", (unsigned long)stats.stack_size, (unsigned long)stats.stack_max);
  return 0;
}

// --- What makes the fault handler fail

// Damages the runtime's record of the stack, which is above the task's frames and which the handler needs for the next
// step.
static int64_t ruin_and_grow(void* arg) {
  (void)arg;
  enum { kPage = 4096, kTop = 1600 };
  const uintptr_t end = ((uintptr_t)__builtin_frame_address(0) | (kPage - 1)) + 1;
  for (uintptr_t at = end - kTop; at < end; at += 4) *(volatile uint32_t*)at |= 0x55000000;
  return go_down(250000, 0);
}

// Makes the task run on its own stack: the task that was spawned last runs first, in main's place, and waits.
static long ruin(void) {
  gate = janus_channel_create(1, 1);
  janus_nursery* nursery = open_collecting();
  spawn(nursery, ruin_and_grow, NULL);
  for (int i = 0; i < 10; i++) spawn(nursery, wait_at_gate, NULL);
  return janus_nursery_await(nursery, NULL);
}

// --- Near the end of a stack that cannot grow

static int64_t do_nothing(void* arg) {
  (void)arg;
  return 0;
}

static UNPROBED void yield_below(size_t bytes) {
  char buffer[bytes];
  __asm__ volatile("" : : "r"(buffer) : "memory");
  janus_yield();
}

static int64_t yield_without_memory(void* depth) {
  janus_nursery_spawn_in(janus_nursery_open(NULL, NULL), do_nothing, NULL, NULL);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2)
    while (janus_budget_get_current().memory > bytes + 300 && janus_alloc(bytes) != NULL) {
    }
  yield_below((size_t)depth);
  return 0;
}

// The yield near the end of the stack may be the first one: the next task is fresh, and its stack must be made.
static int run_drained(size_t depth, uint32_t on_exhaustion) {
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT,
                                         .on_exhaustion = on_exhaustion,
                                         .budget = {.ops = 100000000, .memory = 400 << 10, .spawn_count = 10}};
  const janus_spawn_options roomy = {.stack_size = 65536};
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  janus_nursery_spawn_in(cage, yield_without_memory, (void*)depth, &roomy);
  janus_nursery_await(cage, NULL);
  return 0;
}

static int64_t touch_all(void* paid) {
  const uint32_t before = janus_budget_get_current().ops;
  if (go_down(900 << 10, 0) <= 0) return -14;
  *(uint32_t*)paid = before - janus_budget_get_current().ops;
  return 0;
}

// A step of hundreds of pages must be paid for.
static int large_steps_are_paid(void) {
  const janus_nursery_options options = {.budget = {.ops = 100000000, .memory = 8 << 20, .spawn_count = 10}};
  const janus_spawn_options large = {.stack_size = 1 << 20};
  uint32_t paid = 0;
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  janus_nursery_spawn_in(cage, touch_all, &paid, &large);
  return janus_nursery_await(cage, NULL) == 0 && paid >= 900 / 4 ? 0 : 9;
}

// --- Together with other operations

static int64_t fork_and_grow(void* arg) {
  (void)arg;
  const long child = janus_syscall(kFork);
  if (child == 0) (void)janus_syscall(kExitGroup, go_down(200000, 0) > 0 ? 42L : 43L);
  int status = 0;
  if (child < 0 || janus_syscall(kWait4, child, &status, 0L, 0L) != child) return -8;
  return (status >> 8) == 42 && go_down(200000, 0) > 0 ? 0 : -9;
}

static int has_forked;

static int64_t grow_until_forked(void* arg) {
  (void)arg;
  while (!__atomic_load_n(&has_forked, __ATOMIC_ACQUIRE))
    if (go_down(200000, 0) <= 0) return -12;
  return 0;
}

// Growing needs no lock that a thread could hold which the forked child does not have.
static int64_t fork_among_others(void) {
  enum { kOthers = 8, kForks = 10 };
  janus_nursery* others = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < kOthers; ++i)
    if (janus_nursery_spawn_in(others, grow_until_forked, NULL, NULL).raw == 0) return -13;
  int64_t answer = 0;
  for (int i = 0; i < kForks && answer == 0; ++i) answer = fork_and_grow(NULL);
  __atomic_store_n(&has_forked, 1, __ATOMIC_RELEASE);
  const int64_t theirs = janus_nursery_await(others, NULL);
  return answer != 0 ? answer : theirs;
}

// The kernel must be able to write to a frame that nothing else has touched, at every size.
static UNPROBED int64_t ask_kernel(size_t bytes) {
  char buffer[bytes];
  __asm__ volatile("" : : "r"(buffer) : "memory");
  if (bytes <= 256) return janus_syscall(kGetrandom, buffer, bytes, 0L) == (int64_t)bytes ? 0 : -10;
  const int64_t begins = janus_syscall(kGetrandom, buffer, (size_t)200, 0L);
  const int64_t ends = janus_syscall(kGetrandom, buffer + bytes - 200, (size_t)200, 0L);
  return begins == 200 && ends == 200 ? 0 : -11;
}

static int64_t ask_at(void* arg) {
  return ask_kernel((size_t)(uintptr_t)arg);
}

static long kernel_writes(void) {
  janus_nursery* nursery = open_collecting();
  for (size_t bytes = 16; bytes < 250000; bytes += bytes < 20000 ? 208 : 5000) spawn(nursery, ask_at, (void*)bytes);
  return janus_nursery_await(nursery, NULL);
}

static int64_t grow_again_and_again(void* rounds) {
  for (long i = (long)(intptr_t)rounds; i > 0; i--) {
    janus_nursery* nursery = open_collecting();
    spawn(nursery, recurse_alone, (void*)(intptr_t)(i * 997 % 200000 + 20000));
    if (janus_nursery_await(nursery, NULL) != 0) return -12;
  }
  return 0;
}

static long churn(char** argv) {
  janus_print(1, "begun\n");
  janus_nursery* nursery = open_collecting();
  const long rounds = tasks_or(argv, 2000);
  for (int i = 0; i < 20; i++) spawn(nursery, grow_again_and_again, (void*)(intptr_t)rounds);
  return janus_nursery_await(nursery, NULL);
}

// --- The time of a step: a fault and two system calls

static UNPROBED void touch(size_t bytes) {
  char frame[bytes];
  frame[0] = 1;
  __asm__ volatile("" : : "r"(frame) : "memory");
}

// In a task that begins with 64 KiB: touches the guard, then the next guard. Each takes a step and a page; or only a
// page, if the task has taken these steps before.
static int64_t take_steps(void* arg) {
  const size_t guards = 68500, next = 134000;
  int64_t* const spent = (int64_t*)arg;
  size_t further = 0;
  if (*spent != 0) {
    touch(guards);
    touch(next);
    further = 8192;
  }
  const uint64_t before = janus_now_ns();
  touch(guards + further);
  touch(next + further);
  *spent = (int64_t)(janus_now_ns() - before);
  return 0;
}

static int by_value(const void* a, const void* b) {
  const int64_t one = *(const int64_t*)a, other = *(const int64_t*)b;
  return (one > other) - (one < other);
}

static long time_steps(void) {
  enum { kTimes = 1001 };
  static int64_t spent[2][kTimes];
  for (int i = 0; i < 2 * kTimes; i++) {
    int64_t* const one = &spent[i % 2][i / 2];
    *one = i % 2;
    janus_nursery* nursery = open_collecting();
    spawn(nursery, take_steps, one);
    (void)janus_nursery_await(nursery, NULL);
  }
  for (int i = 0; i < 2; i++) qsort(spent[i], kTimes, sizeof spent[i][0], by_value);
  const long with = (long)spent[0][kTimes / 2], without = (long)spent[1][kTimes / 2];
  janus_print(1, "%ld ns a step, with its page %ld, a page %ld\n", (with - without) / 2, with / 2, without / 2);
  return 0;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "frames")) return (int)all_at_once(use_frame, (void*)42, tasks_or(argv, 5000));
  if (!strcmp(how, "recursion")) return (int)all_at_once(recurse, (void*)200000, tasks_or(argv, 1000));
  if (!strcmp(how, "depth")) return (int)depth(argv);
  if (!strcmp(how, "far")) return (int)far();
  if (!strcmp(how, "too far")) return (int)too_far();
  if (!strcmp(how, "halves")) return halves();
  if (!strcmp(how, "deep")) return (int)deep_ones(argv);
  if (!strcmp(how, "pauper")) return (int)depth_of_a_pauper(argv);
  if (!strcmp(how, "cage")) return (int)in_a_cage(argv);
  if (!strcmp(how, "refused")) return (int)refused_later(argv);
  if (!strcmp(how, "without") && argc > 2) return (int)without_growth(argv);
  if (!strcmp(how, "sizes")) return (int)sizes();
  if (!strcmp(how, "ruin")) return (int)ruin();
  if (!strcmp(how, "drained")) return run_drained((size_t)atol(argv[2]), (uint32_t)atol(argv[3]));
  if (!strcmp(how, "large")) return large_steps_are_paid();
  if (!strcmp(how, "fork")) return (int)-fork_among_others();
  if (!strcmp(how, "kernel")) return (int)-kernel_writes();
  if (!strcmp(how, "churn")) return (int)-churn(argv);
  if (!strcmp(how, "time")) return (int)time_steps();
  return 100;
}
