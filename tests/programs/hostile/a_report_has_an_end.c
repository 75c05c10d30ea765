// SPDX-License-Identifier: Apache-2.0
// Bare: no, it reads its own stderr through a pipe
// A task panics with a chain of frames that is circular, leaves its stack, or is invalid; with a reason of a megabyte;
// deep in nurseries; in the destructor of a task-local value. Each report has a few lines, and the process goes on.
#include "calls.h"

static char* reason;

static __attribute__((noinline)) void lead_nowhere(uintptr_t frame) {
  uintptr_t* volatile mine = (uintptr_t*)__builtin_frame_address(0);
  const uintptr_t before = mine[0];
  mine[0] = frame ? frame : (uintptr_t)mine;  // the saved frame pointer: 0 requests a circle
  if (before == 1) return;
  *(volatile int*)UNMAPPED = 1;
}

static int64_t fault_with_frame(void* frame) {
  lead_nowhere((uintptr_t)frame);
  return 0;
}

static int64_t panic_at_length(void* unused) {
  (void)unused;
  janus_task_panic(reason);
}

static int64_t go_deeper(void* depth) {
  if (depth == NULL) janus_task_panic("at the bottom");
  janus_nursery* nursery = open_plain();
  if (spawn(nursery, go_deeper, (void*)((uintptr_t)depth - 1)).raw == 0) return 0;
  const long status = janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return status == JANUS_PANIC || status == 0 ? 0 : -5;
}

static void panic_in_a_destructor(void* unused) {
  (void)unused;
  janus_task_panic("in a destructor");
}

static void fault_in_a_destructor(void* unused) {
  (void)unused;
  *(volatile int*)UNMAPPED = 1;
}

static janus_local_key keys[3];

// A destructor that sets its value again each time.
static void set_again(void* value) {
  janus_local_set(keys[2], value);
  janus_nursery_create();
}

static int64_t leave_a_value(void* key) {
  janus_local_set(keys[(uintptr_t)key], &reason);
  return 0;
}

static int64_t attack(void* unused) {
  (void)unused;
  void* const frames[] = {0, (void*)8, UNMAPPED, (void*)(uintptr_t)0x8000000000000000u, (void*)UINTPTR_MAX, &reason};
  for (unsigned i = 0; i < sizeof frames / sizeof *frames; ++i)
    CHECK_EQ(run_in_cage(roomy(), fault_with_frame, frames[i]), JANUS_PANIC);
  CHECK_EQ(run_in_cage(roomy(), panic_at_length, NULL), JANUS_PANIC);
  CHECK_EQ(run_in_cage(roomy(), go_deeper, (void*)300), 0);
  CHECK_EQ(run_in_cage(roomy(), leave_a_value, (void*)0), JANUS_PANIC);
  CHECK_EQ(run_in_cage(roomy(), leave_a_value, (void*)1), JANUS_PANIC);
  const long status = run_in_cage(roomy(), leave_a_value, (void*)2);
  CHECK_THAT(status, status == 0 || status == JANUS_PANIC);
  return 0;
}

int main(void) {
  open_null_file();
  reason = (char*)janus_alloc(1 << 20);
  memset(reason, 'x', (1 << 20) - 1);
  reason[(1 << 20) - 1] = 0;
  void (*const destructors[])(void*) = {panic_in_a_destructor, fault_in_a_destructor, set_again};
  for (int i = 0; i < 3; ++i) CHECK_EQ(janus_local_new(&keys[i], destructors[i]), 0);
  int ends[2];
  static char said[1 << 16];
  CHECK_EQ(janus_syscall(SYS_pipe2, ends, 0), 0);
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  CHECK_EQ(janus_syscall(SYS_dup2, ends[1], 2), 2);
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  janus_syscall(SYS_dup2, stderr_before, 2);
  janus_syscall(SYS_close, ends[1]);
  long length = 0;
  for (int64_t read; length < (long)sizeof said &&
                     (read = janus_syscall(SYS_read, ends[0], said + length, sizeof said - length)) > 0;)
    length += read;
  CHECK_THAT(length, length < 24000);
  return end();
}
