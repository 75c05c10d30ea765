// SPDX-License-Identifier: Apache-2.0
// Attacks on neighbours: each task of the cage runs one of these functions until it is told to end. Only for
// neighbours_keep_their_share.c.
#ifndef JANUS_TESTS_PROGRAMS_ATTACKS_H
#define JANUS_TESTS_PROGRAMS_ATTACKS_H

#include "calls.h"

static int64_t stop;
static int is_stopped(void) {
  return __atomic_load_n(&stop, __ATOMIC_RELAXED) != 0;
}

// The attackers' nursery.
static janus_nursery* cage;
static janus_channel* floods[64];    // with buffers
static janus_channel* meetings[64];  // without

static int64_t spin(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) {
  }
  return 0;
}

static int64_t yield(void* unused) {
  (void)unused;
  while (janus_yield() == 0) {
  }
  return 0;
}

// One link: does a little work and spawns the next link.
static int64_t chain(void* arg) {
  for (int i = 0; i < 1000; ++i)
    if (janus_yield_check(1) < 0) return 0;
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  if (!is_stopped()) janus_nursery_spawn_in(cage, chain, arg, &detached);
  return 0;
}

// The other half of a pair.
static int64_t answer(void* channel) {
  uint64_t word;
  while (janus_channel_recv((janus_channel*)channel, &word) == 0)
    for (int i = 0; i < 1000; ++i)
      if (janus_yield_check(1) < 0) return 0;
  return 0;
}

static int64_t talk_to_somebody(void* unused) {
  (void)unused;
  janus_channel* channel = janus_channel_create(8, 0);
  if (channel == NULL) return 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  if (nursery != NULL && spawn(nursery, answer, channel).raw != 0) {
    uint64_t word = 0;
    while (janus_channel_send(channel, &word) == 0)
      for (int i = 0; i < 1000; ++i)
        if (janus_yield_check(1) < 0) break;
  }
  janus_channel_close(channel);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  janus_channel_release(channel);
  return 0;
}

static int64_t ask_for_too_much(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0)
    if (janus_alloc((size_t)1 << 40)) return 1;
  return 0;
}

static int64_t panic(void* unused) {
  (void)unused;
  janus_task_panic("once more");
}

static int64_t let_others_panic(void* unused) {
  (void)unused;
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  janus_nursery* nursery = open_plain();
  while (janus_yield() == 0) janus_nursery_spawn_in(nursery, panic, NULL, &detached);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return 0;
}

static int64_t flood(void* self) {
  janus_channel* channel = floods[(uintptr_t)self % 64];
  uint64_t word = 0;
  while (janus_yield_check(1) == 0) {
    janus_channel_try_send(channel, &word);
    janus_channel_try_recv(channel, &word);
  }
  return 0;
}

// At 64 channels at once, with whoever comes, or for 1 us.
static int64_t select_among_meetings(void* self) {
  uint64_t word = 0;
  janus_select_case cases[64];
  while (janus_yield_check(1) == 0) {
    for (unsigned i = 0; i < 64; ++i)
      cases[i] = (janus_select_case){meetings[i], &word, (uint32_t)(((uintptr_t)self + i) % 2), 0};
    if (janus_select(cases, 64, 1000) == JANUS_CANCELLED) break;
  }
  return 0;
}

// Each element is copied into the channel and out of it.
static int64_t send_1_mib(void* unused) {
  (void)unused;
  char* block = (char*)janus_alloc((size_t)1 << 20);
  janus_channel* channel = janus_channel_create((size_t)1 << 20, 1);
  while (block != NULL && channel != NULL && janus_yield_check(1) == 0) {
    janus_channel_try_send(channel, block);
    janus_channel_try_recv(channel, block);
  }
  janus_channel_release(channel);
  janus_free(block);
  return 0;
}

static int64_t guess_handles(void* unused) {
  (void)unused;
  for (uint64_t raw = 1; janus_yield_check(1) == 0; raw += 0x100000001) {
    const janus_task guessed = {raw};
    janus_unpark(guessed);
  }
  return 0;
}

static int64_t sleep_for_1_ns(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0 && janus_sleep_ns(1) == 0) {
  }
  return 0;
}

static int64_t open_with_deadline(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) {
    const janus_nursery_options options = {.deadline_ns = janus_now_ns() + 1000};
    janus_nursery* nursery = janus_nursery_open(NULL, &options);
    if (nursery == NULL) continue;
    const int is_told = janus_sleep_ns(2000);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
    if (is_told != 0) break;
  }
  return 0;
}

