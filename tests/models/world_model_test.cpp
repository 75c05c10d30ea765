// SPDX-License-Identifier: Apache-2.0
// world_model_test.cpp — every interleaving of a requester that stops the world twice, and of workers that run, come to
// checks, sleep, are woken, and call the kernel, on rt/sched/world.h: who has been seen to be safe stays so until the world
// goes on (stopped-is-safe), and the requester is told of each worker that becomes safe. What a worker does around these
// functions is what IdleWorkers::park, call_announced and Scheduler::at_point do.
#include "rt/sched/world.h"

#include "rt/sched/parker.h"
#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::World;
using janus::model::Fences;
using janus::model::require;

// What a worker does, step by step.
enum Step : std::uint8_t {
  kEnd,
  kCheck,  // stands if the world is to stop
  kPark,   // sleeps until the next worker wakes it
  kCall,   // a call of the kernel
  kWake,   // wakes the worker before it
};
constexpr unsigned kMaxSteps = 3, kMaxWorkers = 2;

struct Script {
  Step steps[kMaxSteps + 1];
};

struct StoppedWorld {
  unsigned workers, stops;
  Script scripts[kMaxWorkers];
  World world{};
  World::Standing standings[kMaxWorkers]{};
  janus::Parker parkers[kMaxWorkers]{};
  janus::Atomic<std::uint32_t> work{0}, calls{0};
  bool is_stopped = false;  // no step
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  unsigned threads() const { return workers + 1; }
  void begin() {}

  // A worker's code that nothing may run beside.
  void run_code(unsigned me) {
    require(!is_stopped, "no worker runs while the world is stopped");
    work.store(me, std::memory_order_relaxed);
  }
  void announce(unsigned me) {
    if (world.announce(standings[me])) world.tell_requester();
  }
  void come_back(unsigned me) {
    if (!world.come_back(standings[me])) stand(me);
  }
  void stand(unsigned me) {
    world.stand(standings[me], [this] { world.wait_until_it_goes_on(); });
  }

  void run(unsigned thread) { thread < workers ? live(thread) : stop_all(); }
  void live(unsigned me) {
    for (const Step step : scripts[me].steps) {
      run_code(me);
      if (step == kEnd) break;
      if (step == kCheck && world.is_to_stop()) stand(me);
      if (step == kWake) parkers[me - 1].unpark();
      if (step == kPark) {
        announce(me);
        while (!parkers[me].park(janus::platform::kForever)) {
        }
        come_back(me);
      }
      if (step == kCall) {
        announce(me);
        (void)calls.load(std::memory_order_relaxed);
        come_back(me);
      }
    }
    announce(me);  // it sleeps for good
  }
  void stop_all() {
    for (unsigned i = 0; i < stops; ++i) {
      world.stop();
      for (unsigned worker = 0; worker < workers; ++worker) await(standings[worker]);
      is_stopped = true;
      work.store(kNobody, std::memory_order_relaxed);
      require(work.load(std::memory_order_relaxed) == kNobody, "what the requester has written stays");
      is_stopped = false;
      world.go_on();
    }
  }
  void await(const World::Standing& standing) {
    for (;;) {
      const std::uint32_t seen = world.arrivals();
      if (World::is_safe(standing)) return;
      world.wait_for_arrival(seen, janus::platform::kForever);
    }
  }
  void end() {}
};

// The protocol uses no heavy fence, so it is the same with and without one.
bool goes_well(const char* name, unsigned workers, unsigned stops, Script first, Script second = {}) {
  return janus::model::goes_well<StoppedWorld>(name, Fences::kOwn, workers, stops, first, second);
}

TEST(world_model, one_worker) {
  REQUIRE(goes_well("it comes to checks", 1, 2, {kCheck, kCheck}));
  REQUIRE(goes_well("it calls the kernel", 1, 2, {kCall, kCheck}));
  REQUIRE(goes_well("it calls twice", 1, 2, {kCall, kCall}));
  REQUIRE(goes_well("it only sleeps", 1, 2, {}));
}

TEST(world_model, two_workers) {
  REQUIRE(goes_well("one sleeps until the other wakes it", 2, 1, {kPark}, {kWake}));
  REQUIRE(goes_well("a check, and a call", 2, 1, {kCheck}, {kCall}));
}

TEST(world_model, a_sleeper_is_woken_while_the_world_stops_again) {
  REQUIRE(goes_well("and its waker sleeps for good", 2, 2, {kPark}, {kWake}));
  REQUIRE(goes_well("and its waker calls the kernel", 2, 1, {kPark}, {kWake, kCall}));
}

}  // namespace
