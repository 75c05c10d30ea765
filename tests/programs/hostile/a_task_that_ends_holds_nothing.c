// SPDX-License-Identifier: Apache-2.0
// A task takes locks by address, as for streams of the C library and function-local statics, and ends while it holds
// them: by returning, by a panic, or in the destructors of its task-local values. The next task gets them; nothing is
// lost. And no forged address locks a descriptor.
#include "hostile.h"

int janus_hold_try(const void* object);
int __cxa_guard_acquire(uint8_t* guard);

static int object, other, last;
static uint8_t guard;
static janus_local_key key;

static void hold_at_the_end(void* unused) {
  (void)unused;
  CHECK_EQ(janus_hold_try(&last), 1);
}

static int64_t hold(void* how) {
  if (!CHECK_EQ(janus_hold_try(&object), 1) || !CHECK_EQ(__cxa_guard_acquire(&guard), 1)) return -5;
  CHECK_EQ(janus_hold_try(&other), 1);
  CHECK_EQ(janus_hold_try(&object), 0);
  CHECK_EQ(janus_local_set(key, &last), 0);
  if (how != NULL) janus_task_panic("with all of them");
  return 0;
}

// Takes locks at addresses that a simple rule might map to the keys of descriptors 0 to 7.
static int64_t hold_descriptors(void* unused) {
  (void)unused;
  for (uintptr_t fd = 0; fd < 32; ++fd) (void)janus_hold_try((void*)fd);
  for (int i = 0; i < 200; ++i) janus_yield();
  return 0;
}

static int64_t write_a_line(void* unused) {
  (void)unused;
  return janus_write(1, "a neighbour's line\n", 19);
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int i = 0; i < 10000; ++i) {
    if (run_in_cage(roomy(), hold, NULL) != 0) return -5;
    if (i % 100 == 0) CHECK_EQ(run_in_cage(roomy(), hold, &object), JANUS_PANIC);
  }
  return 0;
}

int main(void) {
  CHECK_EQ(janus_local_new(&key, hold_at_the_end), 0);
  CHECK_EQ(attack(NULL), 0);
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  CHECK_NOTHING_LOST(before, 10000);
  janus_nursery* cage = open_cage(roomy());
  janus_nursery* street = open_plain();
  spawn_roomy(cage, hold_descriptors, NULL);
  for (int i = 0; i < 20; ++i) janus_yield();
  for (int i = 0; i < 3; ++i) spawn_roomy(street, write_a_line, NULL);
  CHECK_EQ(close_cage(street), 0);
  CHECK_EQ(close_cage(cage), 0);
  CHECK_EQ(write_a_line(NULL), 0);
  return end();
}
