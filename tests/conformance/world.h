// SPDX-License-Identifier: Apache-2.0
// tests/conformance/world.h — isolated runtimes for tests, so that one source runs as shipped, on a libc and under
// every sanitizer, with any number of workers, free or deterministic. Sees rt.h alone.
#pragma once

#include <janus/rt.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "rt/platform.h"
#include "rt/sched/fiber_hooks.h"
#include "tests/harness/task_functions.h"
#include "tests/harness/test.h"

namespace janus::test {

#ifdef JANUS_FIBERS_ARE_WATCHED
inline constexpr bool kIsWatched = true;
inline constexpr std::uint32_t kTaskStack = 65536;  // instrumented frames are large
#else
inline constexpr bool kIsWatched = false;
inline constexpr std::uint32_t kTaskStack = 0;
#endif

// How much a test does: less where a sanitizer, or an emulated processor (JANUS_TEST_FEW), makes all ten times slower.
inline int scaled(int amount, int few) {
  return kIsWatched || environment_number("JANUS_TEST_FEW", 0) != 0 ? few : amount;
}

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

// Calls what `closure` points to; one that gives nothing gives 0.
template <class Closure>
std::int64_t call_closure(void* closure) {
  if constexpr (std::is_void_v<decltype((*static_cast<Closure*>(closure))())>) {
    (*static_cast<Closure*>(closure))();
    return 0;
  } else {
    return (*static_cast<Closure*>(closure))();
  }
}

inline janus_stats stats_of(janus_rt* rt = nullptr) {
  janus_stats stats = {};
  stats.size = sizeof stats;
  janus_rt_stats(rt, &stats);
  return stats;
}

// Runs `body` as the root task of a runtime of its own; its result, and what the runtime counted.
template <class Body>
long run_in(const janus_rt_config& config, Body body, janus_stats* stats = nullptr) {
  janus_rt* const rt = janus_rt_create(&config);
  if (!CHECK(rt != nullptr)) return JANUS_E_NO_MEMORY;
  const long result = janus_rt_run(rt, call_closure<Body>, &body);
  if (stats != nullptr) *stats = stats_of(rt);
  janus_rt_destroy(rt);
  return result;
}

// A nursery that the calling task opens. Closures that it spawns live on the caller's stack until end().
class Scope {
 public:
  explicit Scope(std::uint32_t on_error = JANUS_ON_ERROR_CANCEL,
                 std::uint32_t on_exhaustion = JANUS_ON_EXHAUSTION_SUSPEND, janus_budget budget = {}) {
    janus_nursery_options options = {};
    options.on_error = on_error;
    options.on_exhaustion = on_exhaustion;
    options.budget = budget;
    nursery_ = janus_nursery_open(nullptr, &options);
    CHECK(nursery_ != nullptr);
  }
  template <class Closure>
  janus_task go(Closure& closure, std::uint64_t flags = 0, janus_budget budget = {}) {
    return go(call_closure<Closure>, &closure, flags, budget);
  }
  janus_task go(janus_task_fn fn, void* arg, std::uint64_t flags = 0, janus_budget budget = {}) {
    janus_spawn_options options = {};
    options.flags = flags;
    options.budget = budget;
    return janus_nursery_spawn_in(nursery_, fn, arg, &options);
  }
  long await(janus_result* result = nullptr) { return janus_nursery_await(nursery_, result); }
  long end(janus_result* result = nullptr) {
    const long status = janus_nursery_await(nursery_, result);
    CHECK_EQ(janus_nursery_destroy(nursery_), 0);
    return status;
  }
  int cancel() { return janus_nursery_cancel(nursery_); }
  janus_nursery* get() const { return nursery_; }

 private:
  janus_nursery* nursery_;
};

inline std::int64_t return_arg(void* value) {
  return reinterpret_cast<std::intptr_t>(value);
}
inline void* as_arg(std::int64_t value) {
  return reinterpret_cast<void*>(static_cast<std::intptr_t>(value));
}

// Lets others run until `condition` holds; false if it does not in a time that is long for any machine.
template <class Condition>
bool eventually(Condition condition) {
  const std::uint64_t patience = janus::platform::now_ns() + 60'000'000'000;
  while (!condition()) {
    if (janus_yield() < 0 || janus::platform::now_ns() > patience) return condition();
  }
  return true;
}

// A child that goes on after it was told to end, until the test lets it end.
struct Stubborn {
  std::int64_t operator()() {
    std::atomic<std::uint32_t> nobody{0};
    began.store(true);
    for (unsigned i = 1; !may_end.load(); ++i) {
      janus_yield();
      // Its grace is counted in yields, and who is to let it end may not have a CPU just now.
      if (i % 256 == 0) platform::wait(nobody, 0, platform::now_ns() + 10'000'000);
    }
    return 0;
  }

  std::atomic<bool> began{false}, may_end{false};
};

// For choices that a test makes: SplitMix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
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
