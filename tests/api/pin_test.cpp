// SPDX-License-Identifier: Apache-2.0
// janus_task_pin: a pinned task stays on its worker, whatever it waits for and whoever wakes it.
#include <janus/sync.h>

#include "tests/api/world.h"
#include "tests/harness/thread_group.h"

namespace janus::test {

namespace {

// The worker that runs the caller, as its slot has it.
const void* worker_here() {
  const void* self = nullptr;
  asm volatile("mov %%gs:0, %0" : "=r"(self));
  return self;
}

// Keeps a worker busy for some microseconds, so that others steal what it has queued.
void be_busy() {
  for (int i = 0; i < 100; ++i) __builtin_ia32_pause();
}

constexpr int kRounds = 200;

TEST(pin, a_pinned_task_stays_on_its_worker_while_others_move) {
  on_any_workers([] {
    const int rounds = scaled(kRounds, 20);
    std::atomic<int> left{0}, moves{0};
    janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 0);
    janus_mutex mutex = {};
    auto send = [&] {
      for (std::uint64_t i = 0; left.load() != 0; ++i) {
        be_busy();
        if (janus_channel_send(channel, &i) != 0) break;
      }
    };
    auto compute = [&] {
      const void* before = worker_here();
      while (left.load() != 0) {
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        CHECK_EQ(janus_yield(), 0);
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
        be_busy();
        moves.fetch_add(worker_here() != before ? 1 : 0);
        before = worker_here();
      }
    };
    auto pinned = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      for (int i = 0; i < rounds; ++i) {
        std::uint64_t word = 0;
        CHECK_EQ(janus_channel_recv(channel, &word), 0);
        CHECK(worker_here() == home);
        CHECK_EQ(janus_yield(), 0);
        CHECK(worker_here() == home);
        CHECK_EQ(janus_mutex_lock(&mutex), 0);
        CHECK(worker_here() == home);
        CHECK_EQ(janus_mutex_unlock(&mutex), 0);
        if (i % 8 == 0) CHECK_EQ(janus_sleep_ns(1000), 0);
        CHECK(worker_here() == home);
        janus_select_case cases[2] = {{channel, &word, JANUS_RECV, 0}, {nullptr, nullptr, JANUS_RECV, 0}};
        CHECK_EQ(janus_select(cases, 2, -1), 0);
        CHECK(worker_here() == home);
        auto child = [] { be_busy(); };
        Scope scope;
        scope.go(child);
        CHECK_EQ(scope.end(), 0);
        CHECK(worker_here() == home);
      }
      if (left.fetch_sub(1) == 1) CHECK_EQ(janus_channel_close(channel), 0);
    };
    constexpr int kPinned = 3;
    left.store(kPinned);
    Scope scope;
    for (int i = 0; i < kPinned; ++i) scope.go(pinned);
    for (int i = 0; i < 4; ++i) scope.go(send);
    for (int i = 0; i < 4; ++i) scope.go(compute);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
  });
}

TEST(pin, pins_are_counted) {
  on_any_workers([] {
    CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
    for (int i = 0; i < 1000; ++i) CHECK_EQ(janus_task_pin(), 0);
    const void* const home = worker_here();
    CHECK_EQ(stats_of().tasks_pinned, 1u);
    for (int i = 0; i < 999; ++i) CHECK_EQ(janus_task_unpin(), 0);
    CHECK_EQ(stats_of().tasks_pinned, 1u);
    Scope scope;
    auto yields = [] {
      for (int i = 0; i < 50; ++i) CHECK_EQ(janus_yield(), 0);
    };
    for (int i = 0; i < 10; ++i) scope.go(yields);
    for (int i = 0; i < 50; ++i) {
      CHECK_EQ(janus_yield(), 0);
      CHECK(worker_here() == home);
    }
    CHECK_EQ(scope.end(), 0);
    CHECK(worker_here() == home);
    CHECK_EQ(janus_task_unpin(), 0);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
    CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
    // From here on it is a task as any other, on the fast paths, too.
    Scope after;
    for (int i = 0; i < 10; ++i) after.go(yields);
    for (int i = 0; i < 50; ++i) CHECK_EQ(janus_yield(), 0);
    CHECK_EQ(after.end(), 0);
  });
}

