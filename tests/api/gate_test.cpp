// SPDX-License-Identifier: Apache-2.0
// max_running: children beyond it wait unstarted, in the order of their spawns, and no start is lost.
#include "tests/api/world.h"

namespace janus::test {

namespace {

janus_nursery* open_gated(std::uint32_t max_running, std::uint32_t on_error = JANUS_ON_ERROR_COLLECT,
                          janus_budget budget = {}) {
  janus_nursery_options options = {};
  options.size = sizeof options;
  options.on_error = on_error;
  options.max_running = max_running;
  options.budget = budget;
  return janus_nursery_open(nullptr, &options);
}

// What the children of a test note of their starts and ends.
struct Log {
  static constexpr int kMost = 200;
  std::atomic<int> running{0}, most{0}, starts{0};
  std::int64_t order[kMost];

  void begin(std::int64_t number) {
    const int now = running.fetch_add(1) + 1;
    for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    order[starts.fetch_add(1)] = number;
  }
  void end() { running.fetch_sub(1); }
};
struct Child {
  Log* log;
  std::int64_t number;
  static std::int64_t run(void* arg) {
    const Child& self = *static_cast<Child*>(arg);
    self.log->begin(self.number);
    for (int i = static_cast<int>(self.number % 5); i > 0; --i) janus_yield();
    self.log->end();
    return 0;
  }
};

TEST(gate, at_most_so_many_run_at_a_time_and_all_do) {
  for (const std::uint32_t most : {1u, 2u, 3u})
    on_any_workers([&] {
      static Log log;
      log.most.store(0);
      log.starts.store(0);
      static Child children[Log::kMost];
      janus_nursery* const nursery = open_gated(most);
      for (int i = 0; i < Log::kMost; ++i) {
        children[i] = {&log, i};
        CHECK_NE(spawn(nursery, Child::run, &children[i]).raw, 0u);
      }
      CHECK_EQ(end(nursery), 0);
      CHECK_EQ(log.starts.load(), Log::kMost);
      CHECK_LE(log.most.load(), static_cast<int>(most));
      if (most == 1)
        for (int i = 0; i < Log::kMost; ++i) CHECK_EQ(log.order[i], i);
    });
}

// On one worker they also start in the order of their spawns if several may run.
TEST(gate, they_start_in_the_order_of_their_spawns) {
  run_in(with_workers(1), [] {
    static Log log;
    log.starts.store(0);
    static Child children[50];
    janus_nursery* const nursery = open_gated(3);
    for (int i = 0; i < 50; ++i) {
      children[i] = {&log, i};
      spawn(nursery, Child::run, &children[i]);
    }
    CHECK_EQ(end(nursery), 0);
    for (int i = 0; i < 50; ++i) CHECK_EQ(log.order[i], i);
  });
}

// However one ends, the next starts.
TEST(gate, a_panic_a_failure_and_a_used_up_budget_let_the_next_start) {
  on_any_workers([] {
    std::atomic<int> ran{0};
    auto panics = [&] {
      ran.fetch_add(1);
      janus_task_panic("on purpose");
    };
    auto fails = [&]() -> std::int64_t {
      ran.fetch_add(1);
      return -7;
    };
    auto waits = [&] {
      ran.fetch_add(1);
      CHECK_EQ(janus_sleep_ns(1000), 0);
    };
    auto spends = [&] {
      ran.fetch_add(1);
      for (;;) janus_yield_check(1000);
    };
    janus_nursery_options options = {};
    options.size = sizeof options;
    options.on_error = JANUS_ON_ERROR_COLLECT;
    options.on_exhaustion = JANUS_ON_EXHAUSTION_FAIL;
    options.budget = budget_of(1'000'000);
    options.max_running = 1;
    janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
    for (int i = 0; i < 3; ++i) {
      spawn(nursery, call_closure<decltype(panics)>, &panics);
      spawn(nursery, call_closure<decltype(fails)>, &fails, JANUS_SPAWN_DETACHED);
      spawn(nursery, call_closure<decltype(waits)>, &waits);
      spawn(nursery, call_closure<decltype(spends)>, &spends, 0, budget_of(2000, 65536));
    }
    janus_result result = {};
    CHECK_EQ(end(nursery, &result), JANUS_PANIC);
    CHECK_EQ(result.errors, 9u);
    CHECK_EQ(ran.load(), 12);
  });
}

TEST(gate, a_cancel_ends_the_unstarted_ones_without_a_run) {
  on_any_workers([] {
    std::atomic<int> ran{0}, waits{0};
    auto first = [&] {
      waits.fetch_add(1);
      return janus_park(-1);
    };
    auto others = [&] { ran.fetch_add(1); };
    auto cleans_up = [&] { ran.fetch_add(100); };
    janus_nursery* const nursery = open_gated(2);
    for (int i = 0; i < 2; ++i) spawn(nursery, call_closure<decltype(first)>, &first);
    janus_task tasks[20];
    for (janus_task& task : tasks) task = spawn(nursery, call_closure<decltype(others)>, &others);
    spawn(nursery, call_closure<decltype(cleans_up)>, &cleans_up, JANUS_SPAWN_RUN_CANCELLED);
    CHECK(eventually([&] { return waits.load() == 2; }));
    for (const janus_task task : tasks) CHECK_EQ(janus_task_state(task), JANUS_TASK_CREATED);
    CHECK_EQ(janus_nursery_cancel(nursery), 0);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), JANUS_CANCELLED);
    CHECK_EQ(ran.load(), 100);
    janus_result result = {};
    for (const janus_task task : tasks) {
      CHECK_EQ(janus_task_result(task, &result), 0);
      CHECK_EQ(result.kind, JANUS_KIND_CANCELLED);
    }
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
  });
}

