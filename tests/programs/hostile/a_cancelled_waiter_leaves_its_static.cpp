// SPDX-License-Identifier: Apache-2.0
// Tasks wait for a static that another task initialises. They are cancelled and their stacks are reused, and still the
// initialising task, which did nothing wrong, ends normally.
#include "hostile.h"

namespace {

constexpr int kRounds = 20, kWaiters = 50;
int go_on[kRounds];

template <int kRound>
int initialise() {
  while (!__atomic_load_n(&go_on[kRound], __ATOMIC_ACQUIRE)) janus_yield();
  return kRound;
}

template <int kRound>
int64_t use(void*) {
  static const int once = initialise<kRound>();
  return once;
}

// Fills its stack with values that would be links of a list.
int64_t overwrite(void*) {
  volatile char frame[4000];
  for (unsigned i = 0; i < sizeof frame; ++i) frame[i] = 0x41;
  return frame[17] - 0x41;
}

template <int kRound>
void one_round() {
  janus_nursery* house = open_plain();
  const janus_task initialiser = spawn_roomy(house, use<kRound>, nullptr);
  while (janus_task_state(initialiser) == JANUS_TASK_CREATED) janus_yield();
  for (int i = 0; i < 50; ++i) janus_yield();
  janus_nursery* cage = open_cage(roomy());
  for (int i = 0; i < kWaiters; ++i) spawn_roomy(cage, use<kRound>, nullptr);
  for (int i = 0; i < 3 * kWaiters; ++i) janus_yield();
  janus_nursery_cancel(cage);
  // A waiter that a cancel cannot wake keeps its nursery open until the initialisation is done; both behaviours are
  // allowed.
  for (int i = 0; i < 200000 && janus_nursery_state(cage) < JANUS_NURSERY_CLOSED; ++i) janus_yield();
  janus_nursery* others = open_plain();
  for (int i = 0; i < 2 * kWaiters; ++i) spawn_roomy(others, overwrite, nullptr);
  CHECK_EQ(close_cage(others), 0);
  __atomic_store_n(&go_on[kRound], 1, __ATOMIC_RELEASE);
  int64_t value = -1;
  CHECK_EQ(janus_task_join(initialiser, &value), 0);
  CHECK_EQ(value, kRound);
  CHECK_EQ(close_cage(house), 0);
  janus_nursery_await(cage, nullptr);
  CHECK_EQ(janus_nursery_destroy(cage), 0);
  janus_nursery* late = open_plain();
  CHECK_EQ(janus_task_join(spawn_roomy(late, use<kRound>, nullptr), &value), 0);
  CHECK_EQ(value, kRound);
  CHECK_EQ(close_cage(late), 0);
}

int64_t attack(void*) {
  one_round<0>();
  one_round<1>();
  one_round<2>();
  one_round<3>();
  return 0;
}

}  // namespace

int main() {
  CHECK_EQ(beside_a_neighbour(300, attack, nullptr), 0);
  return end();
}