static int64_t call_the_system(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) janus_syscall(SYS_getpid);
  return 0;
}

static int64_t overflow(void* unused) {
  volatile char frame[512];
  frame[0] = 1;
  return is_stopped() > 1 ? 0 : overflow(unused) + frame[0];
}

static int64_t let_others_overflow(void* unused) {
  (void)unused;
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  janus_nursery* nursery = open_plain();
  while (janus_yield() == 0) janus_nursery_spawn_in(nursery, overflow, NULL, &detached);
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return 0;
}

static int64_t wait_for_word(void* channel) {
  uint64_t word;
  return janus_channel_recv((janus_channel*)channel, &word) == 0 ? 0 : 1;
}

// Thousands of tasks wait; one call wakes all of them, another cancels all.
static int64_t wake_thousands(void* by_cancel) {
  while (janus_yield() == 0) {
    janus_nursery* nursery = open_plain();
    janus_channel* channel = janus_channel_create(8, 0);
    for (int i = 0; channel != NULL && i < 10000 && janus_yield_check(1) == 0; ++i)
      spawn(nursery, wait_for_word, channel);
    for (int i = 0; i < 100; ++i) janus_yield();
    if (by_cancel)
      janus_nursery_cancel(nursery);
    else
      janus_channel_close(channel);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
    janus_channel_release(channel);
  }
  return 0;
}

static int64_t close_on_thousands(void* unused) {
  (void)unused;
  return wake_thousands(NULL);
}

static int64_t cancel_thousands(void* unused) {
  (void)unused;
  return wake_thousands((void*)1);
}

// A cage of cages, and a cage of tasks with a budget each, are still one cage.
static int64_t spin_in_cages(void* unused) {
  (void)unused;
  static janus_nursery* inner[1000];
  const janus_budget budget = {100000000, 32 << 10, 2, 2, 0};
  int count = 0;
  for (; count < 1000 && (inner[count] = open_cage(budget)) != NULL; ++count) spawn(inner[count], spin, NULL);
  janus_park(-1);
  for (int i = 0; i < count; ++i) janus_nursery_cancel(inner[i]);
  for (int i = 0; i < count; ++i) {
    janus_nursery_await(inner[i], NULL);
    janus_nursery_destroy(inner[i]);
  }
  return 0;
}

static int64_t spin_on_budgets(void* unused) {
  (void)unused;
  const janus_spawn_options options = {.flags = JANUS_SPAWN_DETACHED, .budget = {100000000, 32 << 10, 2, 2, 0}};
  for (int i = 0; i < 1000; ++i) janus_nursery_spawn_in(cage, spin, NULL, &options);
  return 0;
}

// ---- One call in a loop: none of them takes longer than it costs ----------------------------------------------------

static void take_and_give_back(size_t bytes) {
  while (janus_yield_check(1) == 0) janus_free(janus_alloc(bytes));
}

static int64_t alloc_100_kb(void* unused) {
  (void)unused;
  take_and_give_back(100000);
  return 0;
}

static int64_t alloc_2_mib(void* unused) {
  (void)unused;
  take_and_give_back((size_t)2 << 20);
  return 0;
}

static int64_t touch_256_mib(void* unused) {
  (void)unused;
  const size_t bytes = (size_t)256 << 20;
  while (janus_yield_check(1) == 0) {
    char* block = (char*)janus_alloc(bytes);
    for (size_t i = 0; block != NULL && i < bytes && janus_yield_check(1) == 0; i += 4096) block[i] = 1;
    janus_free(block);
  }
  return 0;
}

static int64_t resize(void* unused) {
  (void)unused;
  void* block = NULL;
  for (unsigned i = 0; janus_yield_check(1) == 0; ++i) {
    void* other = janus_realloc(block, (size_t)(i % 2 ? 8 : 1) << 20);
    if (other != NULL) block = other;
  }
  janus_free(block);
  return 0;
}

static int64_t draw_random_bytes(void* unused) {
  (void)unused;
  char* block = (char*)janus_alloc((size_t)1 << 20);
  while (block != NULL && janus_yield_check(1) == 0) janus_entropy(block, (size_t)1 << 20);
  janus_free(block);
  return 0;
}

static int64_t read_statistics(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) read_accounts();
  return 0;
}

static int64_t print(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) janus_print(2, "%d %s\n", 4711, "the same again");
  return 0;
}

