// SPDX-License-Identifier: Apache-2.0
// Nested cages, each with a block that is left behind: the credit of each block passes up through all of them. At most
// 128 cages can be nested below the root, then a budget is refused; the end of the outermost cage returns everything.
#include "hostile.h"

enum { kMax = 128, kTries = 4000 };

static long depth;

static janus_nursery* open_with_all(uint32_t flags) {
  janus_nursery_options options;
  memset(&options, 0, sizeof options);
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.on_exhaustion = JANUS_ON_EXHAUSTION_DENY;
  options.flags = flags;
  options.budget = (janus_budget){UINT32_MAX, SIZE_MAX, UINT16_MAX, UINT16_MAX, 0};
  return janus_nursery_open(NULL, &options);
}

static int64_t nest(void* unused) {
  (void)unused;
  CHECK(janus_alloc(100) != NULL);
  if (depth == kTries) return 0;
  janus_nursery* inner = open_with_all(0);
  if (inner == NULL) {
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    janus_spawn_options options;
    memset(&options, 0, sizeof options);
    options.budget = (janus_budget){1000, 1 << 20, 10, 0, 0};
    janus_nursery* plain = open_plain();
    CHECK_EQ(janus_nursery_spawn_in(plain, nest, NULL, &options).raw, 0);
    CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
    return close_cage(plain);
  }
  ++depth;
  CHECK(spawn_roomy(inner, nest, NULL).raw != 0);
  return close_cage(inner);
}

static int64_t nest_and_go(void* unused) {
  (void)unused;
  janus_nursery_options options;
  memset(&options, 0, sizeof options);
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.flags = JANUS_NURSERY_RECLAIM;
  options.budget = roomy();
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  depth = 1;
  CHECK(spawn_roomy(cage, nest, NULL).raw != 0);
  CHECK_EQ(close_cage(cage), 0);
  CHECK_EQ(depth, kMax);
  return 0;
}

int main(void) {
  beside_a_neighbour(10, nest_and_go, NULL);  // pools fill
  const accounts before = read_accounts();
  for (int i = 0; i < 10; ++i) beside_a_neighbour(100, nest_and_go, NULL);
  CHECK_NOTHING_LOST(before, 10);
  return end();
}
