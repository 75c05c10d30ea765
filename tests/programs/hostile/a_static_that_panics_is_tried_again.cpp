// SPDX-License-Identifier: Apache-2.0
// The initialiser of a function-local static panics. The next task does not wait: it tries again, or panics, too.
#include "hostile.h"

namespace {

int tries;

int initialise() {
  if (__atomic_fetch_add(&tries, 1, __ATOMIC_RELAXED) < 3) {
    for (int i = 0; i < 20; ++i) janus_yield();
    janus_task_panic("the initialiser has had enough");
  }
  return 4711;
}

int value() {
  static const int once = initialise();
  return once;
}

int64_t use(void*) {
  return value();
}

int64_t attack(void*) {
  for (int round = 0; round < 5; ++round) {
    janus_nursery* cage = open_cage(roomy());
    for (int i = 0; i < 4; ++i) spawn_roomy(cage, use, nullptr);
    const long status = janus_nursery_await(cage, nullptr);
    CHECK_THAT(status, status == JANUS_PANIC || status == 0);
    CHECK_EQ(janus_nursery_destroy(cage), 0);
  }
  return 0;
}

}  // namespace

int main() {
  CHECK_EQ(beside_a_neighbour(300, attack, nullptr), 0);
  return end();
}
