// SPDX-License-Identifier: Apache-2.0
// Options, names and formats in memory that another task rewrites all the time: the runtime uses the values that it has
// checked. The two tasks interfere only with two workers or more.
#include "calls.h"

static int stop;
static janus_spawn_options spawn_options;
static janus_nursery_options nursery_options;
static char text[8192];

static int64_t rewrite(void* unused) {
  (void)unused;
  for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i) {
    const char* names[] = {NULL, "good", (const char*)UNMAPPED, text, (const char*)UINTPTR_MAX};
    *(const char* volatile*)&spawn_options.name = names[i % 5];
    *(const char* volatile*)&nursery_options.name = names[i / 3 % 5];
    *(volatile size_t*)&spawn_options.stack_size = i % 7 ? 8192 : SIZE_MAX;
    *(volatile uint64_t*)&spawn_options.flags = i % 3 ? JANUS_SPAWN_DETACHED : UINT64_MAX;
    *(volatile uint32_t*)&spawn_options.priority = i % 11 ? 0 : 99;
    *(volatile uint32_t*)&nursery_options.on_error = i % 5 ? 1 : 7;
    *(volatile size_t*)&nursery_options.budget.memory = i % 2 ? 1 << 20 : SIZE_MAX;
    *(volatile uint32_t*)&nursery_options.budget.ops = i % 4 ? 1000 : 0;
    // Sets and removes the text's terminator.
    *(volatile char*)&text[i * 257 % 5000] = i % 2 ? 'x' : 0;
    if (i % 64 == 0 && janus_yield_check(64) < 0) break;
  }
  return 0;
}

static int64_t use(void* unused) {
  (void)unused;
  for (int i = 0; i < 300; ++i) {
    janus_nursery* nursery = janus_nursery_open(NULL, &nursery_options);
    for (int k = 0; k < 5 && nursery; ++k) janus_nursery_spawn_in(nursery, return_nothing, NULL, &spawn_options);
    janus_nursery_cancel(nursery);
    janus_nursery_await(nursery, NULL);
    janus_nursery_destroy(nursery);
    janus_print(null_file, "%s|%.4000s|%5000s", text, text, text);
    janus_task_set_name(text);
    if (janus_yield_check(10) < 0) break;
  }
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int round = 0; round < 100; ++round) {
    const long status = run_in_cage(roomy(), use, NULL);
    CHECK_THAT(status, status == 0 || status == JANUS_PANIC || status == JANUS_BUDGET_EXCEEDED);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  return 0;
}

int main(void) {
  open_null_file();
  memset(text, 'x', sizeof text - 1);
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  janus_syscall(SYS_dup2, null_file, 2);
  janus_nursery* house = open_plain();
  spawn_roomy(house, rewrite, NULL);
  CHECK_EQ(beside_a_neighbour(500, attack, NULL), 0);
  CHECK_EQ(close_cage(house), 0);
  CHECK_EQ(read_accounts().stats.tasks_live, 1);
  CHECK_EQ(read_accounts().stats.nurseries_live, 0);
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