static int64_t leave_nurseries_open(void* arg) {
  for (int i = 0; i < 20000 && janus_yield_check(1) == 0; ++i) janus_nursery_open(NULL, NULL);
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  if (!is_stopped()) janus_nursery_spawn_in(cage, leave_nurseries_open, arg, &detached);
  return 0;
}

static int64_t fork_bomb(void* arg) {
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  for (int i = 0; i < 2 && !is_stopped(); ++i) janus_nursery_spawn_in(cage, fork_bomb, arg, &detached);
  return 0;
}

static int64_t open_and_cancel(void* unused) {
  (void)unused;
  while (janus_yield_check(1) == 0) {
    janus_nursery* nursery = janus_nursery_open(NULL, NULL);
    if (nursery == NULL) continue;
    spawn(nursery, return_nothing, NULL);
    janus_nursery_cancel(nursery);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
  }
  return 0;
}

// Each cancel has to find a waiting task, and wake it from its wait.
static int64_t cancel_who_waits(void* unused) {
  (void)unused;
  janus_channel* channel = janus_channel_create(8, 0);
  for (int told = 0; channel != NULL && told == 0;) {
    janus_nursery* nursery = janus_nursery_open(NULL, NULL);
    if (nursery == NULL) break;
    spawn(nursery, wait_for_word, channel);
    told = janus_yield();
    janus_nursery_cancel(nursery);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
  }
  janus_channel_release(channel);
  return 0;
}

static int64_t open_and_leave(void* unused) {
  (void)unused;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  if (nursery == NULL) return 0;
  for (int i = 0; i < 4; ++i) spawn(nursery, sleep_for_1_ns, NULL);
  janus_sleep_ns(1);
  janus_nursery_cancel(nursery);
  return 0;
}

// Each leaves a nursery open in a shield.
static int64_t shield_again(void* unused) {
  while (!is_stopped()) janus_shield(open_and_leave, unused);
  return 0;
}

// Each revoke makes all others who carry tokens look again.
static int64_t derive_and_revoke(void* unused) {
  (void)unused;
  const janus_budget none = {0};
  while (janus_yield_check(1) == 0) {
    const janus_cap above = janus_cap_derive((janus_cap){0}, 63, none);
    janus_cap_derive(above, 63, none);
    janus_cap_revoke(above);
  }
  return 0;
}

static int64_t derive_for_nothing(void* unused) {
  (void)unused;
  const janus_budget limit = {.ops = 1};
  janus_cap cap = {0};
  while (janus_yield_check(1) == 0) cap = janus_cap_derive(cap, 63, limit);
  return 0;
}

static const struct attack {
  const char* name;
  janus_task_fn fn;
  int in_crowds;  // also with 100 and with 20,000 tasks
} attacks[] = {
    {"spinners", spin, 1},
    {"yielders", yield, 1},
    {"chains", chain, 1},
    {"talking pairs", talk_to_somebody, 1},
    {"panickers", let_others_panic, 1},
    {"channel floods", flood, 1},
    {"selects over 64 channels", select_among_meetings, 1},
    {"messages of 1 MiB", send_1_mib, 0},
    {"stack overflows", let_others_overflow, 0},
    {"blocks of 1 TiB", ask_for_too_much, 0},
    {"guessed handles", guess_handles, 0},
    {"sleepers for 1 ns", sleep_for_1_ns, 1},
    {"nurseries with deadlines", open_with_deadline, 1},
    {"system calls, none granted", call_the_system, 0},
    {"spinners in 1,000 cages of their own", spin_in_cages, 0},
    {"1,000 spinners with budgets of their own", spin_on_budgets, 0},
    {"blocks of 100 KB", alloc_100_kb, 1},
    {"blocks of 2 MiB", alloc_2_mib, 0},
    {"256 MiB, touched and freed", touch_256_mib, 0},
    {"blocks resized, 1 and 8 MiB", resize, 0},
    {"random bytes, 1 MiB at a time", draw_random_bytes, 0},
    {"readers of statistics", read_statistics, 0},
    {"printers", print, 0},
    {"20,000 nurseries left open", leave_nurseries_open, 0},
    {"fork bombs", fork_bomb, 0},
    {"openers and cancellers", open_and_cancel, 1},
    {"cancellers of waiting tasks", cancel_who_waits, 1},
    {"shields in a row", shield_again, 0},
    {"tokens derived and revoked", derive_and_revoke, 1},
    {"tokens derived until nothing is left", derive_for_nothing, 0},
    {"close on 10,000 waiters", close_on_thousands, 0},
    {"cancel of 10,000 waiters", cancel_thousands, 0},
};

#endif
