// SPDX-License-Identifier: Apache-2.0
// count OPERATION COUNT: warms up, then does the operation COUNT times between two marks (int3). A tracer counts the
// instructions between the marks. One worker; nothing here reads a clock.
#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "../workloads/bench.h"
#include "tests/bench/bare_context.h"

#define WARM_UP 2000

// Every operation is a yield point, so counting begins with a slice that is long enough for all of them.
static void begin_slice(void) {
  janus_yield();
}

static int64_t nothing(void* arg) {
  (void)arg;
  return 0;
}

// --- The bare switch -------------------------------------------------------------------------------------------------

static context here, there;

static void bounce(void) {
  for (;;) janus_context_switch(&there, &here);
}

static void count_switch(long count) {
  static uint64_t stack[1024] __attribute__((aligned(16)));
  stack[1022] = (uint64_t)&bounce;
  there.sp = (uint64_t)&stack[1022];
  there.mxcsr = 0x1f80;
  there.fcw = 0x37f;
  janus_context_switch(&here, &there);
  MARK();
  for (long i = 0; i < count; i += 2) janus_context_switch(&here, &there);
  MARK();
}

// --- Tasks -----------------------------------------------------------------------------------------------------------

static int64_t yield_for_ever(void* arg) {
  (void)arg;
  while (janus_yield() == 0) {
  }
  return 0;
}

// Two tasks that yield to each other. Only this task counts, so half of the `count` yields are its own.
static void count_yield(long count) {
  EXPECT(janus_nursery_create() != NULL && janus_nursery_spawn(yield_for_ever, NULL) == 0);
  for (long i = 0; i < WARM_UP; ++i) janus_yield();
  MARK();
  for (long i = 0; i < count; i += 2) janus_yield();
  MARK();
}

static void spawn_some(long count) {
  for (long i = 0; i < count; ++i) EXPECT(janus_nursery_spawn(nothing, NULL) == 0);
}

static void warm_scope(void) {
  EXPECT(janus_nursery_create() != NULL);
  spawn_some(WARM_UP);
  EXPECT(janus_nursery_await_all() == 0);
}

static void count_spawn(long count) {
  warm_scope();
  begin_slice();
  EXPECT(janus_nursery_create() != NULL);
  spawn_some(1);
  MARK();
  spawn_some(count);
  MARK();
}

// Takes a task from the deque, runs it and ends it.
static void count_run(long count) {
  warm_scope();
  begin_slice();
  EXPECT(janus_nursery_create() != NULL);
  spawn_some(count);
  MARK();
  const long status = janus_nursery_await_all();
  MARK();
  EXPECT(status == 0);
}

static void count_nursery(long count) {
  warm_scope();
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) EXPECT(janus_nursery_create() != NULL && janus_nursery_await_all() == 0);
  MARK();
}

// One child in a nursery of its own, as in fork-join.
static void count_scope_of_one(long count) {
  warm_scope();
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) {
    EXPECT(janus_nursery_create() != NULL);
    spawn_some(1);
    EXPECT(janus_nursery_await_all() == 0);
  }
  MARK();
}

// Both halves run on this worker.
static void count_fork(long count) {
  janus_result results[2];
  warm_scope();
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) EXPECT(janus_fork_join(nothing, NULL, nothing, NULL, results) == 0);
  MARK();
}

static void count_check(long count) {
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) janus_yield_check(1);
  MARK();
}

static void count_loop_check(long count) {
  uint32_t counter = 0;
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) JANUS_LOOP_CHECK(counter);
  MARK();
}

// --- Channels --------------------------------------------------------------------------------------------------------

// A channel that has been in use for a while, if it has a buffer.
static janus_channel* full_channel(long capacity, long elements) {
  janus_channel* channel = janus_channel_create(sizeof(long), (size_t)capacity);
  EXPECT(channel != NULL);
  for (long i = 0, value; capacity != 0 && i < WARM_UP; ++i)
    EXPECT(janus_channel_send(channel, &i) == 0 && janus_channel_recv(channel, &value) == 0);
  for (long i = 0; i < elements; ++i) EXPECT(janus_channel_send(channel, &i) == 0);
  return channel;
}

// Sends into a buffer with room, and receives from one that is not empty: nobody waits.
static void count_send(long count) {
  janus_channel* channel = full_channel(count + 1, 1);
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) EXPECT(janus_channel_send(channel, &i) == 0);
  MARK();
}

static void count_recv(long count) {
  janus_channel* channel = full_channel(count + 1, count + 1);
  long value = 0;
  EXPECT(janus_channel_recv(channel, &value) == 0);
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) EXPECT(janus_channel_recv(channel, &value) == 0);
  MARK();
}

// The same with 16 elements in a call; `count` is of elements.
enum { kMany = 16 };

static void count_send_many(long count) {
  janus_channel* channel = full_channel(count + 1, 1);
  long values[kMany] = {0};
  begin_slice();
  MARK();
  for (long i = 0; i < count; i += kMany) EXPECT(janus_channel_send_many(channel, values, kMany) == kMany);
  MARK();
}

