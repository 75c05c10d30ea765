// SPDX-License-Identifier: Apache-2.0
// precedence_test.cpp — the result of a nursery, over all orders of up to four children: panic > failed > budget
// exceeded > cancelled > success, and among equals the first. And its state, which tells whether it was cancelled, not
// its result.
#include "tests/api/world.h"

namespace janus::test {

namespace {

enum End : unsigned { kSuccess, kCancelled, kBudget, kFailed, kPanic, kEnds };
constexpr std::uint32_t kKinds[] = {JANUS_KIND_SUCCESS, JANUS_KIND_CANCELLED, JANUS_KIND_BUDGET_EXCEEDED,
                                    JANUS_KIND_CHILD_FAILED, JANUS_KIND_PANIC};

// The children end one after the other, in the order of their numbers.
struct Row {
  unsigned ends[4];
  unsigned count;
};

std::int64_t failure_of(unsigned number) {
  return -100 - static_cast<std::int64_t>(number);
}

struct Child {
  Row* row;
  unsigned number;
};

std::int64_t end_in_turn(void* pointer) {
  const Child me = *static_cast<Child*>(pointer);
  CHECK_EQ(janus_park(-1), 0);
  switch (me.row->ends[me.number]) {
    case kCancelled:
      janus_task_cancel(janus_task_self());
      return JANUS_CANCELLED;
    case kBudget:
      for (;;) {
        if (janus_yield_check(1) < 0) return 0;
      }
    case kFailed:
      return failure_of(me.number);
    case kPanic:
      janus_task_panic("as ordered");
    default:
      return 0;
  }
}

void check_row(Row& row) {
  Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL);
  Child children[4];
  janus_task handles[4];
  for (unsigned i = 0; i < row.count; ++i) {
    children[i] = {&row, i};
    janus_budget budget = {};
    if (row.ends[i] == kBudget) {
      budget = JANUS_BUDGET_ALL;
      budget.ops = 5000;
    }
    handles[i] = scope.go(end_in_turn, &children[i], 0, budget);
  }
  unsigned worst = kSuccess, first = 0, errors = 0;
  for (unsigned i = 0; i < row.count; ++i) {
    CHECK_EQ(janus_unpark(handles[i]), 0);
    CHECK_EQ(janus_task_join(handles[i], nullptr), 0);
    janus_result own = {};
    CHECK_EQ(janus_task_result(handles[i], &own), 0);
    CHECK_EQ(own.kind, kKinds[row.ends[i]]);
    CHECK_EQ(own.errors, row.ends[i] >= kBudget ? 1u : 0u);
    errors += row.ends[i] >= kBudget;
    if (row.ends[i] > worst) {
      worst = row.ends[i];
      first = i;
    }
  }
  janus_result first_result = {};
  (void)janus_task_result(handles[first], &first_result);
  janus_result result = {};
  const long status = scope.end(&result);
  if (worst == kCancelled) worst = kSuccess;  // one cancelled child does not make the nursery cancelled
  CHECK_EQ(result.kind, kKinds[worst]);
  CHECK_EQ(result.errors, errors);
  const std::int64_t codes[] = {0, JANUS_CANCELLED, JANUS_BUDGET_EXCEEDED, failure_of(first), JANUS_PANIC};
  CHECK_EQ(status, codes[worst]);
  CHECK_EQ(result.code, codes[worst]);
  if (worst != kSuccess) CHECK_EQ(result.task_id, first_result.task_id);
}

void check_all_rows(unsigned most) {
  for (unsigned count = 1; count <= most; ++count) {
    unsigned all = 1;
    for (unsigned i = 0; i < count; ++i) all *= kEnds;
    for (unsigned number = 0; number < all; ++number) {
      Row row;
      row.count = count;
      for (unsigned i = 0, rest = number; i < count; ++i, rest /= kEnds) row.ends[i] = rest % kEnds;
      check_row(row);
    }
  }
}

}  // namespace

TEST(precedence, over_all_orders_of_up_to_four_children_deterministic) {
  run_in(deterministic(3, 11), [] { check_all_rows(kIsWatched ? 2 : 4); });
}

TEST(precedence, over_all_orders_of_up_to_four_children_on_threads) {
  for (unsigned workers : {1u, 2u, 4u}) run_in(with_workers(workers), [] { check_all_rows(kIsWatched ? 2 : 4); });
}

TEST(precedence, a_cancelled_nursery_with_a_failure_reports_the_failure) {
  run_in(with_workers(2), [] {
    Scope scope;
    std::atomic<bool> is_ready{false};
    auto fails_when_told = [&] {
      is_ready.store(true);
      janus_park(-1);
      return -55;
    };
    scope.go(fails_when_told);
    CHECK(eventually([&] { return is_ready.load(); }));
    scope.cancel();
    janus_result result = {};
    CHECK_EQ(scope.end(&result), -55);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.was_cancelled, 1u);
  });
}

// --- Result and state ---

namespace {

template <class Body>
void everywhere(Body body) {
  for (unsigned workers : {1u, 2u, 4u}) run_in(with_workers(workers), body);
  for (std::uint64_t seed = 0; seed < 5; ++seed) run_in(deterministic(3, seed), body);
}

}  // namespace

TEST(precedence, a_failure_that_is_collected_is_in_the_result_and_not_in_the_state) {
  everywhere([] {
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task failing = scope.go(return_arg, as_arg(-31));
    CHECK_EQ(janus_task_join(failing, nullptr), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
    const janus_task waiting = scope.go(park_until_cancelled, nullptr);
    CHECK_EQ(janus_nursery_close(scope.get()), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSING);
    CHECK_EQ(janus_unpark(waiting), 0);
    janus_result result = {};
    CHECK_EQ(scope.await(&result), -31);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CLOSED);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.was_cancelled, 0u);
    scope.end();
  });
}

TEST(precedence, a_failing_child_makes_its_nursery_cancelling_then_cancelled) {
  everywhere([] {
    Scope scope;
    Stubborn stubborn;
    scope.go(stubborn);
    CHECK(eventually([&] { return stubborn.began.load(); }));
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_OPEN);
    const janus_task failing = scope.go(return_arg, as_arg(-31));
    CHECK_EQ(janus_task_join(failing, nullptr), 0);
    CHECK_EQ(janus_nursery_state(scope.get()), JANUS_NURSERY_CANCELLING);
    CHECK_EQ(scope.go(return_zero, nullptr).raw, 0u);
    stubborn.may_end.store(true);
    CHECK(eventually([&] { return janus_nursery_state(scope.get()) == JANUS_NURSERY_CANCELLED; }));
    janus_result result = {};
    CHECK_EQ(scope.end(&result), -31);
    CHECK_EQ(result.kind, JANUS_KIND_CHILD_FAILED);
    CHECK_EQ(result.was_cancelled, 1u);
  });
}

}  // namespace janus::test
