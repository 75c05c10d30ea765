// SPDX-License-Identifier: Apache-2.0
// A cage holds 150,000 locks, at forged addresses with the hash of descriptor 1. Neither the cage nor a neighbour that
// writes there has to search them. A task holds at most 64 locks.
#include "hostile.h"

int janus_hold_try(const void* object);
void janus_hold_end(const void* object);

enum { kTasks = 2500, kEach = 60, kMax = 64 };
static janus_channel* until_the_end;
static long held;  // atomic

// A bucket's number is the high bits of a key times 0x9e3779b97f4a7c15. Returns the key with that `product`; half of it
// is the address if keys are addresses times two.
static uintptr_t factor_of(uint64_t product) {
  return product * 0xf1de83e19937733du;
}

static int64_t hoard(void* number) {
  const uint64_t of_descriptor_1 = (3 * 0x9e3779b97f4a7c15u) >> 58 << 58;
  for (unsigned i = 0; i < kEach; ++i) {
    const uintptr_t address = factor_of(of_descriptor_1 + 2 * ((uintptr_t)number * kEach + i + 1));
    if (janus_hold_try((void*)(i % 2 == 0 ? address : address / 2)) != 1) return -5;
    __atomic_fetch_add(&held, 1, __ATOMIC_RELAXED);
  }
  char never;
  return janus_channel_recv(until_the_end, &never) == JANUS_E_CLOSED ? 0 : -6;
}

static int64_t write_lines(void* unused) {
  (void)unused;
  for (int i = 0; i < 1000; ++i) CHECK_EQ(janus_write(1, "\n", 1), 0);
  return 0;
}

static int64_t hold_some(void* count) {
  static char objects[kMax + 1];
  for (intptr_t i = 0; i < (intptr_t)count; ++i)
    if (!CHECK_EQ(janus_hold_try(&objects[i]), 1)) return -5;
  if ((intptr_t)count < kMax) return 0;
  janus_hold_end(&objects[7]);
  return janus_hold_try(&objects[7]) == 1 ? 0 : -6;
}

static int64_t attack(void* unused) {
  (void)unused;
  for (int round = 0; round < 20; ++round) {
    CHECK_EQ(run_in_cage(roomy(), hold_some, (void*)(intptr_t)kMax), 0);
    CHECK_EQ(run_in_cage(roomy(), hold_some, (void*)(intptr_t)(kMax + 1)), JANUS_PANIC);
  }
  until_the_end = janus_channel_create(1, 0);
  held = 0;
  janus_budget budget = roomy();
  budget.memory = (size_t)256 << 20;
  janus_nursery* cage = open_cage(budget);
  janus_spawn_options options;
  memset(&options, 0, sizeof options);
  options.stack_size = 8 << 10;
  for (uintptr_t i = 0; i < kTasks; ++i) CHECK(janus_nursery_spawn_in(cage, hoard, (void*)i, &options).raw != 0);
  while (__atomic_load_n(&held, __ATOMIC_RELAXED) < (long)kTasks * kEach && janus_yield() == 0) {
  }
  write_lines(NULL);
  janus_channel_close(until_the_end);
  CHECK_EQ(close_cage(cage), 0);
  janus_channel_release(until_the_end);
  return 0;
}

int main(void) {
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);  // pools fill
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(300, attack, NULL), 0);
  CHECK_NOTHING_LOST(before, 1000);
  return end();
}
