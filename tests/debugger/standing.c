// SPDX-License-Identifier: Apache-2.0
// standing [alone-]HOW: a program for a debugger to look at, with tasks in every state that a task can be in, or
// (alone-) with main alone. HOW: "run" calls here() when all tasks are in place, and ends with 0; "panic" makes main
// panic; "null" makes main write through a null pointer, and "task" makes another task do so. Or "young", which calls
// here() while three tasks have not started, with one worker.
#include <janus/rt.h>
#include <string.h>

static struct {
  janus_channel *empty, *full;
  janus_task waiting[5];  // the tasks that are about to wait
  int begun, standing, spinning;
} all;

static void stand(const char* name) {
  janus_task_set_name(name);
  all.waiting[__atomic_fetch_add(&all.begun, 1, __ATOMIC_RELAXED)] = janus_task_self();
  __atomic_fetch_add(&all.standing, 1, __ATOMIC_RELEASE);
}

static int do_all_wait(void) {
  int count = 0;
  for (int i = 0; i < 5; ++i) count += janus_task_state(all.waiting[i]) == JANUS_TASK_BLOCKED;
  return count == 5;
}

__attribute__((noinline)) static int receive_for_ever(janus_channel* channel) {
  char nothing;
  const int status = janus_channel_recv(channel, &nothing);
  __asm__ volatile("");  // keeps the call above from becoming a tail call, so this function has a frame
  return status;
}

static int64_t sit(void* channel) {
  stand("sitter");
  return receive_for_ever(channel) == JANUS_E_CLOSED ? 0 : -1;
}

static int64_t send_too_much(void* channel) {
  stand("sender");
  while (janus_channel_send(channel, "x") == 0) {
  }
  return 0;
}

static int64_t rest(void* arg) {
  (void)arg;
  stand("rester");
  (void)janus_park(-1);
  return 0;
}

static int64_t wait_for(void* task) {
  stand("joiner");
  int64_t result;
  (void)janus_task_join(*(janus_task*)task, &result);
  return 0;
}

static int64_t lead(void* arg) {
  (void)arg;
  janus_task_set_name("leader");
  janus_nursery* nursery = janus_nursery_open(NULL, &(janus_nursery_options){.name = "cellar"});
  (void)janus_nursery_spawn_in(nursery, sit, all.empty, NULL);
  const long result = janus_nursery_await(nursery, NULL);
  (void)janus_nursery_destroy(nursery);
  return result < 0 ? result : 0;
}

__attribute__((noinline)) static void turn_round(void) {
  while (__atomic_load_n(&all.spinning, __ATOMIC_RELAXED)) {
  }
}

static int64_t spin(void* arg) {
  (void)arg;
  janus_task_set_name("spinner");
  __atomic_store_n(&all.spinning, 2, __ATOMIC_RELAXED);
  turn_round();
  return 0;
}

__attribute__((noinline)) static void spoil(volatile int* nowhere) {
  *nowhere = 1;
  __asm__ volatile("");
}

static int64_t fail(void* nowhere) {
  spoil(nowhere);
  return 0;
}

// Ends main as `how` says.
static void end(const char* how) {
  volatile int* volatile nowhere = NULL;
  if (strcmp(how, "panic") == 0) janus_task_panic("main has seen enough");
  if (strcmp(how, "null") == 0) *nowhere = 1;
  if (strcmp(how, "task") != 0) return;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  (void)janus_nursery_spawn_in(nursery, fail, NULL, NULL);
  (void)janus_nursery_await(nursery, NULL);
  (void)janus_nursery_destroy(nursery);
}

__attribute__((noinline, used)) void here(void) {
  __asm__ volatile("");
}

static int64_t begin(void* arg) {
  (void)arg;
  return 0;
}

static int show_young(void) {
  janus_nursery* hall = janus_nursery_open(NULL, &(janus_nursery_options){.name = "hall"});
  for (int i = 0; i < 3; ++i) (void)janus_nursery_spawn_in(hall, begin, NULL, NULL);
  here();
  (void)janus_nursery_await(hall, NULL);
  return janus_nursery_destroy(hall);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "run";
  if (strcmp(how, "young") == 0) return show_young();
  if (strncmp(how, "alone-", 6) == 0) {
    end(how + 6);
    return 0;
  }
  all.spinning = 1;
  all.empty = janus_channel_create(4, 0);
  all.full = janus_channel_create(1, 3);
  janus_nursery_options options = {.name = "hall"};
  janus_nursery* hall = janus_nursery_open(NULL, &options);
  janus_budget budget = {.ops = 12345678, .memory = 1 << 20, .spawn_count = 77, .channel_ops = 5000};
  options = (janus_nursery_options){.name = "cage", .budget = budget};
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  janus_task sitter = janus_nursery_spawn_in(hall, sit, all.empty, NULL);
  (void)janus_nursery_spawn_in(hall, lead, NULL, NULL);
  (void)janus_nursery_spawn_in(hall, wait_for, &sitter, NULL);
  janus_task rester = janus_nursery_spawn_in(hall, rest, NULL, NULL);
  (void)janus_nursery_spawn_in(cage, send_too_much, all.full, NULL);
  (void)janus_nursery_spawn_in(hall, spin, NULL, NULL);
  while (__atomic_load_n(&all.standing, __ATOMIC_ACQUIRE) < 5 || __atomic_load_n(&all.spinning, __ATOMIC_RELAXED) < 2 ||
         !do_all_wait())
    janus_sleep_ns(1000000);
  end(how);
  here();
  __atomic_store_n(&all.spinning, 0, __ATOMIC_RELAXED);
  (void)janus_channel_close(all.empty);
  (void)janus_channel_close(all.full);
  (void)janus_unpark(rester);
  (void)janus_nursery_await(hall, NULL);
  (void)janus_nursery_await(cage, NULL);
  return 0;
}
