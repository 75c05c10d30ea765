// SPDX-License-Identifier: Apache-2.0
// runtime_stress_test.cpp — all kinds of operations at random moments, with many workers. A seed (JANUS_TEST_SEED gives
// others) determines what the tasks do, but not how threads interleave; in deterministic mode it determines both.
#include <janus/llvm.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

unsigned rounds(int usual, int few) {
  return static_cast<unsigned>(scaled(usual, few));
}

std::uint64_t first_seed() {
  return environment_number("JANUS_TEST_SEED", 0) << 32;
}

// Runs `body(seed)` as the root of runtimes with 1 to 8 workers, in normal and in deterministic mode.
template <class Body>
void in_all_worlds(unsigned times, Body body) {
  for (unsigned i = 0; i < times; ++i) {
    for (unsigned workers : {1u, 2u, 4u, 8u}) {
      const std::uint64_t seed = first_seed() + i * 1000003u + workers;
      run_in(with_workers(workers), [&] { return body(seed); });
      run_in(deterministic(workers, seed), [&] { return body(seed); });
    }
  }
}

// --- A tree that does everything ---

struct Storm {
  std::atomic<std::uint64_t> began{0}, ended{0};
  janus_channel* channel = nullptr;
  std::atomic<std::uint64_t> sent{0}, received{0};
  bool may_cancel = true;
};

struct Node {
  Storm* storm;
  std::uint64_t seed;
  int depth;
};

std::int64_t act(Storm& storm, Dice& dice);

std::int64_t live(void* pointer) {
  const Node me = *static_cast<Node*>(pointer);
  Storm& storm = *me.storm;
  storm.began.fetch_add(1);
  Dice dice(me.seed);
  std::int64_t answer = 0;
  if (me.depth == 0) {
    answer = act(storm, dice);
  } else {
    constexpr unsigned kMax = 4;
    Node children[kMax];
    janus_task handles[kMax] = {};
    const unsigned count = 1 + dice.below(kMax);
    Scope scope(dice.below(2) != 0 ? JANUS_ON_ERROR_CANCEL : JANUS_ON_ERROR_COLLECT);
    for (unsigned i = 0; i < count; ++i) {
      children[i] = {&storm, dice.next(), me.depth - 1};
      handles[i] = scope.go(live, &children[i]);
      if (dice.below(8) == 0) janus_yield();
    }
    if (storm.may_cancel && dice.below(10) == 0) scope.cancel();
    if (storm.may_cancel && dice.below(10) == 0) janus_task_cancel(handles[dice.below(count)]);
    if (dice.below(4) == 0) answer = act(storm, dice);
    if (dice.below(4) == 0) janus_task_join(handles[dice.below(count)], nullptr);
    if (dice.below(8) == 0) janus_task_release(handles[dice.below(count)]);
    scope.end();
  }
  storm.ended.fetch_add(1);
  return answer < 0 && answer != JANUS_CANCELLED ? 0 : answer;
}

std::int64_t act(Storm& storm, Dice& dice) {
  std::uint64_t value = 1;
  switch (dice.below(7)) {
    case 0:
      return janus_yield();
    case 1:
      for (int i = 0; i < 3000; ++i) {
        if (const int told = janus_yield_check(1)) return told;
      }
      return 0;
    case 2:
      if (janus_channel_try_send(storm.channel, &value) == 0) storm.sent.fetch_add(1);
      return 0;
    case 3:
      if (janus_channel_try_recv(storm.channel, &value) == 0) storm.received.fetch_add(value);
      return 0;
    case 4: {
      void* const block = janus_alloc(1 + dice.below(5000));
      janus_yield();
      janus_free(block);
      return 0;
    }
    case 5:
      janus_unpark(janus_task_self());
      return janus_park(-1);
    default:
      return storm.may_cancel && dice.below(4) == 0 ? -7 : 0;
  }
}

