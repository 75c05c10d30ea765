// SPDX-License-Identifier: Apache-2.0
// cancel_parts_test.cpp — a nursery with hundreds of waiting tasks is cancelled. The cancel takes effect at once for
// its caller; the waiting tasks are woken in parts, and all are woken, whoever cancels and whatever they do meanwhile.
#include <new>

#include <span>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr unsigned kWorlds[] = {1, 2, 4};
// Where each takes long, each combination runs once, on the most workers.
std::span<const unsigned> worlds_of_combinations() {
  return std::span(kWorlds).subspan(static_cast<std::size_t>(scaled(0, 2)));
}
constexpr int kPart = 256 /* price::kWakesAtOnce */, kLate = 100, kStep = 8;

constexpr int kWaiters = 600;  // more than two parts

// What a waiter waits for.
enum class Wait : std::uint8_t { kChannel, kPark, kChildren, kRunningChildren };
// What the first woken waiter does, while others still wait.
enum class First : std::uint8_t { kNothing, kCancelsAgain, kCloses, kPanics };
// How the nursery comes to be cancelled.
enum class By : std::uint8_t { kCall, kTaskCancel, kFailure, kOwnersCancel };

struct Crowd {
  Wait wait = Wait::kChannel;
  First first = First::kNothing;
  janus_channel* channel = nullptr;
  janus_nursery* nursery = nullptr;
  std::atomic<bool> is_there{false};
  std::atomic<int> told{0};
  janus_task waiters[kWaiters] = {};
};

std::int64_t park(void*) {
  while (janus_park(-1) == 0) {
  }
  return -1;
}

std::int64_t yield(void*) {
  while (janus_yield() == 0) {
  }
  return -1;
}

void act(Crowd& crowd) {
  switch (crowd.first) {
    case First::kCancelsAgain:
      CHECK_EQ(janus_nursery_cancel(crowd.nursery), 0);
      CHECK_EQ(janus_nursery_state(crowd.nursery), JANUS_NURSERY_CANCELLING);
      break;
    case First::kCloses:
      CHECK_EQ(janus_channel_close(crowd.channel), 0);
      break;
    case First::kPanics:
      janus_task_panic("told to end");
      break;
    case First::kNothing:
      break;
  }
}

std::int64_t wait_there(void* arg) {
  Crowd& crowd = *static_cast<Crowd*>(arg);
  std::uint64_t word = 0;
  if (crowd.wait == Wait::kChannel) {
    const int answer = janus_channel_recv(crowd.channel, &word);
    CHECK(answer == JANUS_CANCELLED || (answer == JANUS_E_CLOSED && crowd.first == First::kCloses));
  } else if (crowd.wait == Wait::kPark) {
    CHECK_EQ(park(nullptr), -1);
  } else {
    Scope children;
    // A running child sees the cancel of an ancestor at once, and may end before its own nursery is cancelled.
    children.go(crowd.wait == Wait::kChildren ? park : yield, nullptr,
                JANUS_SPAWN_DETACHED | JANUS_SPAWN_RUN_CANCELLED);
    CHECK_EQ(children.end(), JANUS_CANCELLED);
  }
  if (crowd.told.fetch_add(1) == 0) act(crowd);
  return -1;
}

void gather(Crowd& crowd, std::uint32_t on_error) {
  crowd.channel = janus_channel_create(8, 0);
  janus_nursery_options options{};
  options.on_error = on_error;
  crowd.nursery = janus_nursery_open(nullptr, &options);
  for (janus_task& waiter : crowd.waiters) waiter = janus_nursery_spawn_in(crowd.nursery, wait_there, &crowd, nullptr);
  for (const janus_task waiter : crowd.waiters)
    while (janus_task_state(waiter) != JANUS_TASK_BLOCKED) janus_yield();
  crowd.is_there.store(true);
}

void disperse(Crowd& crowd) {
  (void)janus_nursery_await(crowd.nursery, nullptr);
  CHECK_EQ(janus_nursery_destroy(crowd.nursery), 0);
  CHECK_EQ(crowd.told.load(), kWaiters);
  janus_channel_release(crowd.channel);
}

