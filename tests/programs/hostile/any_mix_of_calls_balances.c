// SPDX-License-Identifier: Apache-2.0
// any_mix_of_calls_balances [ROUNDS [SEED]]: cages with random budgets and policies, in which trees of tasks make
// random calls, and are cancelled, panic, fault, are exhausted and recharged at random. Afterwards no task is left, and
// the accounts balance exactly.
#include "calls.h"

static uint64_t next_random(uint64_t* state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint32_t pick(uint64_t* state, uint32_t below) {
  return (uint32_t)(next_random(state) >> 32) % below;
}

// The objects of each task, so that those of tasks that end by force can be found and released.
typedef struct slot {
  int is_taken;
  belongings things;
} slot;

enum { kSlots = 4096 };
static slot slots[kSlots];

static slot* take_slot(void) {
  for (int i = 0; i < kSlots; ++i)
    if (__atomic_exchange_n(&slots[i].is_taken, 1, __ATOMIC_ACQUIRE) == 0) return &slots[i];
  return NULL;
}

// All of these calls are free, so no task ends in the middle of them.
static void give_back(slot* mine) {
  janus_free(mine->things.block);
  mine->things.block = NULL;
  janus_channel_release(mine->things.room);
  mine->things.room = NULL;
  janus_channel_release(mine->things.closed);
  mine->things.closed = NULL;
  janus_mailbox_release(mine->things.mailbox);
  mine->things.mailbox = NULL;
  janus_mailbox_release(mine->things.closed_mailbox);
  mine->things.closed_mailbox = NULL;
  janus_channel_release(mine->things.results);
  mine->things.results = NULL;
  janus_supervisor_close(mine->things.supervisor);
  mine->things.supervisor = NULL;
}

static void leave_slot(slot* mine) {
  __atomic_store_n(&mine->is_taken, 0, __ATOMIC_RELEASE);
}

// Called when all tasks have ended.
static void give_back_what_was_left(void) {
  for (int i = 0; i < kSlots; ++i) {
    if (!slots[i].is_taken) continue;
    give_back(&slots[i]);
    leave_slot(&slots[i]);
  }
}

typedef struct life {
  uint64_t random;
  int depth;
} life;

static int64_t live_at_random(void* arg);

static janus_budget any_budget(uint64_t* random) {
  const janus_budget none = {0, 0, 0, 0, 0};
  if (pick(random, 3) == 0) return none;
  const janus_budget some = {1 + pick(random, 20000), (size_t)1 << (10 + pick(random, 12)), (uint16_t)pick(random, 300),
                             (uint16_t)pick(random, 300), (uint16_t)pick(random, 50)};
  return some;
}

static void have_children(uint64_t* random, int depth) {
  janus_nursery* nursery = open_nursery(pick(random, 2), pick(random, 3), any_budget(random));
  life lives[4];
  for (int i = 0; i < 4; ++i) {
    lives[i].random = next_random(random);
    lives[i].depth = depth + 1;
    const janus_spawn_options options = {
        .stack_size = pick(random, 2) ? 16384 : 65536,
        .flags = pick(random, 4),
        .budget = pick(random, 4) ? (janus_budget){0, 0, 0, 0, 0} : any_budget(random)};
    const janus_task child = janus_nursery_spawn_in(nursery, live_at_random, &lives[i], &options);
    if (pick(random, 8) == 0) janus_task_cancel(child);
    if (pick(random, 4) == 0) janus_task_release(child);
  }
  for (int i = pick(random, 4); i > 0; --i) {
    const janus_budget amount = {pick(random, 3000), pick(random, 5000), 3, 3, 3};
    janus_nursery_recharge(nursery, amount);
    janus_yield();
  }
  // Cancels the tasks that wait for a recharge which never comes.
  janus_nursery_cancel(nursery);
  if (pick(random, 8) == 0) return;  // left open
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
}

static int64_t live_at_random(void* arg) {
  life mine = *(life*)arg;
  slot* const own = take_slot();
  if (!own) return 0;
  belongings* const things = &own->things;
  const int is_ready = prepare(things) == 0;
  for (int i = pick(&mine.random, 200); i > 0 && is_ready; --i) {
    const uint32_t choice = pick(&mine.random, 1000);
    if (choice < 950) steps[choice % kSteps].run(things);
    if (choice >= 950 && choice < 980 && mine.depth < 3) have_children(&mine.random, mine.depth);
    if (choice >= 980 && choice < 990 && janus_yield() < 0) break;
    if (choice == 990) return -9;
    if (choice == 991) janus_task_panic("at random");
    if (choice == 992) *(volatile int*)UNMAPPED = 1;
    if (choice == 993) janus_channel_send(things->room, UNMAPPED);
    if (choice == 994) janus_task_set_name((const char*)UNMAPPED);
    if (choice == 995) janus_task_cancel(janus_task_self());
  }
  give_back(own);
  release(things);
  leave_slot(own);
  return 0;
}

static long rounds = 300;
static uint64_t seed = 1;

static int64_t attack(void* unused) {
  (void)unused;
  for (long i = 0; i < rounds; ++i) {
    life mine = {seed * 1000000 + (uint64_t)i, 0};
    const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT,
                                           .on_exhaustion = i % 2 ? JANUS_ON_EXHAUSTION_FAIL : JANUS_ON_EXHAUSTION_DENY,
                                           .budget = {5000000, 4 << 20, 5000, 5000, 500}};
    janus_nursery* cage = janus_nursery_open(NULL, &options);
    if (!CHECK(cage != NULL)) return -1;
    spawn_roomy(cage, live_at_random, &mine);
    if (i % 16 == 0) janus_nursery_cancel(cage);
    janus_nursery_await(cage, NULL);
    CHECK_EQ(janus_nursery_destroy(cage), 0);
    give_back_what_was_left();
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);
  if (argc > 2) seed = (uint64_t)atoi(argv[2]);
  open_null_file();
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  if (!getenv("LOUD")) janus_syscall(SYS_dup2, null_file, 2);
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  const accounts after = read_accounts();
  CHECK_EQ(after.stats.tasks_live, before.stats.tasks_live);
  CHECK_EQ(after.stats.nurseries_live, before.stats.nurseries_live);
  CHECK_EQ(after.stats.tasks_spawned, after.stats.tasks_completed + after.stats.tasks_cancelled +
                                          after.stats.tasks_failed + after.stats.tasks_panicked +
                                          after.stats.tasks_live);
  // Everything was returned: nothing is in use, and the root's memory is complete, to the byte.
  CHECK_EQ(after.stats.bytes_in_use, before.stats.bytes_in_use);
  CHECK_EQ(after.memory, before.memory);
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
