// SPDX-License-Identifier: Apache-2.0
// bench NAME SIZE: does one thing SIZE times over and prints `operations nanoseconds bytes`; the bytes (resident, of
// all operations together) are 0 where they say nothing. A user's program: main, rt.h, janus-cc.
#include <janus/rt.h>

typedef struct {
  uint64_t operations, bytes;
} work;

static int fails;  // anything that was not as it must be
static void expect(int held) {
  fails += !held;
}

// --- The bare switch
// ---------------------------------------------------------------------------------------------------

// The seed's context: sp first, then the callee-saved registers; mxcsr and the x87 control word behind them.
typedef struct {
  uint64_t sp, registers[6];
  uint32_t mxcsr;
  uint16_t fcw, reserved;
} context;
void janus_context_switch(context* from, const context* to);

static context here, there;

static void bounce(void) {
  for (;;) janus_context_switch(&there, &here);
}

static work bench_switch(long count) {
  static uint64_t stack[1024] __attribute__((aligned(16)));
  stack[1022] = (uint64_t)&bounce;  // where the first switch goes; the stack is then as after a call
  there.sp = (uint64_t)&stack[1022];
  there.mxcsr = 0x1f80;
  there.fcw = 0x37f;
  for (long i = 0; i < count; i += 2) janus_context_switch(&here, &there);
  return (work){(uint64_t)count, 0};
}

// --- Tasks
// -------------------------------------------------------------------------------------------------------------

static work bench_check(long count) {
  for (long i = 0; i < count; ++i) janus_yield_check(1);
  return (work){(uint64_t)count, 0};
}

static int64_t yield_often(void* arg) {
  for (long i = *(long*)arg; i > 0; --i) janus_yield();
  return 0;
}

// Two tasks that give way to each other.
static work bench_yield(long count) {
  long half = count / 2;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, yield_often, &half, NULL);
  janus_nursery_spawn_in(nursery, yield_often, &half, NULL);
  expect(janus_nursery_await(nursery, NULL) == 0);
  expect(janus_nursery_destroy(nursery) == 0);
  return (work){(uint64_t)half * 2, 0};
}

static int64_t nothing(void* arg) {
  (void)arg;
  return 1;
}

static work bench_spawn_join(long count) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (long i = 0; i < count; ++i) {
    const janus_task task = janus_nursery_spawn_in(nursery, nothing, NULL, NULL);
    int64_t result = 0;
    expect(janus_task_join(task, &result) == 0 && result == 1);
    janus_task_release(task);
  }
  expect(janus_nursery_await(nursery, NULL) == 0);
  expect(janus_nursery_destroy(nursery) == 0);
  return (work){(uint64_t)count, 0};
}

static int64_t fib(void* arg) {
  const int64_t n = (int64_t)arg;
  if (n < 2) return n;
  int64_t left = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  const janus_task task = janus_nursery_spawn_in(nursery, fib, (void*)(n - 1), NULL);
  const int64_t right = fib((void*)(n - 2));
  expect(janus_task_join(task, &left) == 0);
  expect(janus_nursery_await(nursery, NULL) == 0);
  janus_nursery_destroy(nursery);
  return left + right;
}

// Every call spawns one and does the other itself; the operations are the spawns.
static work bench_fib(long n) {
  int64_t a = 0, b = 1, spawns = 0, before = 0;
  for (long i = 2; i <= n; ++i) {
    const int64_t now = spawns + before + 1;  // spawns(n) = spawns(n-1) + spawns(n-2) + 1
    before = spawns;
    spawns = now;
  }
  for (long i = 0; i < n; ++i) {
    const int64_t next = a + b;
    a = b;
    b = next;
  }
  expect(fib((void*)n) == a);
  return (work){(uint64_t)spawns, 0};
}

struct node {
  long first, leaves;
};

static int64_t skynet(void* arg) {
  const struct node* node = arg;
  if (node->leaves == 1) return node->first;
  struct node child[10];
  janus_task task[10];
  int64_t sum = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  for (int i = 0; i < 10; ++i) {
    child[i].leaves = node->leaves / 10;
    child[i].first = node->first + i * child[i].leaves;
    task[i] = janus_nursery_spawn_in(nursery, skynet, &child[i], NULL);
  }
  for (int i = 0; i < 10; ++i) {
    int64_t part = 0;
    expect(janus_task_join(task[i], &part) == 0);
    sum += part;
  }
  expect(janus_nursery_await(nursery, NULL) == 0);
  janus_nursery_destroy(nursery);
  return sum;
}

// `leaves` is a power of ten; the operations are all tasks.
static work bench_skynet(long leaves) {
  struct node root = {0, leaves};
  expect(skynet(&root) == leaves * (leaves - 1) / 2);
  uint64_t tasks = 0;
  for (long n = leaves; n > 1; n /= 10) tasks += (uint64_t)n;
  return (work){tasks, 0};
}