struct Family {
  static janus_nursery* nursery;
  static std::atomic<int> running, ran;
  static std::int64_t child(void* rest) {
    CHECK_LE(running.fetch_add(1) + 1, 2);
    const auto left = reinterpret_cast<std::intptr_t>(rest);
    for (int i = 0; left > 0 && i < 2; ++i) CHECK_NE(spawn(nursery, child, as_arg(left - 1)).raw, 0u);
    CHECK_EQ(janus_fork_join(count_up, &ran, count_up, &ran, nullptr), 0);
    running.fetch_sub(1);
    return 0;
  }
};
janus_nursery* Family::nursery;
std::atomic<int> Family::running{0}, Family::ran{0};

// Children that spawn further ones into their own nursery, and forks within them: these are no children of it.
TEST(gate, children_spawn_others_behind_it) {
  on_any_workers([] {
    Family::ran.store(0);
    Family::nursery = open_gated(2);
    CHECK_NE(spawn(Family::nursery, Family::child, as_arg(4)).raw, 0u);
    for (int i = 0; i < 31; ++i) CHECK_EQ(janus_nursery_next(Family::nursery, nullptr, 0), 0);
    CHECK_EQ(end(Family::nursery), 0);
    CHECK_EQ(Family::ran.load(), 62);
  });
}

TEST(gate, senseless_options_are_refused) {
  run_in(with_workers(1), [] {
    janus_nursery_options options = {};
    options.size = sizeof options;
    options.max_running = 1;
    options.reserved = 1;
    CHECK(janus_nursery_open(nullptr, &options) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  });
}

// What lies behind a structure of the size that version 1 began with is not read.
TEST(gate, a_structure_of_the_first_size_has_none) {
  run_in(with_workers(1), [] {
    for (const std::uint32_t size : {0u, 64u}) {
      janus_nursery_options options = {};
      options.size = size;
      options.max_running = 1;
      options.reserved = 1;
      janus_nursery* const nursery = janus_nursery_open(nullptr, &options);
      if (!CHECK(nursery != nullptr)) return;
      static janus_channel* channel;
      channel = janus_channel_create(1, 0);
      char byte = 0;
      spawn(
          nursery, [](void* to) -> std::int64_t { return janus_channel_recv(channel, to); }, &byte);
      spawn(nursery, [](void*) -> std::int64_t { return janus_channel_send(channel, "x"); });
      CHECK_EQ(end(nursery), 0);
      CHECK_EQ(byte, 'x');
      janus_channel_release(channel);
    }
  });
}

// A thread outside tasks spawns there, too. That all wait, some of them unstarted, is a deadlock.
TEST(gate, a_deadlock_behind_it_is_found) {
  const janus_rt_config config = with_workers(2);
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return;
  janus_nursery_options options = {};
  options.size = sizeof options;
  options.max_running = 2;
  janus_nursery* const nursery = janus_nursery_open(rt, &options);
  for (int i = 0; i < 5; ++i) CHECK_NE(spawn(nursery, park_until_cancelled).raw, 0u);
  CHECK_EQ(janus_nursery_await(nursery, nullptr), JANUS_E_DEADLOCK);
  CHECK_EQ(janus_nursery_destroy(nursery), 0);
  janus_rt_destroy(rt);
}

}  // namespace

}  // namespace janus::test