// With one worker all children would run in their parent's place otherwise.
TEST(pin, a_pinned_task_runs_no_child_in_its_place) {
  run_in(with_workers(1), [] {
    CHECK_EQ(janus_task_pin(), 0);
    const std::uint64_t before = stats_of().tasks_inline;
    CHECK(janus_nursery_create() != nullptr);
    for (int i = 0; i < 10; ++i) CHECK_EQ(janus_nursery_spawn(return_zero, nullptr), 0);
    CHECK_EQ(janus_nursery_await_all(), 0);
    Scope scope;
    for (int i = 0; i < 10; ++i) scope.go(return_zero, nullptr);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_fork_join(return_zero, nullptr, return_zero, nullptr, nullptr), 0);
    CHECK_EQ(stats_of().tasks_inline, before);
    // A half that pins is its task.
    CHECK_EQ(janus_task_unpin(), 0);
    const auto pin = [](void*) -> std::int64_t { return janus_task_pin(); };
    CHECK_EQ(janus_fork_join(pin, nullptr, return_zero, nullptr, nullptr), 0);
    CHECK_EQ(stats_of().tasks_inline, before);
    CHECK_EQ(janus_task_unpin(), 0);
  });
}

// A child that runs in its parent's place pins itself alone.
TEST(pin, a_pin_ends_with_its_task) {
  on_any_workers([] {
    auto child = [] {
      CHECK_EQ(janus_task_pin(), 0);
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      for (int i = 0; i < 3; ++i) CHECK_EQ(janus_yield(), 0);
      CHECK(worker_here() == home);
    };
    for (int i = 0; i < 20; ++i) {
      Scope scope;
      for (int n = 0; n < 5; ++n) scope.go(child);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(stats_of().tasks_pinned, 0u);
      CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
    }
  });
}

// What a task leaves behind ends on its thread.
TEST(pin, destructors_of_local_values_run_pinned) {
  on_any_workers([] {
    static std::atomic<const void*> where;
    static std::atomic<int> destroyed;
    destroyed.store(0);
    janus_local_key key = {};
    CHECK_EQ(janus_local_new(&key,
                             [](void*) {
                               CHECK_EQ(janus_yield(), 0);
                               CHECK(worker_here() == where.load());
                               destroyed.fetch_add(1);
                             }),
             0);
    auto task = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      where.store(worker_here());
      CHECK_EQ(janus_local_set(key, &where), 0);
    };
    Scope scope;
    scope.go(task);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(destroyed.load(), 1);
    CHECK_EQ(janus_local_delete(key), 0);
  });
}

TEST(pin, a_cancel_ends_the_waits_of_a_pinned_task) {
  on_any_workers([] {
    std::atomic<int> ready{0};
    janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 0);
    auto receives = [&]() -> std::int64_t {
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      ready.fetch_add(1);
      std::uint64_t word = 0;
      CHECK_EQ(janus_channel_recv(channel, &word), JANUS_CANCELLED);
      CHECK(worker_here() == home);
      CHECK_EQ(janus_task_unpin(), 0);
      CHECK_EQ(janus_task_pin(), 0);
      return JANUS_CANCELLED;
    };
    auto parks = [&]() -> std::int64_t {
      CHECK_EQ(janus_task_pin(), 0);
      ready.fetch_add(1);
      return janus_park(-1);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 4; ++i) scope.go(receives);
    for (int i = 0; i < 4; ++i) scope.go(parks);
    CHECK(eventually([&] { return ready.load() == 8; }));
    CHECK_EQ(scope.cancel(), 0);
    CHECK_EQ(scope.end(), JANUS_CANCELLED);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
    janus_channel_release(channel);
  });
}