std::int64_t weather(std::uint64_t seed, int depth, bool may_cancel) {
  Storm storm;
  storm.may_cancel = may_cancel;
  storm.channel = janus_channel_create(sizeof(std::uint64_t), 8);
  Node root{&storm, seed, depth};
  Scope scope(JANUS_ON_ERROR_COLLECT);
  scope.go(live, &root);
  scope.end();
  CHECK_EQ(storm.began.load(), storm.ended.load());
  std::uint64_t left = 0;
  while (janus_channel_try_recv(storm.channel, &left) == 0) storm.received.fetch_add(left);
  CHECK_EQ(storm.sent.load(), storm.received.load());
  janus_channel_release(storm.channel);
  const janus_stats stats = stats_of();
  CHECK_EQ(stats.tasks_live, 1u);  // the root
  CHECK_EQ(stats.nurseries_live, 0u);
  return 0;
}

}  // namespace

TEST(storm, a_tree_of_all_operations_ends_and_leaks_nothing) {
  in_all_worlds(scaled(20, 3), [](std::uint64_t seed) { return weather(seed, 5, true); });
}

TEST(storm, without_cancels_every_task_of_the_tree_runs) {
  in_all_worlds(scaled(10, 2), [](std::uint64_t seed) { return weather(seed, 5, false); });
}

// --- Spawns and steals ---

namespace {

std::int64_t fan_out(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return 0;
  janus_nursery_create();
  for (int i = 0; i < 10; ++i) janus_nursery_spawn(fan_out, as_arg(left - 1));
  return janus_nursery_await_all();
}

}  // namespace

TEST(storm, of_spawns) {
  for (unsigned workers : {1u, 2u, 4u, 16u}) {
    janus_stats stats = {};
    CHECK_EQ(run_in(
                 with_workers(workers), [] { return fan_out(as_arg(scaled(5, 3))); }, &stats),
             0);
    CHECK_EQ(stats.tasks_spawned, static_cast<unsigned>(scaled(111111, 1111)));
    CHECK_EQ(stats.tasks_completed, stats.tasks_spawned);
  }
}

TEST(storm, of_steals_on_tasks_of_every_length) {
  for (unsigned i = 0; i < rounds(10, 2); ++i) {
    for (std::uint32_t strategy : {JANUS_VICTIM_RANDOM, JANUS_VICTIM_ROUND_ROBIN, JANUS_VICTIM_LEAST_LOADED}) {
      janus_rt_config config = with_workers(8);
      config.victim_strategy = strategy;
      std::atomic<int> ran{0};
      run_in(config, [&] {
        Scope scope;
        auto piece = [&] {
          const int length = ran.fetch_add(1) % 500;
          for (int n = 0; n < length; ++n) __builtin_ia32_pause();
          return 0;
        };
        for (int n = 0; n < 2000; ++n) scope.go(piece, n % 3 == 0 ? JANUS_SPAWN_DETACHED : 0);
        return scope.end();
      });
      CHECK_EQ(ran.load(), 2000);
    }
  }
}

// --- Cancels at random moments ---

namespace {

// Waits in a randomly chosen way until it is cancelled.
std::int64_t wait_somehow(Dice& dice, janus_channel* silent, janus_task other) {
  switch (dice.below(5)) {
    case 0:
      return janus_park(-1);
    case 1: {
      std::uint64_t value = 0;
      return janus_channel_recv(silent, &value);
    }
    case 2:
      return yield_until_cancelled(nullptr);
    case 3:
      return janus_task_join(other, nullptr);
    default: {
      Scope scope;
      for (int i = 0; i < 3; ++i) scope.go(park_until_cancelled, nullptr);
      return scope.end();
    }
  }
}

std::int64_t cancel_at_random(std::uint64_t seed) {
  Dice dice(seed);
  janus_channel* const silent = janus_channel_create(8, 0);
  Scope lasting;
  const janus_task other = lasting.go(park_until_cancelled, nullptr);
  constexpr int kWaiters = 40;
  std::atomic<int> unwound{0};
  std::atomic<std::uint64_t> next{dice.next()};
  {
    Scope scope;
    auto waiter = [&] {
      Dice own(next.fetch_add(0x1234567));
      const std::int64_t told = wait_somehow(own, silent, other);
      CHECK_EQ(told, JANUS_CANCELLED);
      unwound.fetch_add(1);
      return told;
    };
    for (int i = 0; i < kWaiters; ++i) scope.go(waiter, JANUS_SPAWN_RUN_CANCELLED);
    for (unsigned i = dice.below(60); i != 0; --i) janus_yield();
    for (unsigned i = dice.below(2000); i != 0; --i) __builtin_ia32_pause();
    scope.cancel();
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
  }
  CHECK_EQ(unwound.load(), kWaiters);
  lasting.cancel();
  CHECK_EQ(lasting.end(), JANUS_CANCELLED);
  janus_channel_release(silent);
  return 0;
}

}  // namespace

