// SPDX-License-Identifier: Apache-2.0
// A task that could make a runtime would have budgets, workers and memory of its own: creating, running, ending and
// destroying one is for threads outside tasks.
#include <janus/llvm.h>

#include "hostile.h"

static int ran;

static int64_t run_free(void* unused) {
  (void)unused;
  __atomic_store_n(&ran, 1, __ATOMIC_RELAXED);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  janus_rt_config config;
  memset(&config, 0, sizeof config);
  config.worker_count = 64;
  config.flags = JANUS_RT_NO_SIGNALS;
  for (int i = 0; i < 10; ++i) {
    janus_rt* rt = janus_rt_create(&config);
    CHECK(rt == NULL);
    CHECK_EQ(janus_last_error(), JANUS_E_STATE);
    if (rt != NULL) return 1;
    void* scheduler = janus_scheduler_create(config);
    CHECK(scheduler == NULL);
    if (scheduler != NULL) return 1;
    CHECK_EQ(janus_rt_run(janus_rt_get(), run_free, NULL), JANUS_E_STATE);
    CHECK_EQ(janus_rt_try_init(&config), JANUS_E_STATE);
    janus_rt_init(config);
    janus_rt_destroy(janus_rt_get());
    janus_scheduler_shutdown(janus_rt_get());
    janus_rt_shutdown();
  }
  return 0;
}

// The entry of a program.
void janus_boot(int argc, char** argv, char** envp);

static int64_t begin_anew(void* unused) {
  (void)unused;
  char* nothing[] = {NULL};
  janus_boot(0, nothing, nothing);
  return 0;
}

static int64_t attack_in_a_cage(void* unused) {
  (void)unused;
  return run_in_cage(roomy(), attack, NULL);
}

int main(void) {
  const uint64_t workers = read_accounts().stats.workers;
  CHECK_EQ(beside_a_neighbour(300, attack_in_a_cage, NULL), 0);
  CHECK_EQ(run_in_cage(roomy(), begin_anew, NULL), JANUS_PANIC);
  CHECK_EQ(attack(NULL), 0);
  CHECK_EQ(ran, 0);
  CHECK_EQ(read_accounts().stats.workers, workers);
  return end();
}