// Opens the nursery, and waits in it until it is cancelled.
std::int64_t own_a_crowd(void* arg) {
  Crowd& crowd = *static_cast<Crowd*>(arg);
  gather(crowd, JANUS_ON_ERROR_COLLECT);
  (void)park(nullptr);
  disperse(crowd);
  return 0;
}

std::int64_t fail(void*) {
  return -7;
}

void cancel(By by, Crowd& crowd) {
  if (by == By::kCall || by == By::kFailure) {
    gather(crowd, by == By::kCall ? JANUS_ON_ERROR_COLLECT : JANUS_ON_ERROR_CANCEL);
    if (by == By::kCall)
      CHECK_EQ(janus_nursery_cancel(crowd.nursery), 0);
    else
      janus_nursery_spawn_in(crowd.nursery, fail, nullptr, nullptr);
    return disperse(crowd);
  }
  Scope scope(JANUS_ON_ERROR_COLLECT);
  const janus_task owner = scope.go(own_a_crowd, &crowd);
  while (!crowd.is_there.load() || janus_task_state(owner) != JANUS_TASK_BLOCKED) janus_yield();
  CHECK_EQ(by == By::kTaskCancel ? janus_task_cancel(owner) : scope.cancel(), 0);
  scope.end();
}

// An estimate of the number of waiting tasks, from every kStep-th of them.
int count_waiting(const Crowd& crowd) {
  int waiting = 0;
  for (int i = 0; i < kWaiters; i += kStep) waiting += janus_task_state(crowd.waiters[i]) == JANUS_TASK_BLOCKED ? 1 : 0;
  return waiting * kStep;
}

}  // namespace

TEST(cancel_parts, all_members_are_cancelled_whatever_the_first_one_does) {
  for (const unsigned workers : worlds_of_combinations())
    for (const Wait wait : {Wait::kChannel, Wait::kPark, Wait::kChildren, Wait::kRunningChildren})
      for (const First first : {First::kNothing, First::kCancelsAgain, First::kCloses, First::kPanics})
        run_in(with_workers(workers), [wait, first] {
          const std::uint64_t in_use = stats_of().bytes_in_use;
          static Crowd crowd;
          new (&crowd) Crowd{wait, first};
          cancel(By::kCall, crowd);
          CHECK_EQ(stats_of().bytes_in_use, in_use);
        });
}

// Deterministic mode as well, where turns do not depend on the speed of the machine: running children see the cancel,
// and end, before their own nurseries are cancelled.
TEST(cancel_parts, all_members_are_cancelled_whichever_task_cancels) {
  const auto cancel_each_way = [](const janus_rt_config& config) {
    for (const By by : {By::kCall, By::kTaskCancel, By::kFailure, By::kOwnersCancel})
      for (const Wait wait : {Wait::kChannel, Wait::kChildren, Wait::kRunningChildren})
        run_in(config, [by, wait] {
          static Crowd crowd;
          new (&crowd) Crowd{wait, First::kNothing};
          cancel(by, crowd);
        });
  };
  for (const unsigned workers : worlds_of_combinations()) cancel_each_way(with_workers(workers));
  cancel_each_way(deterministic(2, 7));
}

// A neighbour on the only worker counts the waiting tasks at each of its turns. Between two of its turns no more than
// two parts may be woken, in the normal and in the deterministic mode.
TEST(cancel_parts, neighbours_run_between_two_parts) {
  for (const janus_rt_config& config : {with_workers(1), deterministic(1, 7)})
    for (const By by : {By::kCall, By::kTaskCancel, By::kFailure, By::kOwnersCancel})
      run_in(config, [by] {
        static Crowd crowd;
        new (&crowd) Crowd{};
        std::atomic<bool> is_over{false};
        int most_at_once = 0;
        auto look = [&] {
          while (!crowd.is_there.load()) janus_yield();
          for (int last = kWaiters; !is_over.load(); janus_yield()) {
            const int waiting = count_waiting(crowd);
            if (last - waiting > most_at_once) most_at_once = last - waiting;
            last = waiting;
          }
        };
        Scope scope;
        scope.go(look);
        cancel(by, crowd);
        is_over.store(true);
        scope.end();
        CHECK_GT(most_at_once, 0);
        CHECK_LE(most_at_once, 2 * kPart + kStep);
      });
}