TEST(storm, of_cancels_at_random_moments) {
  in_all_worlds(scaled(40, 4), cancel_at_random);
}

TEST(storm, of_cancels_from_below_beside_and_outside) {
  in_all_worlds(scaled(40, 4), [](std::uint64_t seed) {
    Dice dice(seed);
    Scope outer;
    std::atomic<int> inner_ended{0};
    const unsigned who = dice.below(12);
    std::atomic<unsigned> number{0};
    auto branch = [&] {
      const bool cancels = number.fetch_add(1) == who;
      Scope inner;
      for (int i = 0; i < 4; ++i) inner.go(i % 2 != 0 ? park_until_cancelled : yield_until_cancelled, nullptr);
      if (cancels) outer.cancel();
      const long status = inner.end();
      inner_ended.fetch_add(1);
      return status;
    };
    int spawned = 0;  // none after the cancel
    for (int i = 0; i < 12; ++i) spawned += outer.go(branch, JANUS_SPAWN_RUN_CANCELLED).raw != 0;
    outer.cancel();
    CHECK_EQ(outer.end(), JANUS_CANCELLED);
    CHECK_EQ(inner_ended.load(), spawned);
    return 0;
  });
}

// --- Channels ---

namespace {

struct Traffic {
  janus_channel* channel;
  std::atomic<std::uint64_t> sent_count{0}, sent_sum{0}, received_count{0}, received_sum{0};
};

std::int64_t channel_storm(std::uint64_t seed, std::size_t capacity, int senders, int receivers, int each,
                           bool cancels) {
  Dice dice(seed);
  Traffic traffic{janus_channel_create(8, capacity)};
  std::atomic<std::uint64_t> sender{1};
  Scope scope_of_senders, scope_of_receivers;
  auto send = [&] {
    const std::uint64_t base = sender.fetch_add(1) << 32;
    for (int i = 0; i < each; ++i) {
      const std::uint64_t value = base + static_cast<std::uint64_t>(i);
      if (const int answer = janus_channel_send(traffic.channel, &value)) return answer;
      traffic.sent_count.fetch_add(1);
      traffic.sent_sum.fetch_add(value);
    }
    return 0;
  };
  auto receive = [&] {
    std::uint64_t last[64] = {};
    for (;;) {
      std::uint64_t value = 0;
      const int answer = janus_channel_recv(traffic.channel, &value);
      if (answer == JANUS_E_CLOSED) return 0;
      if (answer != 0) return answer;
      const std::uint64_t from = value >> 32;
      CHECK(last[from % 64] < value);  // one sender's messages come in order
      last[from % 64] = value;
      traffic.received_count.fetch_add(1);
      traffic.received_sum.fetch_add(value);
    }
  };
  for (int i = 0; i < receivers; ++i) scope_of_receivers.go(receive);
  janus_task some_sender = {};
  for (int i = 0; i < senders; ++i) some_sender = scope_of_senders.go(send);
  if (cancels) {
    for (unsigned i = dice.below(50); i != 0; --i) janus_yield();
    if (dice.below(2) != 0)
      janus_task_cancel(some_sender);
    else
      scope_of_senders.cancel();
  }
  scope_of_senders.end();
  CHECK_EQ(janus_channel_close(traffic.channel), 0);
  CHECK_EQ(scope_of_receivers.end(), 0);
  CHECK_EQ(traffic.sent_count.load(), traffic.received_count.load());
  CHECK_EQ(traffic.sent_sum.load(), traffic.received_sum.load());
  if (!cancels)
    CHECK_EQ(traffic.sent_count.load(), static_cast<std::uint64_t>(senders) * static_cast<std::uint64_t>(each));
  janus_channel_release(traffic.channel);
  return 0;
}

}  // namespace

