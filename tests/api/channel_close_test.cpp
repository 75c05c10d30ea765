// SPDX-License-Identifier: Apache-2.0
// channel_close_test.cpp — a channel with hundreds of waiting tasks is closed. The close takes effect at once for later
// calls; the waiting tasks are woken in parts, and all are woken, whatever they do meanwhile.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr unsigned kWorlds[] = {1, 2, 4};
constexpr int kWaiters = 600;  // more than two parts of 256

// What the first woken waiter does, while others still wait.
enum class First : std::uint8_t { kNothing, kAsks, kReleases, kCancels };

struct Crowd {
  janus_channel* channel;
  janus_nursery* nursery;
  First first;
  std::atomic<int> closed{0}, cancelled{0};

  void act() {
    std::uint64_t word = 0;
    switch (first) {
      case First::kNothing:
        break;
      case First::kAsks:
        CHECK_EQ(janus_channel_send(channel, &word), JANUS_E_CLOSED);
        CHECK_EQ(janus_channel_recv(channel, &word), JANUS_E_CLOSED);
        CHECK_EQ(janus_channel_try_send(channel, &word), JANUS_E_CLOSED);
        CHECK_EQ(janus_channel_close(channel), JANUS_E_CLOSED);
        break;
      case First::kReleases:
        janus_channel_release(channel);
        CHECK_EQ(janus_channel_close(channel), JANUS_E_STALE);
        break;
      case First::kCancels:
        janus_nursery_cancel(nursery);
        break;
    }
  }
};

std::int64_t wait_there(void* arg) {
  Crowd& crowd = *static_cast<Crowd*>(arg);
  std::uint64_t word = 0;
  const int told = janus_channel_recv(crowd.channel, &word);
  if (told == JANUS_CANCELLED) {
    crowd.cancelled.fetch_add(1);
    return told;
  }
  CHECK_EQ(told, JANUS_E_CLOSED);
  if (crowd.closed.fetch_add(1) == 0) crowd.act();
  return 0;
}

void gather(Crowd& crowd, First first) {
  crowd.first = first;
  crowd.channel = janus_channel_create(8, 0);
  janus_nursery_options options{};
  options.on_error = JANUS_ON_ERROR_COLLECT;
  crowd.nursery = janus_nursery_open(nullptr, &options);
  static janus_task waiters[kWaiters];
  for (janus_task& waiter : waiters) waiter = janus_nursery_spawn_in(crowd.nursery, wait_there, &crowd, nullptr);
  for (const janus_task waiter : waiters)
    while (janus_task_state(waiter) != JANUS_TASK_BLOCKED) janus_yield();
}

void disperse(Crowd& crowd) {
  (void)janus_nursery_await(crowd.nursery, nullptr);
  CHECK_EQ(janus_nursery_destroy(crowd.nursery), 0);
  CHECK_EQ(crowd.closed.load() + crowd.cancelled.load(), kWaiters);
  if (crowd.first != First::kCancels) CHECK_EQ(crowd.cancelled.load(), 0);
  if (crowd.first != First::kReleases) janus_channel_release(crowd.channel);
}

}  // namespace

TEST(close, wakes_all_whatever_the_first_of_them_does) {
  for (const unsigned workers : kWorlds)
    for (const First first : {First::kNothing, First::kAsks, First::kReleases, First::kCancels})
      run_in(with_workers(workers), [first] {
        const std::uint64_t in_use = stats_of().bytes_in_use;
        Crowd crowd;
        gather(crowd, first);
        CHECK_EQ(janus_channel_close(crowd.channel), 0);
        disperse(crowd);
        CHECK_EQ(stats_of().bytes_in_use, in_use);
      });
}

// With one worker, other tasks run in between only if the closing task yields.
TEST(close, lets_others_run_before_the_last_is_woken) {
  run_in(with_workers(1), [] {
    Crowd crowd;
    gather(crowd, First::kNothing);
    janus_channel_close(crowd.channel);
    CHECK_GE(crowd.closed.load(), 1);
    disperse(crowd);
  });
}

TEST(close, by_the_last_release_wakes_all) {
  for (const unsigned workers : kWorlds)
    run_in(with_workers(workers), [] {
      Crowd crowd;
      gather(crowd, First::kNothing);
      janus_channel_release(crowd.channel);
      crowd.first = First::kReleases;
      CHECK_EQ(janus_channel_close(crowd.channel), JANUS_E_STALE);
      disperse(crowd);
    });
}

TEST(close, the_caller_pays_for_each_task_that_it_wakes) {
  run_in(with_workers(1), [] {
    Crowd crowd;
    gather(crowd, First::kNothing);
    auto close = [&crowd] {
      const std::uint64_t before = janus_budget_get_current().ops;
      CHECK_EQ(janus_channel_close(crowd.channel), 0);
      CHECK_GE(before - janus_budget_get_current().ops, std::uint64_t{kWaiters});
    };
    janus_budget budget = JANUS_BUDGET_ALL;
    budget.ops = 1'000'000;
    Scope scope;
    scope.go(close, 0, budget);
    CHECK_EQ(scope.end(), 0);
    disperse(crowd);
  });
}

}  // namespace janus::test
