// SPDX-License-Identifier: Apache-2.0
// guards N: prints whether the kernel has MADV_GUARD_INSTALL; blocks N tasks at once, each above a guard page; then one
// task overflows its stack, which the others must not notice.
#include <janus/rt.h>
#include <stdlib.h>
#include <sys/syscall.h>

enum { kAdviseGuardInstall = 102 };

static volatile int yes = 1;
static _Alignas(4096) char page[4096];
static int blocked;

static int64_t wait_at(void* gate) {
  char nothing;
  __atomic_fetch_add(&blocked, 1, __ATOMIC_RELAXED);
  return janus_channel_recv(gate, &nothing) == JANUS_E_CLOSED ? 0 : -1;
}

static int64_t recurse(void* arg) {
  volatile char frame[512];
  frame[0] = 1;
  return yes ? recurse(arg) + frame[0] : 0;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1000;
  janus_print(1, "installing a guard: %lld\n",
              (long long)janus_syscall(SYS_madvise, page, sizeof page, kAdviseGuardInstall));
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  janus_channel* gate = janus_channel_create(1, 0);
  for (int i = 0; i < count; ++i) janus_nursery_spawn_in(nursery, wait_at, gate, NULL);
  while (__atomic_load_n(&blocked, __ATOMIC_RELAXED) < count) janus_yield();
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  janus_print(1, "%d blocked, %s guarded, %llu by canaries\n", count,
              stats.guard_pages >= (uint64_t)count ? "all" : "not all", (unsigned long long)stats.stacks_canaried);
  janus_nursery_spawn_in(nursery, recurse, NULL, NULL);
  janus_channel_close(gate);
  janus_result result;
  janus_nursery_await(nursery, &result);
  janus_print(1, "%u of them failed\n", result.errors);
  return 0;
}
