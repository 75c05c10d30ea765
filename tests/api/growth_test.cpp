// SPDX-License-Identifier: Apache-2.0
// growth_test.cpp — growing stacks: a task gets the promised depth and little more, wherever its stack begins. A stack
// grows by doubling, and its memory is charged to the task's account until the task ends.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::size_t kFirst = 65536, kMax = 1 << 20;  // kFirst: a task's first stack size while there are few tasks
constexpr std::size_t kFrames = 16384;                 // more than a task uses of its stack before it measures

// On one worker, and only where stacks grow: not on machines whose guard pages cannot move, and not under a sanitizer,
// whose frames are larger.
template <class Body>
void run_growing(Body body) {
  janus_rt_config config = with_workers(1);
  config.stack_size = kFirst;
  config.stack_max = kMax;
  bool grows = false;
  CHECK_EQ(run_in(config,
                  [&] {
                    grows = !kIsWatched && stats_of().stack_max == kMax;
                    if (grows) body();
                  }),
           0);
  if (!grows) skip("stacks do not grow here");
}

std::uintptr_t deepest;

// Recurses until the stack reaches down to `lowest`, and returns.
[[gnu::noinline]] void go_down_to(std::uintptr_t lowest) {
  volatile std::byte frame[512];
  frame[0] = std::byte{1};
  deepest = reinterpret_cast<std::uintptr_t>(frame);
  if (deepest > lowest) go_down_to(lowest);
  frame[1] = std::byte{2};  // keeps the call above from becoming a tail call
}
[[gnu::always_inline]] inline std::uintptr_t here() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
[[gnu::noinline]] void use(std::size_t bytes) {
  go_down_to(here() - (bytes - kFrames));
}

std::int64_t use_all(void*) {
  return use(kMax), 7;
}
std::int64_t overflow(void* began) {
  *static_cast<std::uintptr_t*>(began) = here();
  go_down_to(0);
  return 7;
}

// Runs children that use all of their stack, and one that overflows, at whatever depth of its own stack the caller is.
[[gnu::noinline]] void have_children() {
  for (int n = 0; n < 3; ++n) {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    std::uintptr_t began = 0;
    scope.go(n == 1 ? overflow : use_all, &began);
    CHECK_EQ(scope.end(), n == 1 ? JANUS_PANIC : 0);
    if (n != 1) continue;
    CHECK_LE(began - deepest, kMax + 8192);  // stacks are limited in whole pages
    CHECK_GE(began - deepest, kMax - kFrames);
  }
}
[[gnu::noinline]] void have_children_at(std::uintptr_t place) {
  volatile std::byte frame[512];
  here() > place ? have_children_at(place) : have_children();
  frame[0] = std::byte{1};
  (void)frame[0];
}

// Awaits a child at each depth of the stack down to `place`.
[[gnu::noinline]] void await_down_to(std::uintptr_t place) {
  volatile std::byte frame[512];
  frame[0] = std::byte{1};
  Scope scope;
  scope.go(return_zero, nullptr);
  CHECK_EQ(scope.end(), 0);
  if (here() > place) await_down_to(place);
  CHECK(frame[0] == std::byte{1});
}

// The parent has used much more stack than it stands on now, when it spawns a child whose budget does not pay for that
// much.
[[gnu::noinline]] void have_a_child_on_a_budget_at(std::uintptr_t place) {
  volatile std::byte frame[512];
  frame[0] = std::byte{1};
  if (here() > place) {
    have_a_child_on_a_budget_at(place);
  } else {
    use(kMax / 2);
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, {100'000, 200'000, 4, 4, 4});
    auto child = [] { return use(kFirst / 2), 7; };
    scope.go(child);
    CHECK_EQ(scope.end(), 0);
  }
  CHECK(frame[0] == std::byte{1});
}

}  // namespace

TEST(growth, a_stack_doubles_when_it_does_not_suffice) {
  run_growing([] {
    const std::uint64_t before = stats_of().stack_steps;
    std::uint64_t steps = 0;
    for (std::size_t bytes = kFirst; bytes <= kMax; bytes *= 2, ++steps) {
      use(bytes);
      CHECK_EQ(stats_of().stack_steps - before, steps);
    }
    use(kMax);
    CHECK_EQ(stats_of().stack_steps - before, steps - 1);
  });
}

TEST(growth, each_task_may_go_as_deep_as_was_promised_and_no_deeper_wherever_it_begins) {
  for (const std::size_t parent :
       {std::size_t{0}, kFirst / 2, kFirst, kMax / 4, kMax / 2, kMax * 3 / 4, kMax - 2 * kFrames})
    run_growing([parent] { have_children_at(here() - parent); });
}

TEST(growth, a_parent_keeps_its_stack_while_a_child_on_a_budget_runs) {
  for (const std::size_t depth : {std::size_t{0}, kFirst / 2, 2 * kFirst, kMax / 4})
    run_growing([depth] { have_a_child_on_a_budget_at(here() - depth); });
}

TEST(growth, growth_is_charged_until_the_task_ends) {
  run_growing([] {
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.memory = 600'000;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
    std::size_t before[3] = {};
    std::size_t* next = before;
    auto grow = [&] {
      *next = janus_budget_get_current().memory;
      use(kFirst / 2);
      CHECK_EQ(janus_budget_get_current().memory, *next);
      for (int times = 0; times < 2; ++times) {
        use(2 * kFirst);
        const std::size_t paid = *next - janus_budget_get_current().memory;
        CHECK_LE(paid, kFirst);
        CHECK_GE(paid + 4096, kFirst);  // the task may begin a page below the top of the stack
      }
      ++next;
    };
    auto one_after_the_other = [&] {
      for (int n = 0; n < 3; ++n) {
        Scope scope;
        scope.go(grow);
        CHECK_EQ(scope.end(), 0);
      }
    };
    cage.go(one_after_the_other);
    CHECK_EQ(cage.await(), 0);
    CHECK_EQ(before[1], before[0]);
    CHECK_EQ(before[2], before[0]);
    CHECK_EQ(janus_nursery_destroy(cage.get()), 0);
  });
}

TEST(growth, a_task_that_awaits_children_far_down_pays_for_its_stack) {
  run_growing([] {
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.memory = 1'000'000;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
    auto goes_down = [] {
      constexpr std::size_t kDepth = 2 * kFirst + kFrames;
      const std::size_t before = janus_budget_get_current().memory;
      await_down_to(here() - kDepth);
      CHECK_GE(before - janus_budget_get_current().memory + 8192, kDepth - kFirst);
    };
    // A join, unlike an await, runs the task on a stack of its own.
    CHECK_EQ(janus_task_join(cage.go(goes_down), nullptr), 0);
    CHECK_EQ(cage.end(), 0);
  });
}

TEST(growth, a_task_that_cannot_pay_for_growth_ends) {
  run_growing([] {
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.memory = 600'000;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
    cage.go(use_all, nullptr);
    CHECK_EQ(cage.end(), JANUS_BUDGET_EXCEEDED);
  });
}

}  // namespace janus::test