TEST(cancel_parts, a_member_that_joins_during_a_cancel_has_seen_it) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      static Crowd crowd;
      new (&crowd) Crowd{};
      gather(crowd, JANUS_ON_ERROR_COLLECT);
      std::atomic<int> came{0}, left{0};
      std::atomic<bool> may_wait{false};
      auto come_late = [&] {
        came.fetch_add(1);
        while (!may_wait.load()) janus_yield();
        CHECK_EQ(park(nullptr), -1);
        left.fetch_add(1);
      };
      for (int i = 0; i < kLate; ++i)
        janus_nursery_spawn_in(crowd.nursery, call_closure<decltype(come_late)>, &come_late, nullptr);
      while (came.load() != kLate) janus_yield();
      may_wait.store(true);
      CHECK_EQ(janus_nursery_cancel(crowd.nursery), 0);
      disperse(crowd);
      CHECK_EQ(left.load(), kLate);
    });
}

TEST(cancel_parts, the_caller_pays_for_all_parts) {
  run_in(with_workers(1), [] {
    auto pay = [] {
      static Crowd crowd;
      new (&crowd) Crowd{};
      gather(crowd, JANUS_ON_ERROR_COLLECT);
      const std::uint64_t before = janus_budget_get_current().ops;
      CHECK_EQ(janus_nursery_cancel(crowd.nursery), 0);
      CHECK_GE(before - janus_budget_get_current().ops, std::uint64_t{kWaiters});
      disperse(crowd);
    };
    auto pay_for_a_task = [] {
      static Crowd crowd;
      new (&crowd) Crowd{};
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task owner = scope.go(own_a_crowd, &crowd);
      while (!crowd.is_there.load() || janus_task_state(owner) != JANUS_TASK_BLOCKED) janus_yield();
      const std::uint64_t before = janus_budget_get_current().ops;
      CHECK_EQ(janus_task_cancel(owner), 0);
      CHECK_GE(before - janus_budget_get_current().ops, std::uint64_t{kWaiters});
      scope.end();
    };
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.ops = 10'000'000;
    budget.memory = std::size_t{512} << 20;
    Scope scope;
    scope.go(pay, 0, budget);
    scope.go(pay_for_a_task, 0, budget);
    CHECK_EQ(scope.end(), 0);
  });
}

// The caller is itself cancelled during the cancel. The cancel must still reach all members.
TEST(cancel_parts, goes_on_when_the_caller_is_cancelled) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      static Crowd crowd;
      new (&crowd) Crowd{};
      gather(crowd, JANUS_ON_ERROR_COLLECT);
      auto call = [] { janus_nursery_cancel(crowd.nursery); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(call);
      while (crowd.told.load() == 0) janus_yield();
      CHECK_EQ(scope.cancel(), 0);
      scope.end();
      disperse(crowd);
    });
}

// The caller runs out of ops during the cancel, and ends right afterwards. The cancel must still reach all members.
TEST(cancel_parts, goes_on_when_the_caller_has_no_ops_left) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      static Crowd crowd;
      new (&crowd) Crowd{};
      auto call = [] {
        gather(crowd, JANUS_ON_ERROR_COLLECT);
        while (janus_budget_get_current().ops > 300) janus_yield_check(100);
        janus_nursery_cancel(crowd.nursery);
        janus_yield_check(1);
        CHECK(!"it has ended");
      };
      janus_budget budget = JANUS_BUDGET_ALL;
      budget.ops = 1'000'000;
      Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL);
      scope.go(call, 0, budget);
      CHECK_EQ(scope.end(), -3);
      CHECK_EQ(stats_of().tasks_live, 1u);
      janus_channel_release(crowd.channel);
    });
}

}  // namespace janus::test
