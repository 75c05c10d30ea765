// SPDX-License-Identifier: Apache-2.0
// tests/api/world.h — isolated runtimes for tests, so that one source runs as shipped, on a libc and under
// every sanitizer, with any number of workers, deterministic or not. Sees rt.h alone.
#pragma once

#include <janus/rt.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "rt/platform.h"
#include "tests/harness/scale.h"
#include "tests/harness/tasks.h"
#include "tests/harness/test.h"

namespace janus::test {

inline constexpr std::uint32_t kTaskStack = kIsWatched ? 65536 : 0;  // instrumented frames are large

inline janus_rt_config with_workers(unsigned workers) {
  janus_rt_config config = {};
  config.worker_count = workers;
  config.flags = JANUS_RT_NO_PIN;
  config.stack_size = kTaskStack;
  return config;
}
inline janus_rt_config deterministic(unsigned workers, std::uint64_t seed) {
  janus_rt_config config = with_workers(workers);
  config.flags |= JANUS_RT_DETERMINISTIC;
  config.deterministic_seed = seed;
  return config;
}

// All that there is, but for these.
inline janus_budget budget_of(std::uint32_t ops, std::size_t memory = 4 << 20) {
  janus_budget budget = JANUS_BUDGET_ALL;
  budget.ops = ops;
  budget.memory = memory;
  return budget;
}

// Calls the closure at `closure`; returns 0 if it returns nothing.
template <class Closure>
std::int64_t call_closure(void* closure) {
  if constexpr (std::is_void_v<decltype((*static_cast<Closure*>(closure))())>) {
    (*static_cast<Closure*>(closure))();
    return 0;
  } else {
    return (*static_cast<Closure*>(closure))();
  }
}

// Runs `body` as the root task of a runtime of its own; returns its result, and the runtime's counters.
template <class Body>
long run_in(const janus_rt_config& config, Body body, janus_stats* stats = nullptr) {
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return JANUS_E_NO_MEMORY;
  const long result = janus_rt_run(rt, call_closure<Body>, &body);
  if (stats != nullptr) *stats = stats_of(rt);
  janus_rt_destroy(rt);
  return result;
}

// Runs `body` with several numbers of workers, and from several seeds; fewer where each takes long (scaled()).
template <class Body>
void on_any_workers(Body body) {
  const auto times = static_cast<unsigned>(scaled(4, 2));
  for (unsigned i = 0; i < times; ++i) run_in(with_workers(times == 4 ? 1u << i : 1 + 3 * i), body);
  for (std::uint64_t seed = 0; seed <= times; ++seed) run_in(deterministic(4, seed), body);
}

// Runs `body` in deterministic mode: the order of what happens is that of the seed.
template <class Body>
void expect_order_by_seed(unsigned workers, Body body) {
  const auto order = [&](std::uint64_t seed) {
    janus_stats stats = {};
    run_in(deterministic(workers, seed), body, &stats);
    return stats.order_hash;
  };
  const std::uint64_t first = order(1);
  CHECK_EQ(order(1), first);
  CHECK_NE(order(2), first);
}

// A nursery that the calling task opens. Closures that it spawns live on the caller's stack until end().
class Scope {
 public:
  explicit Scope(std::uint32_t on_error = JANUS_ON_ERROR_CANCEL,
                 std::uint32_t on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND, janus_budget budget = {}) {
    nursery_ = open_nursery(on_error, on_exhaustion, budget);
    CHECK(nursery_ != nullptr);
  }
  template <class Closure>
  janus_task go(Closure& closure, std::uint64_t flags = 0, janus_budget budget = {}) {
    return go(call_closure<Closure>, &closure, flags, budget);
  }
  janus_task go(janus_task_fn fn, void* arg, std::uint64_t flags = 0, janus_budget budget = {}) {
    return spawn(nursery_, fn, arg, flags, budget);
  }
  long await(janus_result* result = nullptr) { return janus_nursery_await(nursery_, result); }
  long end(janus_result* result = nullptr) { return test::end(nursery_, result); }
  int cancel() { return janus_nursery_cancel(nursery_); }
  janus_nursery* get() const { return nursery_; }

 private:
  janus_nursery* nursery_;
};

// A child that continues after it was told to end, until the test lets it end.
struct Stubborn {
  std::int64_t operator()() {
    std::atomic<std::uint32_t> nobody{0};
    began.store(true);
    for (unsigned i = 1; !may_end.load(); ++i) {
      janus_yield();
      // Its grace is counted in yields, and the thread that lets it end may not have a CPU now.
      if (i % 256 == 0) platform::wait(nobody, 0, platform::now_ns() + 10'000'000);
    }
    return 0;
  }

  std::atomic<bool> began{false}, may_end{false};
};

// Random choices for tests: SplitMix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(next() % limit); }

 private:
  std::uint64_t state_;
};

}  // namespace janus::test