TEST(pin, a_panic_of_a_pinned_task_ends_it_alone) {
  on_any_workers([] {
    auto panics = []() -> std::int64_t {
      CHECK_EQ(janus_task_pin(), 0);
      CHECK(janus_nursery_create() != nullptr);
      CHECK_EQ(janus_nursery_spawn(yield_until_cancelled, nullptr), 0);
      CHECK_EQ(janus_yield(), 0);
      janus_task_panic("pinned");
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    for (int i = 0; i < 4; ++i) scope.go(panics);
    CHECK_EQ(scope.end(), JANUS_PANIC);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
  });
}

// The pins that a half has made end with it, if it is ended by force; those that its task had before stay.
TEST(pin, a_half_that_panics_takes_its_own_pins_with_it) {
  on_any_workers([] {
    const auto pins_and_panics = [](void*) -> std::int64_t {
      CHECK_EQ(janus_task_pin(), 0);
      CHECK_EQ(janus_task_pin(), 0);
      janus_task_panic("a half");
    };
    janus_result results[2];
    CHECK_EQ(janus_fork_join(pins_and_panics, nullptr, return_zero, nullptr, results), JANUS_PANIC);
    CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
    CHECK_EQ(janus_task_pin(), 0);
    const void* const home = worker_here();
    CHECK_EQ(janus_fork_join(pins_and_panics, nullptr, return_zero, nullptr, results), JANUS_PANIC);
    auto yields = [] {
      for (int i = 0; i < 50; ++i) CHECK_EQ(janus_yield(), 0);
    };
    Scope scope;
    for (int i = 0; i < 10; ++i) scope.go(yields);
    CHECK_EQ(scope.end(), 0);
    CHECK(worker_here() == home);
    CHECK_EQ(janus_task_unpin(), 0);
    CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
  });
}

TEST(pin, a_cage_needs_the_right_to_pin) {
  on_any_workers([] {
    auto tries = [] {
      CHECK_EQ(janus_task_pin(), JANUS_E_NO_CAP);
      CHECK_EQ(janus_task_unpin(), JANUS_E_STATE);
    };
    auto pins = [] {
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      for (int i = 0; i < 20; ++i) CHECK_EQ(janus_yield(), 0);
      CHECK(worker_here() == home);
    };
    Scope plain(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget_of(100000, 1 << 20));
    for (int i = 0; i < 3; ++i) plain.go(tries);
    CHECK_EQ(plain.end(), 0);
    janus_nursery_options options = {};
    options.budget = budget_of(1000000, 1 << 20);
    options.cap = janus_cap_derive(janus_cap_root(nullptr), JANUS_CAP_SPAWN | JANUS_CAP_PIN, {});
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    for (int i = 0; i < 3; ++i) CHECK_NE(spawn(cage, call_closure<decltype(pins)>, &pins).raw, 0u);
    auto beside = [] {
      for (int i = 0; i < 100; ++i) CHECK_EQ(janus_yield(), 0);
    };
    Scope scope;
    scope.go(beside);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(end(cage), 0);
    CHECK_EQ(stats_of().tasks_pinned, 0u);
  });
}

// Pinned tasks that compute, others that compute, and a cage, all on one worker: each comes to its end while the others
// go on for ever.
TEST(pin, nobody_starves_beside_pinned_tasks) {
  run_in(with_workers(1), [] {
    std::atomic<bool> is_over{false};
    auto compute = [&] {
      while (!is_over.load()) CHECK_EQ(janus_yield_check(64), 0);
    };
    auto compute_pinned = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      compute();
    };
    auto count = [](std::atomic<int>& counter) {
      for (int i = 0; i < 30; ++i) {
        for (int n = 0; n < 100; ++n) CHECK_EQ(janus_yield_check(64), 0);
        counter.fetch_add(1);
      }
    };
    std::atomic<int> plain{0}, pinned{0}, caged{0};
    auto count_plain = [&] { count(plain); };
    auto count_pinned = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      count(pinned);
    };
    auto count_caged = [&] { count(caged); };
    Scope endless, ends, cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(10000000, 1 << 20));
    for (int i = 0; i < 3; ++i) endless.go(compute);
    for (int i = 0; i < 3; ++i) endless.go(compute_pinned);
    ends.go(count_plain);
    ends.go(count_pinned);
    cage.go(count_caged);
    CHECK_EQ(ends.end(), 0);
    CHECK_EQ(cage.end(), 0);
    is_over.store(true);
    CHECK_EQ(endless.end(), 0);
    CHECK_EQ(plain.load() + pinned.load() + caged.load(), 90);
  });
}

