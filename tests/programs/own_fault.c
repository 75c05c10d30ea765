// SPDX-License-Identifier: Apache-2.0
// own_fault HOW: faults in the runtime's own code, or in code that the runtime calls. own_fault_test.py checks what can
// be seen of each. Also compiled as a host program with a libc.
#include <janus/rt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t nothing(void* arg) {
  (void)arg;
  return 0;
}

// A stray write that no guard page stops. The queue entry of a task that waits at a channel is on the task's own stack;
// its two words lead to the queue's head, which leads back. The head is damaged, and the next call follows it while it
// holds the channel's lock.
static uintptr_t* volatile waits_below;
static janus_task waiter;

static int is_mapped(uintptr_t address) {
  unsigned char is_in_core;
  const long mincore = 27;
  return janus_syscall(mincore, address & ~(uintptr_t)4095, (long)1, &is_in_core) == 0;
}

static int64_t wait_to_be_found(void* channel) {
  uintptr_t words[4] = {0};
  waits_below = words;
  return janus_channel_recv((janus_channel*)channel, words);
}

static int64_t send_to_ruins(void* channel) {
  while (waits_below == NULL || janus_task_state(waiter) != JANUS_TASK_BLOCKED) janus_yield();
  for (uintptr_t* word = waits_below; word > waits_below - 640; word--) {
    if (word[0] != word[1] || word[0] % 16 != 0 || !is_mapped(word[0])) continue;
    uintptr_t* head = (uintptr_t*)word[0];
    if (head[0] != (uintptr_t)word || head[1] != (uintptr_t)word) continue;
    head[0] = head[1] = 0x1238;
    long value = 0;
    return janus_channel_send((janus_channel*)channel, &value);
  }
  return -5;
}

static int64_t receive_from_ruins(void* channel) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  waiter = janus_nursery_spawn_in(nursery, wait_to_be_found, channel, NULL);
  (void)janus_nursery_spawn_in(nursery, send_to_ruins, channel, NULL);
  return janus_nursery_await(nursery, NULL);
}

static int64_t copy_from_nowhere(void* arg) {
  static char buffer[4096];
  void* (*volatile copy)(void*, const void*, size_t) = memcpy;  // in the project's programs: the runtime's memcpy
  copy(buffer, arg, sizeof buffer);
  return 0;
}

static void destroy(void* value) {
  *(volatile int*)value = 1;
}
static int64_t leave_a_local(void* arg) {
  (void)arg;
  janus_local_key key;
  if (janus_local_new(&key, destroy) != 0) return -5;
  return janus_local_set(key, (void*)0x20);
}

// A compiler's error: rsp is off by 8 at a call.
static int64_t misalign(void* arg) {
  static const janus_nursery_options options = {.name = "misaligned"};
  static long value;
  const int which = *(int*)arg;
  void* const functions[] = {(void*)janus_yield,       (void*)janus_nursery_create, (void*)janus_nursery_open,
                             (void*)janus_alloc,       (void*)janus_channel_create, (void*)janus_task_set_name,
                             (void*)janus_task_panic,  (void*)janus_print,          (void*)janus_rt_stats,
                             (void*)janus_local_new,   (void*)janus_entropy,        (void*)janus_task_self,
                             (void*)janus_channel_send};
  const void* arguments[][2] = {{0, 0},
                                {0, 0},
                                {0, &options},
                                {(void*)64, 0},
                                {(void*)8, (void*)2},
                                {"name", 0},
                                {"enough", 0},
                                {(void*)2, "misaligned\n"},
                                {0, &value},
                                {&value, 0},
                                {&value, (void*)8},
                                {0, 0},
                                {0, &value}};
  if (which >= (int)(sizeof functions / sizeof *functions)) return -9;
  const void* first = arguments[which][0];
  const void* second = arguments[which][1];
  void* function = functions[which];
  __asm__ volatile(
      "mov %%rsp, %%rbx\n\t"
      "and $-16, %%rsp\n\t"
      "sub $8, %%rsp\n\t"
      "xor %%eax, %%eax\n\t"
      "call *%2\n\t"
      "mov %%rbx, %%rsp"
      : "+D"(first), "+S"(second), "+r"(function)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
        "xmm7", "cc", "memory");
  return 0;
}

// Functions at addresses that are not canonical: the call itself faults.
static int64_t call_what_is_none(void* arg) {
  (void)arg;
  janus_local_key key;
  void (*const destructor)(void*) = (void (*)(void*))(uintptr_t)0x8000000000000000u;
  if (janus_local_new(&key, destructor) != JANUS_E_INVALID) return -5;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  (void)janus_nursery_spawn_in(nursery, (janus_task_fn)(uintptr_t)0x8000000000000000u, NULL, NULL);
  return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? (janus_task_panic("as it should"), 0) : -6;
}

static int as_a_child(janus_task_fn fn, void* arg) {
  janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  for (int i = 0; i < 8; i++) (void)janus_nursery_spawn_in(nursery, nothing, NULL, NULL);
  (void)janus_nursery_spawn_in(nursery, fn, arg, NULL);
  return janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 7 : 8;
}

static int64_t run(void* arg) {
  char** argv = arg;
  const char* how = argv[1];
  if (!strcmp(how, "ruins")) return as_a_child(receive_from_ruins, janus_channel_create(sizeof(long), 0));
  if (!strcmp(how, "copy")) return as_a_child(copy_from_nowhere, (void*)0x1230);
  if (!strcmp(how, "destroy")) return as_a_child(leave_a_local, NULL);
  if (!strcmp(how, "none")) return as_a_child(call_what_is_none, NULL);
  int which = atoi(argv[2]);
  return as_a_child(misalign, &which);
}

#ifdef JANUS_IN_A_HOST
int main(int argc, char** argv) {
  janus_rt_config config = {.worker_count = 2};
  janus_rt* rt = janus_rt_create(&config);
  return argc > 1 && rt != NULL ? (int)janus_rt_run(rt, run, argv) : 1;
}
#else
int main(int argc, char** argv) {
  return argc > 1 ? (int)run(argv) : 1;
}
#endif
