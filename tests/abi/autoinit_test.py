#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# autoinit_test.py ROOT COMPILER — a host program and its environment: whether the runtime starts by itself
# (-Dautoinit), and which settings it takes. Speaks TAP.
import os
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / 'tests/programs'))
from installed import Tap, work_directory  # noqa: E402

HOST = r'''
#include <janus/rt.h>
#include <janus/llvm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int64_t answer(void* value) { return *(int*)value == 7 ? 0 : -5; }
static int32_t answer32(void* value) { return *(int*)value == 7 ? 0 : -6; }
static int64_t noarg(void) { return 0; }
static int64_t yields(void* arg) { (void)arg; return janus_scheduler_yield(); }
/* A thread of the host: two nurseries of its own, and one more open until all have theirs. */
typedef struct { int64_t inner, outer; void* nursery; int error; long inner_gave, outer_gave, none; } mine;
static pthread_barrier_t all_have, all_looked;
static int64_t value_of(void* value) { return *(int64_t*)value; }
static void* be_a_thread(void* arg) {
  mine* own = arg;
  own->nursery = janus_nursery_create();
  own->error = janus_last_error();
  pthread_barrier_wait(&all_have);
  if (own->nursery) {
    janus_nursery_spawn(value_of, &own->outer);
    janus_nursery_create();
    janus_nursery_spawn(value_of, &own->inner);
  }
  pthread_barrier_wait(&all_looked);
  own->inner_gave = janus_nursery_await_all();
  own->outer_gave = janus_nursery_await_all();
  own->none = janus_nursery_await_all();
  return NULL;
}
static void be_threads(int count) {
  pthread_t threads[100];
  mine all[100];
  memset(all, 0, sizeof all);
  pthread_barrier_init(&all_have, NULL, count);
  pthread_barrier_init(&all_looked, NULL, count);
  for (int i = 0; i < count; ++i) {
    all[i].inner = -100 - i;
    all[i].outer = -300 - i;
    pthread_create(&threads[i], NULL, be_a_thread, &all[i]);
  }
  int own = 0, refused = 0;
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    mine* it = &all[i];
    own += it->nursery && it->inner_gave == it->inner && it->outer_gave == it->outer && it->none == JANUS_E_STATE;
    refused += !it->nursery && it->error == JANUS_E_NO_MEMORY && it->inner_gave == JANUS_E_STATE;
  }
  printf("%d of their own, %d refused\n", own, refused);
}
static janus_stats stats(void) {
  janus_stats s; memset(&s, 0, sizeof s); s.size = sizeof s;
  janus_rt_stats(NULL, &s);
  return s;
}
int main(int argc, char** argv) {
  int seven = 7;
  const char* how = argv[1];
  if (argc > 2) { printf("%d\n", janus_rt_try_init(NULL)); }
  if (!strcmp(how, "create")) {
    void* nursery = janus_nursery_create();
    if (!nursery) { printf("none %d\n", janus_last_error()); return 0; }
    janus_nursery_spawn(answer, &seven);
    printf("%ld %d\n", janus_nursery_await_all(), janus_rt_get() != NULL);
  } else if (!strcmp(how, "init")) {
    janus_rt_config config; memset(&config, 0, sizeof config);
    config.worker_count = 2;
    printf("%d ", janus_rt_get() == NULL);
    janus_rt_init(config);
    printf("%d ", janus_rt_get() != NULL);
    printf("%d %lu ", janus_rt_try_init(&config), (unsigned long)stats().workers);
    janus_rt_shutdown();
    printf("%d ", janus_rt_get() == NULL);
    printf("%d ", janus_rt_try_init(&config));
    janus_nursery_create();
    janus_task32 call = {answer32, &seven};
    janus_nursery_spawn(janus_run_task32, &call);
    janus_nursery_spawn(janus_run_noarg, janus_noarg_arg(noarg));
    printf("%d %d ", janus_scheduler_spawn((void*)answer, &seven), janus_scheduler_spawn((void*)yields, NULL));
    printf("%ld ", janus_nursery_await_all());
    void* scheduler = janus_scheduler_create(config);
    printf("%ld ", janus_rt_run(scheduler, answer, &seven));
    janus_scheduler_shutdown(scheduler);
    config.profile = JANUS_PROFILE_SOVEREIGN + 1;
    printf("%d ", janus_rt_create(&config) == NULL);
    printf("%d ", janus_last_error());
    config.profile = JANUS_PROFILE_CLUSTER;
    janus_rt* cluster = janus_rt_create(&config);
    janus_stats s; memset(&s, 0, sizeof s); s.size = sizeof s;
    janus_rt_stats(cluster, &s);
    printf("%lu\n", (unsigned long)s.yield_interval);
    janus_rt_destroy(cluster);
  } else if (!strcmp(how, "threads")) {
    be_threads(atoi(argv[3]));
  } else if (!strcmp(how, "workers")) {
    printf("%lu\n", (unsigned long)stats().workers);
  }
  janus_rt_shutdown();
  return 0;
}
'''
tap = Tap()
work = work_directory()
(work / 'host.c').write_text(HOST)
env = {**os.environ, 'CC': sys.argv[2], 'CXX': sys.argv[2].replace('gcc', 'g++').replace('clang', 'clang++')}
for name in [name for name in env if name.startswith('JANUS_')]:
    del env[name]