// --- Waiting
// -----------------------------------------------------------------------------------------------------------

struct pair {
  janus_channel *there, *back;
  long rounds;
};

static int64_t echo(void* arg) {
  struct pair* pair = arg;
  long value;
  while (janus_channel_recv(pair->there, &value) == 0) expect(janus_channel_send(pair->back, &value) == 0);
  return 0;
}

// A word there and back over two rendezvous channels: two hand-overs a round.
static work bench_channel(long count) {
  struct pair pair = {janus_channel_create(sizeof(long), 0), janus_channel_create(sizeof(long), 0), count / 2};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, echo, &pair, NULL);
  for (long i = 0; i < pair.rounds; ++i) {
    long value = i;
    expect(janus_channel_send(pair.there, &value) == 0 && janus_channel_recv(pair.back, &value) == 0 && value == i);
  }
  janus_channel_close(pair.there);
  expect(janus_nursery_await(nursery, NULL) == 0);
  janus_nursery_destroy(nursery);
  janus_channel_release(pair.there);
  janus_channel_release(pair.back);
  return (work){(uint64_t)pair.rounds * 2, 0};
}

static uint64_t resident_bytes(void) {
  char text[128];
  const int64_t file = janus_syscall(2 /* open */, "/proc/self/statm", 0, 0);
  if (file < 0) return 0;
  const int64_t length = janus_syscall(0 /* read */, file, text, sizeof text);
  janus_syscall(3 /* close */, file);
  uint64_t pages = 0;
  int64_t at = 0;
  while (at < length && text[at] != ' ') ++at;  // the second number
  for (++at; at < length && text[at] >= '0' && text[at] <= '9'; ++at) pages = pages * 10 + (uint64_t)(text[at] - '0');
  return pages * 4096;
}

static janus_task gate_task;
static int64_t gate(void* arg) {
  (void)arg;
  return janus_park(-1);
}
static int64_t await_the_gate(void* arg) {
  (void)arg;
  int64_t result;
  return janus_task_join(gate_task, &result);
}

// `count` tasks, all blocked in a join at once, each on a stack with a guard; then all of them end.
static work bench_parked(long count) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  gate_task = janus_nursery_spawn_in(nursery, gate, NULL, NULL);
  expect(gate_task.raw != 0);
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  const uint64_t before = resident_bytes();
  for (long i = 0; i < count; ++i) expect(janus_nursery_spawn_in(nursery, await_the_gate, NULL, &detached).raw != 0);
  janus_stats stats = {.size = sizeof stats};
  do janus_yield(), janus_rt_stats(NULL, &stats);
  while (stats.stacks_in_use < (uint64_t)count);
  const uint64_t bytes = resident_bytes() - before;
  janus_print(2, "# %ld blocked: %lu guards, %lu mappings\n", count, (unsigned long)stats.guard_pages,
              (unsigned long)stats.mappings);
  expect(janus_unpark(gate_task) == 0);
  expect(janus_nursery_await(nursery, NULL) == 0);
  janus_nursery_destroy(nursery);
  return (work){(uint64_t)count, bytes};
}

// --- Memory
// ------------------------------------------------------------------------------------------------------------

static work bench_alloc(long count) {
  for (long i = 0; i < count; ++i) {
    void* block = janus_alloc(64);
    expect(block != NULL);
    __asm__ volatile("" : : "r"(block) : "memory");  // it is used, as far as the compiler knows
    janus_free(block);
  }
  return (work){(uint64_t)count, 0};
}

// --- Choosing
// ----------------------------------------------------------------------------------------------------------

static const struct {
  const char* name;
  work (*run)(long size);
} kBenches[] = {
    {"switch", bench_switch},         {"check", bench_check},   {"yield", bench_yield},
    {"spawn_join", bench_spawn_join}, {"fib", bench_fib},       {"skynet", bench_skynet},
    {"channel", bench_channel},       {"parked", bench_parked}, {"alloc", bench_alloc},
};

static int same(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

static long number(const char* text) {
  long value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return *text ? 0 : value;
}

int main(int argc, char** argv) {
  const long size = argc == 3 ? number(argv[2]) : 0;
  for (unsigned i = 0; size > 0 && i < sizeof kBenches / sizeof *kBenches; ++i) {
    if (!same(argv[1], kBenches[i].name)) continue;
    const uint64_t start = janus_now_ns();
    const work done = kBenches[i].run(size);
    janus_print(1, "%lu %lu %lu\n", (unsigned long)done.operations, (unsigned long)(janus_now_ns() - start),
                (unsigned long)done.bytes);
    return fails != 0;
  }
  janus_print(2, "usage: bench NAME SIZE\n");
  return 2;
}