// All workers but one stay busy without giving way, and the pinned task's sleeps.
TEST(pin, its_sleeping_worker_is_woken) {
  run_in(with_workers(4), [] {
    for (int i = 0; i < scaled(200, 20); ++i) {
      std::atomic<bool> is_pinned{false};
      auto pinned = [&] {
        CHECK_EQ(janus_task_pin(), 0);
        const void* const home = worker_here();
        is_pinned.store(true);
        CHECK_EQ(janus_park(-1), 0);
        CHECK(worker_here() == home);
      };
      Scope scope;
      const janus_task task = scope.go(pinned);
      CHECK(eventually([&] { return is_pinned.load(); }));
      if (i % 2 == 0) CHECK_EQ(janus_sleep_ns(20'000), 0);  // its worker falls asleep
      CHECK_EQ(janus_unpark(task), 0);
      CHECK_EQ(scope.end(), 0);
    }
  });
}

TEST(pin, a_thread_outside_wakes_a_pinned_task) {
  for (const janus_rt_config& config : {with_workers(1), with_workers(3), deterministic(4, 7)}) {
    constexpr std::uint32_t kTimes = 50;
    std::atomic<std::uint64_t> handle{0};
    std::atomic<std::uint32_t> asked{0}, woken{0};
    const auto wait_for = [](std::atomic<std::uint32_t>& word, std::uint32_t wanted) {
      for (std::uint32_t seen; (seen = word.load()) != wanted;) platform::wait(word, seen, platform::kForever);
    };
    auto wakes = [&] {
      for (std::uint32_t i = 1; i <= kTimes; ++i) {
        wait_for(asked, i);
        CHECK_EQ(janus_unpark({handle.load()}), 0);
        woken.store(i);
      }
    };
    ThreadGroup threads;
    threads.start(wakes);
    run_in(config, [&] {
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      handle.store(janus_task_self().raw);
      for (std::uint32_t i = 1; i <= kTimes; ++i) {
        asked.store(i);
        platform::wake(asked, 1);
        // The first time the thread may not have woken anybody yet, and then it would count as a deadlock to wait.
        if (i == 1) CHECK(eventually([&] { return woken.load() == 1; }));
        CHECK_EQ(janus_park(-1), 0);
        CHECK(worker_here() == home);
      }
    });
    threads.join();
  }
}

TEST(pin, the_order_of_pinned_tasks_comes_from_the_seed) {
  expect_order_by_seed(4, [] {
    janus_channel* const channel = janus_channel_create(sizeof(std::uint64_t), 1);
    auto pinned = [&] {
      CHECK_EQ(janus_task_pin(), 0);
      const void* const home = worker_here();
      for (std::uint64_t i = 0; i < 10; ++i) {
        CHECK_EQ(janus_channel_send(channel, &i), 0);
        CHECK_EQ(janus_yield(), 0);
        CHECK(worker_here() == home);
      }
    };
    auto receives = [&] {
      for (std::uint64_t i = 0, word = 0; i < 40; ++i) CHECK_EQ(janus_channel_recv(channel, &word), 0);
    };
    Scope scope;
    for (int i = 0; i < 4; ++i) scope.go(pinned);
    scope.go(receives);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
  });
}

}  // namespace

}  // namespace janus::test
