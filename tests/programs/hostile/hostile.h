// SPDX-License-Identifier: Apache-2.0
// Shared by the attacks: checks, cages, a neighbour that must not be affected, the accounts. Uses the public API alone.
#ifndef JANUS_TESTS_PROGRAMS_HOSTILE_H
#define JANUS_TESTS_PROGRAMS_HOSTILE_H

#include <janus/rt.h>
#include <stdlib.h>
#include <string.h>

// Unmapped in every program: above the range that Linux keeps free, and below the start of an image without a kernel.
#define UNMAPPED ((void*)(uintptr_t)0x23450)

static int failed_checks;

// Prints a failed check, and makes end() return 1. The program goes on, since more checks may fail.
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, 0, __LINE__)
// The same, and prints the number.
#define CHECK_THAT(number, condition) check_that((condition) ? 1 : 0, #condition, (long long)(number), __LINE__)
#define CHECK_EQ(seen, expected) check_equal((long long)(seen), (long long)(expected), #seen, __LINE__)

static inline int check_that(int holds, const char* what, long long seen, int line) {
  if (holds) return 1;
  if (__atomic_fetch_add(&failed_checks, 1, __ATOMIC_RELAXED) < 20)
    janus_print(1, "line %d: not so: %s (%lld)\n", line, what, seen);
  return 0;
}

static inline int check_equal(long long seen, long long expected, const char* what, int line) {
  if (seen == expected) return 1;
  if (__atomic_fetch_add(&failed_checks, 1, __ATOMIC_RELAXED) < 20)
    janus_print(1, "line %d: %s is %lld, expected %lld\n", line, what, seen, expected);
  return 0;
}

// The return value of main.
static inline int end(void) {
  return failed_checks ? 1 : 0;
}

// ---- Cages ----------------------------------------------------------------------------------------------------------

// A budget of the cage's own that is enough for all attacks.
static inline janus_budget roomy(void) {
  janus_budget budget = {4000000000u, (size_t)64 << 20, 60000, 60000, 0};
  return budget;
}

static inline janus_nursery* open_nursery(uint32_t on_error, uint32_t on_exhaustion, janus_budget budget) {
  janus_nursery_options options;
  memset(&options, 0, sizeof options);
  options.on_error = on_error;
  options.on_exhaustion = on_exhaustion;
  options.budget = budget;
  options.name = "cage";
  return janus_nursery_open(NULL, &options);
}

static inline janus_nursery* open_cage(janus_budget budget) {
  return open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
}

// A nursery without a budget of its own, in which failures do not cancel siblings.
static inline janus_nursery* open_plain(void) {
  janus_budget none;
  memset(&none, 0, sizeof none);
  return open_nursery(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, none);
}

static inline janus_task spawn(janus_nursery* nursery, janus_task_fn fn, void* arg) {
  return janus_nursery_spawn_in(nursery, fn, arg, NULL);
}

static inline janus_task spawn_roomy(janus_nursery* nursery, janus_task_fn fn, void* arg) {
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 64 << 10;
  return janus_nursery_spawn_in(nursery, fn, arg, &options);
}

static inline long close_cage(janus_nursery* cage) {
  const long status = janus_nursery_await(cage, NULL);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  return status;
}

// Runs fn(arg) as the only task of a cage; returns the nursery's result code.
static inline long run_in_cage(janus_budget budget, janus_task_fn fn, void* arg) {
  janus_nursery* cage = open_cage(budget);
  if (!CHECK(cage != NULL)) return JANUS_E_INVALID;
  CHECK(spawn_roomy(cage, fn, arg).raw != 0);
  return close_cage(cage);
}

// ---- Accounts -------------------------------------------------------------------------------------------------------

typedef struct accounts {
  size_t memory;
  janus_stats stats;
} accounts;

static inline accounts read_accounts(void) {
  accounts now;
  memset(&now, 0, sizeof now);
  now.stats.size = sizeof now.stats;
  janus_rt_stats(NULL, &now.stats);
  now.memory = janus_budget_get_current().memory;
  return now;
}

// After `rounds` repetitions: no task or nursery is left, and less than 32 bytes a round are lost, besides 256 KiB that
// pools and caches may hold after any number of rounds.
#define CHECK_NOTHING_LOST(before, rounds) check_nothing_lost((before), (rounds), __LINE__)
static inline void check_nothing_lost(accounts before, long rounds, int line) {
  const accounts now = read_accounts();
  const long long lost = (long long)before.memory - (long long)now.memory;
  const long long used = (long long)now.stats.bytes_in_use - (long long)before.stats.bytes_in_use;
  check_equal((long long)now.stats.tasks_live, (long long)before.stats.tasks_live, "tasks_live", line);
  check_equal((long long)now.stats.nurseries_live, (long long)before.stats.nurseries_live, "nurseries_live", line);
  check_that(lost < 32 * rounds + (256 << 10), "what the root lacks does not grow with the rounds", lost, line);
  check_that(used < 32 * rounds + (256 << 10), "bytes in use do not grow with the rounds", used, line);
  check_that(lost > -(256 << 10), "no memory is minted", lost, line);
}

// ---- The neighbour --------------------------------------------------------------------------------------------------

// A task that uses all features of the runtime, and checks that they work.
typedef struct neighbour {
  janus_channel* channel;
  int rounds;
  int done;
} neighbour;

static inline int64_t send_number(void* arg) {
  int number = 4711;
  return janus_channel_send((janus_channel*)arg, &number);
}

static inline int64_t live(void* arg) {
  neighbour* self = (neighbour*)arg;
  for (; self->done < self->rounds; ++self->done) {
    int number = 0;
    janus_nursery_create();
    if (!CHECK_EQ(janus_nursery_spawn(send_number, self->channel), 0)) return -1;
    CHECK_EQ(janus_channel_recv(self->channel, &number), 0);
    CHECK_EQ(janus_nursery_await_all(), 0);
    CHECK_EQ(number, 4711);
    char* block = (char*)janus_alloc(100 + self->done % 5000);
    if (!CHECK(block != NULL)) return -1;
    memset(block, 1, 100);
    janus_free(block);
    janus_yield();
  }
  return 0;
}

// Runs attack(arg) as a task beside a neighbour of `rounds`, which must not be affected. Returns the attack's result.
static inline int64_t beside_a_neighbour(int rounds, janus_task_fn attack, void* arg) {
  neighbour next_door = {janus_channel_create(sizeof(int), 0), rounds, 0};
  janus_nursery* street = open_plain();
  int64_t value = 0;
  spawn_roomy(street, live, &next_door);
  const janus_task attacker = spawn_roomy(street, attack, arg);
  CHECK_EQ(janus_task_join(attacker, &value), 0);
  CHECK_EQ(close_cage(street) < 0 && value >= 0, 0);
  CHECK_EQ(next_door.done, rounds);
  janus_channel_release(next_door.channel);
  return value;
}

#endif
