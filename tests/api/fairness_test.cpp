// SPDX-License-Identifier: Apache-2.0
// fairness_test.cpp — no task starves: loops with checks share a worker, and other workers take the tasks behind one
// that never yields.
#include "tests/api/world.h"

namespace janus::test {

TEST(fairness, a_loop_with_checks_lets_others_run_on_one_worker) {
  run_in(with_workers(1), [] {
    std::atomic<bool> stop{false};
    std::atomic<int> looping{0};
    Scope scope;
    auto loop = [&] {
      looping.fetch_add(1);
      while (!stop.load()) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto stopper = [&] {
      while (looping.load() < 3) {
        if (janus_yield() < 0) return JANUS_CANCELLED;
      }
      stop.store(true);
      return 0;
    };
    for (int i = 0; i < 3; ++i) scope.go(loop);
    scope.go(stopper);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(fairness, the_loop_form_lets_others_run_too) {
  run_in(with_workers(1), [] {
    std::atomic<bool> stop{false};
    Scope scope;
    auto loop = [&] {
      std::uint32_t counter = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        if (JANUS_LOOP_CHECK(counter) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto stopper = [&] {
      stop.store(true);
      return 0;
    };
    scope.go(stopper);
    scope.go(loop);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(fairness, a_task_that_never_yields_on_one_of_two_workers_strands_nothing) {
  run_in(with_workers(2), [] {
    std::atomic<bool> stop{false};
    std::atomic<int> done{0}, fresh{0};
    Scope scope;
    janus_task parked[10];
    auto waits = [&] {
      janus_park(-1);
      done.fetch_add(1);
      return 0;
    };
    for (auto& task : parked) task = scope.go(waits);
    // Wakes the ten and spawns ten more on its own worker, then keeps that busy until all are done.
    auto hog = [&] {
      Scope inner(JANUS_ON_ERROR_COLLECT);
      auto child = [&] {
        fresh.fetch_add(1);
        return 0;
      };
      for (int i = 0; i < 10; ++i) inner.go(child);
      for (const janus_task task : parked) janus_unpark(task);
      const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
      while ((done.load() < 10 || fresh.load() < 10) && platform::now_ns() < patience) __builtin_ia32_pause();
      CHECK_EQ(done.load(), 10);
      CHECK_EQ(fresh.load(), 10);
      stop.store(true);
      return inner.end();
    };
    for (int i = 0; i < 50; ++i) janus_yield();
    scope.go(hog);
    CHECK_EQ(scope.end(), 0);
    CHECK(stop.load());
  });
}

TEST(fairness, two_tasks_make_progress_in_turns) {
  for (unsigned workers : {1u, 2u, 4u}) {
    run_in(with_workers(workers), [&] {
      std::atomic<int> first{0}, second{0};
      std::atomic<int> widest{0};
      auto step = [&](std::atomic<int>& mine, std::atomic<int>& other) {
        for (int i = 0; i < 1000; ++i) {
          mine.fetch_add(1);
          const int ahead = mine.load() - other.load();
          const int apart = ahead < 0 ? -ahead : ahead;
          if (apart > widest.load()) widest.store(apart);
          janus_yield();
        }
        return 0;
      };
      auto one = [&] { return step(first, second); };
      auto two = [&] { return step(second, first); };
      Scope scope;
      scope.go(one);
      scope.go(two);
      CHECK_EQ(scope.end(), 0);
      if (workers == 1) CHECK_LE(widest.load(), 3);  // strict alternation, except for the root's turns
    });
  }
}

TEST(fairness, the_oldest_is_not_starved_by_what_is_spawned_last) {
  // Each task spawns its successor, and the newest runs first: without fair rounds the oldest would wait for ever.
  run_in(with_workers(1), [] {
    std::atomic<bool> oldest_ran{false};
    struct Chain {
      janus_nursery* nursery;
      std::atomic<bool>* is_over;
      std::atomic<int> links{0};
      static std::int64_t link(void* pointer) {
        auto& chain = *static_cast<Chain*>(pointer);
        if (chain.is_over->load() || chain.links.fetch_add(1) > 100000) return 0;
        return janus_nursery_spawn_in(chain.nursery, link, pointer, nullptr).raw != 0 ? 0 : -9;
      }
    };
    janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
    Chain chain{nursery, &oldest_ran};
    auto oldest = [&] {
      oldest_ran.store(true);
      return 0;
    };
    janus_nursery_spawn_in(nursery, call_closure<decltype(oldest)>, &oldest, nullptr);
    janus_nursery_spawn_in(nursery, Chain::link, &chain, nullptr);
    CHECK(eventually([&] { return oldest_ran.load(); }));
    CHECK_LT(chain.links.load(), 1000);
    CHECK_GT(stats_of().fair_turns, 0u);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
  });
}

// The root only waits here, so that fair rounds take from the deque alone.
TEST(fairness, every_61st_dispatch_takes_the_oldest) {
  run_in(with_workers(1), [] {
    struct Chain {
      janus_nursery* nursery;
      int links = 0, links_before_oldest = -1;
      static std::int64_t link(void* pointer) {
        auto& chain = *static_cast<Chain*>(pointer);
        if (chain.links_before_oldest >= 0 || ++chain.links > 100000) return 0;
        return janus_nursery_spawn_in(chain.nursery, link, pointer, nullptr).raw != 0 ? 0 : -9;
      }
    };
    Scope scope;
    Chain chain{scope.get()};
    auto oldest = [&] { chain.links_before_oldest = chain.links; };
    const janus_task waiting = scope.go(oldest);
    scope.go(Chain::link, &chain);
    CHECK_EQ(janus_task_join(waiting, nullptr), 0);  // an await would close the nursery
    CHECK_EQ(scope.end(), 0);
    CHECK_GE(chain.links_before_oldest, 10);  // the newest come first
    CHECK_LE(chain.links_before_oldest, 61);
  });
}

namespace {

// The ops of a computing neighbour, and those of others in the same time.
struct Shares {
  std::uint64_t neighbour = 0, others = 0;
  bool is_over = false;
};

// Spends a thousand ops; false: told to end.
bool work(std::uint64_t& spent) {
  for (int i = 0; i < 1000; ++i) {
    if (janus_yield_check(1) < 0) return false;
  }
  spent += 1000;
  return true;
}

// Uses one worker, so plain counters suffice. `start` begins the tasks beside the neighbour, which end with it.
template <class Start>
Shares beside_a_neighbour(Start start) {
  Shares shares;
  run_in(with_workers(1), [&] {
    Scope scope;
    auto neighbour = [&] {
      for (int i = 0; i < 300; ++i) {
        if (!work(shares.neighbour)) return JANUS_CANCELLED;
      }
      shares.is_over = true;
      return 0;
    };
    start(scope, shares);
    scope.go(neighbour);
    CHECK_EQ(scope.end(), 0);
  });
  return shares;
}

}  // namespace

TEST(fairness, a_chain_of_tasks_that_spawn_their_successors_takes_no_more_than_a_task) {
  struct Chain {
    janus_nursery* nursery;
    janus_channel* end;
    Shares* shares;
    static std::int64_t link(void* pointer) {
      auto& chain = *static_cast<Chain*>(pointer);
      if (!work(chain.shares->others)) return JANUS_CANCELLED;
      if (chain.shares->is_over) return janus_channel_close(chain.end);
      return janus_nursery_spawn_in(chain.nursery, link, pointer, nullptr).raw != 0 ? 0 : -9;
    }
  };
  Chain chain{};
  // The nursery takes spawns until it is awaited.
  auto runs_chain = [&] {
    std::uint64_t nothing = 0;
    chain.end = janus_channel_create(8, 1);
    chain.nursery = janus_nursery_open(nullptr, nullptr);
    janus_nursery_spawn_in(chain.nursery, Chain::link, &chain, nullptr);
    (void)janus_channel_recv(chain.end, &nothing);
    const long status = janus_nursery_await(chain.nursery, nullptr);
    janus_channel_release(chain.end);
    return janus_nursery_destroy(chain.nursery) == 0 ? status : -9;
  };
  const Shares shares = beside_a_neighbour([&](Scope& scope, Shares& seen) {
    chain.shares = &seen;
    scope.go(runs_chain);
  });
  CHECK_GT(shares.others, 0u);
  CHECK_LE(shares.others * 2, shares.neighbour * 3);
}

TEST(fairness, two_tasks_that_talk_take_no_more_than_a_task) {
  janus_channel *there = nullptr, *back = nullptr;
  Shares* seen = nullptr;
  auto asks = [&] {
    std::uint64_t word = 0;
    while (!seen->is_over) {
      if (!work(seen->others) || janus_channel_send(there, &word) != 0 || janus_channel_recv(back, &word) != 0)
        return -9;
    }
    return static_cast<int>(janus_channel_close(there));
  };
  auto answers = [&] {
    std::uint64_t word = 0;
    while (janus_channel_recv(there, &word) == 0) {
      if (!work(seen->others) || janus_channel_send(back, &word) != 0) return -9;
    }
    janus_channel_release(there);
    janus_channel_release(back);
    return 0;
  };
  const Shares shares = beside_a_neighbour([&](Scope& scope, Shares& s) {
    seen = &s;
    there = janus_channel_create(8, 0);
    back = janus_channel_create(8, 0);
    scope.go(asks);
    scope.go(answers);
  });
  CHECK_GT(shares.others, 0u);
  CHECK_LE(shares.others * 2, shares.neighbour * 3);
}

namespace {

// A nursery with an explicit budget, and `count` tasks in it that use up their slices. Reserves only as much memory as
// its tasks need, so that a machine with 512 MiB has room for several.
template <class Task>
void run_cage(int count, Task& task, std::size_t memory_per_task = std::size_t{128} << 10) {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.memory = (std::size_t{2} << 20) + static_cast<std::size_t>(count) * memory_per_task;
  Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget);
  for (int i = 0; i < count; ++i) cage.go(task);
  CHECK_EQ(cage.end(), 0);
}

}  // namespace

// A neighbour beside one cage on one worker gets half of the worker, whatever the number of tasks in the cage, and
// frequent turns. Groups share time, which in deterministic mode is ops.
TEST(fairness, a_cage_takes_what_one_task_takes) {
  for (const int count : {1, 10, scaled(1000, 100)}) {
    std::uint64_t longest = 0, beside = 0;
    Shares* seen = nullptr;
    auto spins = [&] {
      while (!seen->is_over) {
        if (!work(seen->others)) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto cage = [&] { return run_cage(count, spins), 0; };
    Shares shares;
    run_in(deterministic(1, 1), [&] {
      seen = &shares;
      Scope scope;
      auto neighbour = [&] {
        for (int i = 0; i < 5; ++i) {
          if (janus_yield() < 0) return JANUS_CANCELLED;
        }
        const std::uint64_t before = shares.others;
        std::uint64_t last = before;
        for (int i = 0; i < 300; ++i) {
          if (!work(shares.neighbour)) return JANUS_CANCELLED;
          if (shares.others - last > longest) longest = shares.others - last;
          last = shares.others;
        }
        beside = shares.others - before;
        shares.is_over = true;
        return 0;
      };
      scope.go(neighbour);
      scope.go(cage);
      CHECK_EQ(scope.end(), 0);
    });
    CHECK_GT(beside, 0u);
    CHECK_LE(beside * 2, shares.neighbour * 3);
    CHECK_LE(longest, 6000u);
  }
}

namespace {

// The ops of others while a neighbour spends 300,000 in deterministic mode, where groups share ops. `attack` runs in a
// cage until `is_over`.
template <class Attack>
Shares beside_a_cage_of(int count, Attack& attack, Shares& shares) {
  auto cage = [&] { return run_cage(count, attack), 0; };
  run_in(deterministic(1, 1), [&] {
    Scope scope;
    auto neighbour = [&] {
      while (shares.others < 1'000'000) {  // until the attack is running
        if (janus_yield_check(1000) < 0) return JANUS_CANCELLED;
      }
      shares.others = 0;
      for (int i = 0; i < 300; ++i) {
        if (!work(shares.neighbour)) return JANUS_CANCELLED;
      }
      shares.is_over = true;
      return 0;
    };
    scope.go(neighbour);
    scope.go(cage);
    CHECK_EQ(scope.end(), 0);
  });
  return shares;
}

}  // namespace

namespace {

// A neighbour that uses the runtime instead of computing, and a task that answers its messages.
struct Pair {
  janus_channel* there = janus_channel_create(8, 1);
  janus_channel* back = janus_channel_create(8, 1);
  int answer() const {
    std::uint64_t word = 0;
    while (janus_channel_recv(there, &word) == 0 && janus_channel_send(back, &word) == 0) continue;
    janus_channel_release(there);
    janus_channel_release(back);
    return 0;
  }
};

bool talk(const Pair& pair) {
  std::uint64_t word = 0;
  return janus_channel_send(pair.there, &word) == 0 && janus_channel_recv(pair.back, &word) == 0;
}

bool give_way(const Pair&) {
  return janus_yield() == 0;
}

bool open_and_spawn(const Pair&) {
  const auto nothing = [](void*) -> std::int64_t { return 0; };
  return janus_nursery_create() != nullptr && janus_nursery_spawn(nothing, nullptr) == 0 &&
         janus_nursery_await_all() == 0;
}

bool take_and_free(const Pair&) {
  janus_free(janus_alloc(64));
  return true;
}

}  // namespace

// A neighbour keeps its share however often it switches to another task of its group.
TEST(fairness, a_neighbour_that_talks_yields_spawns_or_allocates_keeps_its_share_beside_a_cage) {
  for (const auto step : {talk, give_way, open_and_spawn, take_and_free}) {
    Shares shares;
    auto spins = [&] {
      while (!shares.is_over) {
        if (!work(shares.others)) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto cage = [&] { return run_cage(1, spins), 0; };
    run_in(deterministic(1, 1), [&] {
      Pair pair;
      Scope scope;
      auto answers = [&] { return pair.answer(); };
      auto neighbour = [&] {
        while (shares.others < 50'000) {  // until the cage is running
          if (janus_yield_check(1000) < 0) return JANUS_CANCELLED;
        }
        const std::uint64_t others = shares.others, all = stats_of().ops_used;
        for (int i = 0; i < 30'000; ++i) {
          if (!step(pair)) return JANUS_CANCELLED;
        }
        shares.others -= others;
        shares.neighbour = stats_of().ops_used - all - shares.others;
        shares.is_over = true;
        return static_cast<int>(janus_channel_close(pair.there));
      };
      scope.go(answers);
      scope.go(neighbour);
      scope.go(cage);
      CHECK_EQ(scope.end(), 0);
    });
    CHECK_GT(shares.others, 0u);
    CHECK_LE(shares.others * 2, shares.neighbour * 3);
  }
}

// Computing without a check costs no ops, so neither ops nor 61 dispatches end the task's turns, but time does.
TEST(fairness, a_caged_task_that_computes_for_long_between_yields_has_a_turn_for_each) {
  constexpr int kTurns = 30;
  constexpr std::uint64_t kLong = 300'000;  // ns, many times the longest turn
  run_in(with_workers(1), [] {
    int neighbours = 0, in_a_row = 0, longest = 0;
    const auto compute = [] {
      for (const std::uint64_t until = janus_now_ns() + kLong; janus_now_ns() < until;) continue;
    };
    auto computes = [&] {
      while (neighbours < kTurns) {
        compute();
        if (++in_a_row > longest) longest = in_a_row;
        if (janus_yield() < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto cage = [&] { return run_cage(1, computes), 0; };
    auto neighbour = [&] {
      while (neighbours < kTurns) {
        compute();
        ++neighbours;
        in_a_row = 0;
        if (janus_yield() < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    Scope scope;
    scope.go(cage);
    scope.go(neighbour);
    CHECK_EQ(scope.end(), 0);
    CHECK_LT(longest, 30);  // not 1, as the kernel may preempt the thread for a while
  });
}

// A short turn in which the machine takes the worker's CPU may be charged too much, so one of five runs is enough.
TEST(fairness, a_group_with_long_turns_gets_fewer) {
  constexpr int kTurns = 6;
  constexpr std::uint64_t kLong = 30'000'000, kShort = 500'000;  // ns
  const auto has_share = [] {
    int long_turns = 0;
    std::uint64_t beside = 0;
    run_in(with_workers(1), [&] {
      const auto compute = [](std::uint64_t ns) {
        for (const std::uint64_t until = platform::thread_ns() + ns; platform::thread_ns() < until;) continue;
      };
      auto computes = [&] {
        while (long_turns < kTurns) {
          compute(kLong);
          ++long_turns;
          if (janus_yield() < 0) return JANUS_CANCELLED;
        }
        return 0;
      };
      auto cage = [&] { return run_cage(1, computes), 0; };
      auto neighbour = [&] {
        while (long_turns < kTurns) {
          compute(kShort);
          if (long_turns != 0) beside += kShort;
          if (janus_yield() < 0) return JANUS_CANCELLED;
        }
        return 0;
      };
      Scope scope;
      scope.go(cage);
      scope.go(neighbour);
      CHECK_EQ(scope.end(), 0);
    });
    return beside * 4 >= (kTurns - 1) * kLong;
  };
  bool had_share = false;
  for (int round = 0; round < 5 && !had_share; ++round) had_share = has_share();
  CHECK(had_share);
}

// If an operation of a cage costs a hundred slices, the cage gets fewer turns.
TEST(fairness, a_cage_of_expensive_operations_takes_half_of_the_time) {
  constexpr int kDear = 100'000;
  for (const int count : {1, 10, 3000}) {  // most of the last have not even started
    Shares shares;
    auto spends = [&] {
      while (!shares.is_over) {
        shares.others += kDear;
        if (janus_yield_check(kDear) < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    beside_a_cage_of(count, spends, shares);
    CHECK_GT(shares.others, 0u);
    CHECK_LE(shares.others * 2, shares.neighbour * 3);
  }
}

TEST(fairness, a_caged_chain_of_expensive_operations_takes_half_of_the_time) {
  static janus_nursery* nursery;
  static Shares* seen;
  struct Link {
    static std::int64_t run(void*) {
      constexpr int kDear = 100'000;
      seen->others += kDear;
      if (janus_yield_check(kDear) < 0 || seen->is_over) return 0;
      return janus_nursery_spawn_in(nursery, run, nullptr, nullptr).raw != 0 ? 0 : -9;
    }
  };
  Shares shares;
  seen = &shares;
  auto begins = [&] {
    nursery = janus_nursery_open(nullptr, nullptr);
    janus_nursery_spawn_in(nursery, Link::run, nullptr, nullptr);
    while (!shares.is_over) janus_yield();
    return static_cast<int>(janus_nursery_await(nursery, nullptr)) + janus_nursery_destroy(nursery);
  };
  beside_a_cage_of(1, begins, shares);
  CHECK_GT(shares.others, 0u);
  CHECK_LE(shares.others * 2, shares.neighbour * 3);
}

// A neighbour that works once all others are running, and counts their work in the same time.
int work_beside(Shares& shares, std::uint64_t& done_by_others) {
  std::uint64_t ignored = 0;
  while (shares.others < 50'000) {
    if (!work(ignored)) return JANUS_CANCELLED;
  }
  const std::uint64_t before = shares.others;
  for (int i = 0; i < 300; ++i) {
    if (!work(shares.neighbour)) return JANUS_CANCELLED;
  }
  done_by_others = shares.others - before;
  shares.is_over = true;
  return 0;
}

TEST(fairness, cages_in_a_cage_share_its_turns) {
  Shares* seen = nullptr;
  std::uint64_t at_end = 0;
  auto spins = [&] {
    while (!seen->is_over) {
      if (!work(seen->others)) return JANUS_CANCELLED;
    }
    return 0;
  };
  auto inner = [&] {
    janus_budget budget = {};
    budget.ops = 100'000'000;
    budget.memory = std::size_t{1} << 20;
    budget.spawn_count = 1;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_SUSPEND, budget);
    cage.go(spins);
    return static_cast<int>(cage.end());
  };
  auto outer = [&] { return run_cage(20, inner, std::size_t{2} << 20), 0; };
  Shares shares;
  run_in(deterministic(1, 1), [&] {
    seen = &shares;
    Scope scope;
    auto neighbour = [&] { return work_beside(shares, at_end); };
    scope.go(neighbour);
    scope.go(outer);
    CHECK_EQ(scope.end(), 0);
  });
  CHECK_GT(at_end, 0u);
  CHECK_LE(at_end * 2, shares.neighbour * 3);
}

TEST(fairness, each_of_several_cages_takes_what_one_task_takes) {
  constexpr unsigned kCages = 3;
  Shares* seen = nullptr;
  std::uint64_t beside = 0;
  auto spins = [&] {
    while (!seen->is_over) {
      if (!work(seen->others)) return JANUS_CANCELLED;
    }
    return 0;
  };
  auto cage = [&] { return run_cage(1, spins), 0; };
  Shares shares;
  run_in(deterministic(1, 1), [&] {
    seen = &shares;
    Scope scope;
    auto neighbour = [&] { return work_beside(shares, beside); };
    scope.go(neighbour);
    for (unsigned n = 0; n < kCages; ++n) scope.go(cage);
    CHECK_EQ(scope.end(), 0);
  });
  CHECK_GE(beside, shares.neighbour * (kCages - 1));
  CHECK_LE(beside, shares.neighbour * (kCages + 1));
}

namespace {

// A caged task spends 2,000,000 ops alone, `times` times; then a neighbour wakes and spends 300,000, as often.
Shares after_time_alone(const janus_rt_config& config, std::uint64_t times) {
  Shares shares;
  run_in(config, [&] {
    janus_channel* const begun = janus_channel_create(8, 1);
    std::uint64_t word = 0;
    auto spins = [&] {
      while (!shares.is_over) {
        if (!work(shares.others)) return JANUS_CANCELLED;
        if (shares.others == times * 2'000'000 && janus_channel_send(begun, &word) != 0) return 1;
      }
      return 0;
    };
    auto cage = [&] { return run_cage(1, spins), 0; };
    auto neighbour = [&] {
      if (janus_channel_recv(begun, &word) != 0) return 1;
      shares.others = 0;
      for (std::uint64_t i = 0; i < times * 300; ++i) {
        if (!work(shares.neighbour)) return JANUS_CANCELLED;
      }
      shares.is_over = true;
      janus_channel_release(begun);
      return 0;
    };
    Scope scope;
    scope.go(neighbour);
    scope.go(cage);
    CHECK_EQ(scope.end(), 0);
  });
  return shares;
}

}  // namespace

// What a group has spent while no other waited gives none that comes later a claim: else it would wait as long as it has
// run alone. Time that a machine takes from a worker may be charged to either group, so one of five real runs is enough,
// and each is twice as long as the one before: what a busy machine takes is then a smaller part of it.
TEST(fairness, a_group_that_has_run_alone_keeps_its_share_when_another_comes) {
  const auto keeps_share = [](const Shares& shares) { return shares.others * 6 >= shares.neighbour; };
  CHECK(keeps_share(after_time_alone(deterministic(1, 1), 1)));
  bool has_kept = false;
  for (std::uint64_t times = 10; times <= 160 && !has_kept; times *= 2)
    has_kept = keeps_share(after_time_alone(with_workers(1), times));
  CHECK(has_kept);
}

// Nor does what it spends while another group waits that has spent more.
TEST(fairness, a_group_that_catches_up_keeps_its_share_when_another_comes) {
  Shares shares;
  janus_channel* begin = nullptr;
  std::uint64_t word = 0;
  bool is_ahead = false;
  auto spends = [&] {
    is_ahead = true;
    while (!shares.is_over) {
      if (janus_yield_check(3'000'000) < 0) return JANUS_CANCELLED;
    }
    return 0;
  };
  auto comes = [&] {
    if (janus_channel_recv(begin, &word) != 0) return 1;
    while (!shares.is_over) {
      if (!work(shares.others)) return JANUS_CANCELLED;
    }
    return 0;
  };
  auto ahead = [&] { return run_cage(1, spends), 0; };
  auto late = [&] { return run_cage(1, comes), 0; };
  run_in(deterministic(1, 1), [&] {
    auto catches_up = [&] {
      while (!is_ahead || shares.neighbour < 1'000'000) {
        if (!work(shares.neighbour)) return JANUS_CANCELLED;
      }
      if (janus_channel_send(begin, &word) != 0) return 1;
      const std::uint64_t before = shares.neighbour;
      while (shares.others < 300'000) {
        if (!work(shares.neighbour)) return JANUS_CANCELLED;
      }
      shares.neighbour -= before;
      shares.is_over = true;
      return 0;
    };
    begin = janus_channel_create(8, 1);
    Scope scope;
    scope.go(late);
    scope.go(ahead);
    scope.go(catches_up);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(begin);
  });
  CHECK_GE(shares.neighbour, 200'000u);
}

// A crowd that keeps both workers busy leaves several tasks of another group their share of both, although they begin
// on one worker and nobody is idle who could steal them.
TEST(fairness, several_tasks_of_a_group_get_its_share_of_each_worker) {
  for (const bool is_caged : {false, true}) {
    for (const int crowd : {1, 100}) {
      Shares shares;
      std::uint64_t beside = 0, root = 0;
      const auto spin = [&shares](std::uint64_t& ops) {
        while (!shares.is_over) {
          if (!work(ops)) return JANUS_CANCELLED;
        }
        return 0;
      };
      auto attacks = [&] { return spin(shares.others); };
      auto works = [&] { return spin(shares.neighbour); };
      auto group = [&] { return run_cage(8, works), 0; };
      auto cage = [&] { return run_cage(crowd, attacks), 0; };
      std::uint64_t& of_measures = is_caged ? root : shares.neighbour;  // it is of group 0
      auto measures = [&] {
        while (shares.others < 300'000) {
          if (!work(of_measures)) return JANUS_CANCELLED;
        }
        Scope scope;
        if (is_caged) scope.go(group);
        for (int i = 0; i < 8 && !is_caged; ++i) scope.go(works);
        while (shares.neighbour < 100'000) {
          if (!work(of_measures)) return JANUS_CANCELLED;
        }
        const Shares before = shares;
        while (shares.neighbour < before.neighbour + 300'000) {
          if (!work(of_measures)) return JANUS_CANCELLED;
        }
        beside = shares.others - before.others;
        shares.is_over = true;
        return static_cast<int>(scope.end());
      };
      run_in(deterministic(2, 1), [&] {
        Scope scope;
        scope.go(cage);
        scope.go(measures);
        CHECK_EQ(scope.end(), 0);
      });
      CHECK_LE(beside * 2, std::uint64_t{300'000} * 3);
      CHECK_GE(beside * 6, std::uint64_t{300'000});
    }
  }
}

// The rule holds in deterministic mode, too, and the order is the same in each run.
TEST(fairness, turns_of_groups_are_the_same_from_the_same_seed) {
  const auto order = [] {
    janus_stats stats = {};
    Shares shares;
    auto spins = [&] {
      for (int i = 0; i < 20; ++i) {
        if (!work(shares.others)) return JANUS_CANCELLED;
      }
      return 0;
    };
    auto cage = [&] { return run_cage(10, spins), 0; };
    run_in(
        deterministic(4, 11),
        [&] {
          Scope scope;
          for (int i = 0; i < 5; ++i) scope.go(spins);
          for (int i = 0; i < 3; ++i) scope.go(cage);
          CHECK_EQ(scope.end(), 0);
        },
        &stats);
    return stats.order_hash;
  };
  const std::uint64_t first = order();
  for (int i = 0; i < 5; ++i) CHECK_EQ(order(), first);
}

TEST(fairness, cages_on_many_workers_run_each_of_their_tasks_to_its_end) {
  for (unsigned workers : {2u, 4u}) {
    std::atomic<int> ended{0};
    run_in(with_workers(workers), [&] {
      Scope scope;
      auto spins = [&] {
        for (int i = 0; i < 20000; ++i) {
          if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
        }
        ended.fetch_add(1);
        return 0;
      };
      auto cage = [&] { return run_cage(scaled(100, 20), spins), 0; };
      for (int i = 0; i < 8; ++i) scope.go(cage);
      for (int i = 0; i < 8; ++i) scope.go(spins);
      CHECK_EQ(scope.end(), 0);
    });
    CHECK_EQ(ended.load(), 8 * scaled(100, 20) + 8);
  }
}

// A turn begins alternately with the oldest task that has yielded and the oldest of the worker's deque.
TEST(fairness, the_oldest_of_a_cage_does_not_wait_for_all_that_have_yielded) {
  struct Cage {
    janus_nursery* nursery = nullptr;
    bool has_oldest_run = false;
    int yielding = 0, turns = 0, links = 0;

    static std::int64_t link(void* pointer) {
      auto& self = *static_cast<Cage*>(pointer);
      if (self.has_oldest_run || ++self.links > 10'000) return 0;
      for (int i = 0; i < 500; ++i) {
        if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
      }
      return spawn(self.nursery, link, pointer, JANUS_SPAWN_DETACHED).raw != 0 ? 0 : -9;
    }
  };
  constexpr int kYielding = 300;
  Cage cage;
  run_in(deterministic(1, 1), [&] {
    auto yields = [&] {
      ++cage.yielding;
      while (!cage.has_oldest_run) {
        cage.turns += cage.links != 0 ? 1 : 0;
        if (janus_yield() < 0) return JANUS_CANCELLED;
      }
      return 0;
    };
    janus_channel* const ran = janus_channel_create(1, 1);
    char byte = 0;
    auto oldest = [&] {
      cage.has_oldest_run = true;
      return janus_channel_send(ran, &byte);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, JANUS_BUDGET_ALL);
    auto begins = [&] {
      while (cage.yielding < kYielding) {
        if (janus_yield() < 0) return JANUS_CANCELLED;
      }
      scope.go(oldest);
      return spawn(cage.nursery, Cage::link, &cage, JANUS_SPAWN_DETACHED).raw != 0 ? 0 : -9;
    };
    cage.nursery = scope.get();
    for (int i = 0; i < kYielding; ++i) scope.go(yields);
    scope.go(begins);
    CHECK_EQ(janus_channel_recv(ran, &byte), 0);  // an await would close the nursery
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(ran);
  });
  CHECK_GT(cage.links, 0);
  CHECK_LT(cage.turns, 20);
}

namespace {

// A cage that tries to hide a task outside that it has woken: many of the cage's tasks were ready before, and each
// newest one spawns a newer one.
struct Burying {
  janus_nursery* cage;
  janus_channel* channel;
  bool is_over = false;
  int older = 0, newer = 0;

  static std::int64_t be_old(void* self) {
    ++static_cast<Burying*>(self)->older;
    return 0;
  }
  static std::int64_t be_new(void* pointer) {
    auto& self = *static_cast<Burying*>(pointer);
    if (self.is_over || ++self.newer > 100'000) return 0;
    for (int i = 0; i < 500; ++i) {
      if (janus_yield_check(1) < 0) return JANUS_CANCELLED;
    }
    return spawn(self.cage, be_new, pointer, JANUS_SPAWN_DETACHED).raw != 0 ? 0 : -9;
  }
  static std::int64_t bury(void* pointer) {
    auto& self = *static_cast<Burying*>(pointer);
    for (int i = 0; i < 1000; ++i) spawn(self.cage, be_old, pointer, JANUS_SPAWN_DETACHED);
    char byte = 0;
    CHECK_EQ(janus_channel_send(self.channel, &byte), 0);
    return spawn(self.cage, be_new, pointer, JANUS_SPAWN_DETACHED).raw != 0 ? 0 : -9;
  }
};

}  // namespace

TEST(fairness, a_cage_cannot_hide_tasks_that_it_wakes) {
  for (std::uint64_t seed : {1u, 2u, 3u})
    run_in(deterministic(1, seed), [] {
      Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, JANUS_BUDGET_ALL);
      Burying burying{cage.get(), janus_channel_create(1, 0)};
      cage.go(Burying::bury, &burying);
      char byte = 0;
      CHECK_EQ(janus_channel_recv(burying.channel, &byte), 0);
      burying.is_over = true;
      CHECK_LT(burying.newer, 300);  // far fewer than could run first if the woken task were hidden
      CHECK_LT(burying.older, 200);
      CHECK_EQ(cage.end(), 0);
      janus_channel_release(burying.channel);
    });
}

}  // namespace janus::test