static void count_recv_many(long count) {
  janus_channel* channel = full_channel(count + 1, count + 1);
  long values[kMany];
  EXPECT(janus_channel_recv(channel, values) == 0);
  begin_slice();
  MARK();
  for (long i = 0; i < count; i += kMany) EXPECT(janus_channel_recv_many(channel, values, kMany) == kMany);
  MARK();
}

static janus_channel *request, *reply;
static int64_t echo(void* arg) {
  (void)arg;
  long value;
  while (janus_channel_recv(request, &value) == 0) EXPECT(janus_channel_send(reply, &value) == 0);
  return 0;
}

static void round_trips(long count) {
  for (long i = 0; i < count; ++i) {
    long value = i;
    EXPECT(janus_channel_send(request, &value) == 0 && janus_channel_recv(reply, &value) == 0);
  }
}

// Two hand-overs per round trip, by rendezvous.
static void count_round_trip(long count) {
  request = full_channel(0, 0);
  reply = full_channel(0, 0);
  EXPECT(janus_nursery_create() != NULL && janus_nursery_spawn(echo, NULL) == 0);
  round_trips(WARM_UP);
  MARK();
  round_trips(count);
  MARK();
}

// --- Memory ----------------------------------------------------------------------------------------------------------

static void take_and_give(size_t bytes, long count) {
  for (long i = 0; i < count; ++i) {
    void* block = janus_alloc(bytes);
    __asm__ volatile("" : : "r"(block) : "memory");
    janus_free(block);
  }
}

static void count_blocks(size_t bytes, long count) {
  take_and_give(bytes, WARM_UP);
  begin_slice();
  MARK();
  take_and_give(bytes, count);
  MARK();
}

static void count_alloc(long count) {
  count_blocks(64, count);
}

// Blocks that are runs of pages.
static void count_alloc_large(long count) {
  count_blocks(100000, count);
}

// A block that grows to a size for which it has to move, and back.
static void count_realloc(long count) {
  void* block = janus_alloc(64);
  for (long i = 0; i < WARM_UP; ++i) block = janus_realloc(block, i % 2 ? 64 : 500);
  begin_slice();
  MARK();
  for (long i = 0; i < count; ++i) block = janus_realloc(block, i % 2 ? 64 : 500);
  MARK();
}

// --- Choosing the operation ------------------------------------------------------------------------------------------

typedef struct {
  const char* name;
  void (*run)(long count);
  int is_caged;     // counted in a task of a nursery that has a finite budget
  int is_confined;  // and, in that case, carries a token
} operation;

static const operation kOperations[] = {
    {"switch", count_switch},
    {"yield", count_yield},
    {"spawn", count_spawn},
    {"run", count_run},
    {"nursery", count_nursery},
    {"scope_of_one", count_scope_of_one},
    {"fork", count_fork},
    {"check", count_check},
    {"loop_check", count_loop_check},
    {"send", count_send},
    {"recv", count_recv},
    {"send_many", count_send_many},
    {"recv_many", count_recv_many},
    {"round_trip", count_round_trip},
    {"alloc", count_alloc},
    {"alloc_large", count_alloc_large},
    {"realloc", count_realloc},
    {"push", count_push},
    {"pop", count_pop},
    {"steal", count_steal},
    {"caged_send", count_send, 1},
    {"caged_recv", count_recv, 1},
    {"caged_alloc", count_alloc, 1},
    {"caged_realloc", count_realloc, 1},
    {"caged_spawn", count_spawn, 1},
    {"confined_spawn", count_spawn, 1, 1},
};

static struct {
  const operation* which;
  long count;
} chosen;

static int64_t run_chosen(void* arg) {
  (void)arg;
  chosen.which->run(chosen.count);
  janus_exit(0);
}

static void run_in_cage(int is_confined) {
  const janus_budget no_limit = {0};
  janus_cap above = janus_cap_root(NULL);
  for (int i = 0; i < 4; ++i) above = janus_cap_derive(above, 63, no_limit);
  const janus_cap cap = {is_confined ? above.raw : 0};
  const janus_nursery_options options = {
      .cap = cap, .budget = {.ops = 1000000000, .memory = 64 << 20, .spawn_count = 10000, .channel_ops = 60000}};
  janus_nursery* const cage = janus_nursery_open(NULL, &options);
  EXPECT(cage != NULL && janus_nursery_spawn_in(cage, run_chosen, NULL, NULL).raw != 0);
  (void)janus_nursery_await(cage, NULL);
}

// Ends without ending its tasks, since nothing is counted any more.
int main(int argc, char** argv) {
  const long count = argc == 3 ? atol(argv[2]) : 0;
  for (unsigned i = 0; count > 0 && i < sizeof kOperations / sizeof *kOperations; ++i) {
    if (strcmp(argv[1], kOperations[i].name) != 0) continue;
    chosen.which = &kOperations[i];
    chosen.count = count;
    if (kOperations[i].is_caged) run_in_cage(kOperations[i].is_confined);
    run_chosen(NULL);
  }
  janus_print(2, "usage: count OPERATION COUNT\n");
  return 2;
}
