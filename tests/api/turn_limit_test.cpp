// SPDX-License-Identifier: Apache-2.0
// The turn limit: a task in a cage that does not come back to the runtime for turn_ns ends as a panic, and nobody else
// does. docs/decisions/0345
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

janus_nursery* open_cage(std::uint64_t turn_ns, janus_budget budget = budget_of(UINT32_MAX, 16 << 20)) {
  janus_nursery_options options = {};
  options.size = sizeof options;
  options.on_error = JANUS_ON_ERROR_COLLECT;
  options.budget = budget;
  options.turn_ns = turn_ns;
  return janus_nursery_open(nullptr, &options);
}

// Without a check, and without an end.
std::int64_t loop(void*) {
  for (;;) asm volatile("");
}

janus_result result_of(janus_nursery* nursery) {
  janus_result result = {};
  (void)janus_nursery_await(nursery, &result);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  return result;
}

TEST(turn_limit, a_loop_without_checks_ends_as_a_panic) {
  for (const unsigned workers : {1u, 2u, 4u})
    run_in(with_workers(workers), [] {
      janus_nursery* const cage = open_cage(10 * kMs);
      spawn(cage, loop, nullptr);
      const janus_result result = result_of(cage);
      CHECK_EQ(result.kind, JANUS_KIND_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_OVERRUN);
      CHECK_EQ(result.errors, 1u);
    });
}

}  // namespace

}  // namespace janus::test