TEST(storm, of_messages_none_lost_none_doubled) {
  for (std::size_t capacity : {0u, 1u, 7u, 1000u}) {
    in_all_worlds(scaled(2, 1),
                  [&](std::uint64_t seed) { return channel_storm(seed, capacity, 7, 5, scaled(500, 50), false); });
  }
}

TEST(storm, of_messages_with_cancelled_senders) {
  for (std::size_t capacity : {0u, 1u, 7u}) {
    in_all_worlds(scaled(15, 2),
                  [&](std::uint64_t seed) { return channel_storm(seed, capacity, 7, 3, scaled(200, 30), true); });
  }
}

TEST(storm, a_million_messages_cross_between_workers) {
  run_in(with_workers(4), [] { return channel_storm(1, 64, 8, 8, scaled(125000, 1000), false); });
}

// --- Many workers ---

TEST(storm, two_hundred_and_fifty_six_workers_on_whatever_there_is) {
  for (unsigned i = 0; i < rounds(5, 1); ++i) {
    janus_stats stats = {};
    run_in(
        with_workers(256), [&] { return weather(i, 6, true); }, &stats);
    CHECK_EQ(stats.workers, 256u);
    run_in(deterministic(256, i), [&] { return weather(i, 5, true); });
  }
}

// Ten children a task. Each awaits its own, and has room to run them while it waits, unless its stack is a small one.
std::int64_t tree(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return 0;
  Scope scope;
  for (int i = 0; i < 10; ++i) scope.go(tree, reinterpret_cast<void*>(left - 1));
  return scope.end();
}

janus_stats stats_of_trees(unsigned workers) {
  janus_stats stats = {};
  run_in(
      with_workers(workers),
      [] {
        for (int i = 0; i < scaled(10, 2); ++i) CHECK_EQ(tree(reinterpret_cast<void*>(std::intptr_t{4})), 0);
        return 0;
      },
      &stats);
  return stats;
}

// Where two workers run most of them there: not where frames are large, nor where an eighth of the memory has no room for
// so many stacks.
TEST(storm, of_many_workers_runs_as_many_children_on_the_stacks_of_their_parents_as_of_two) {
  const janus_stats two = stats_of_trees(2), many = stats_of_trees(256);
  if (two.tasks_inline >= two.tasks_completed / 4 * 3 && two.bytes_limit >= std::uint64_t{1} << 30)
    CHECK_GE(many.tasks_inline, many.tasks_completed / 4 * 3);
}

TEST(storm, runtimes_come_and_go_side_by_side) {
  for (unsigned i = 0; i < rounds(40, 5); ++i) {
    const janus_rt_config config = with_workers(1 + i % 5);
    janus_rt* const first = janus_rt_create(&config);
    janus_rt* const second = janus_rt_create(&config);
    REQUIRE(first != nullptr && second != nullptr);
    auto body = [&] { return janus_rt_get() == nullptr ? weather(i, 3, true) : 1; };  // neither is the process's one
    CHECK_EQ(janus_rt_run(first, call_closure<decltype(body)>, &body), 0);
    CHECK_EQ(janus_rt_run(second, call_closure<decltype(body)>, &body), 0);
    CHECK_EQ(janus_rt_run(first, call_closure<decltype(body)>, &body), 0);
    janus_rt_destroy(second);
    janus_rt_destroy(first);
  }
}

}  // namespace janus::test