for autoinit in ('true', 'false'):
    build, host = work / f'build-{autoinit}', work / f'host-{autoinit}'
    subprocess.run(['meson', 'setup', build, root, '-Dtests=false', f'-Dautoinit={autoinit}'], env=env, check=True,
                   stdout=subprocess.DEVNULL, timeout=300)
    subprocess.run(['ninja', '-C', build, 'rt/libjanus_rt.a'], check=True, stdout=subprocess.DEVNULL, timeout=900)
    done = subprocess.run(['gcc', '-Wall', '-Wextra', '-I', root / 'rt/include', work / 'host.c', build / 'rt/libjanus_rt.a',
                           '-o', host], capture_output=True, text=True, timeout=60)
    if not tap.check(f'a host compiles against -Dautoinit={autoinit}', done.returncode == 0, done.stderr):
        continue

    def says(claim, wanted, *how, status=0, stderr='', **settings):
        done = subprocess.run([host, *how], capture_output=True, text=True, timeout=60,
                              env={**env, **{k: str(v) for k, v in settings.items()}})
        tap.check(f'{claim} (autoinit {autoinit})', (done.returncode, done.stdout) == (status, wanted) and stderr in done.stderr,
                  f'status {done.returncode}\n{done.stdout}{done.stderr}')

    if autoinit == 'true':
        says('a nursery starts the runtime', '0 1\n', 'create')
    else:
        says('a nursery starts no runtime', 'none -4106\n', 'create')
    says('it may be started, stopped and started again, by each of its names', '1 1 -4106 2 1 0 0 0 0 0 1 -4105 512\n', 'init')
    says('each thread outside tasks has a current nursery of its own', '0\n64 of their own, 0 refused\n', 'threads', 'start', '64')
    says('the 65th thread with a current nursery gets none', '0\n64 of their own, 1 refused\n', 'threads', 'start', '65')
    says('the environment sets what the host leaves open', '0\n3\n', 'workers', 'start', JANUS_WORKERS=3)
    says('what the host has set wins over it', '1 1 -4106 2 1 0 0 0 0 0 1 -4105 512\n', 'init', JANUS_WORKERS=3)
    says('a senseless value refuses the start and is named', '-4105\n0\n', 'workers', 'start', JANUS_WORKERS='many',
         stderr='janus: JANUS_WORKERS=many: not a number from 1 to 1024\n')
    says('a name that is nearly that of a setting is named', '0\n3\n', 'workers', 'start', JANUS_WORKERS=3, JANUS_MEMOR=1,
         stderr='janus: JANUS_MEMOR is no setting; did you mean JANUS_MEMORY?\n')
tap.end()
