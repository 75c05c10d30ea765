// SPDX-License-Identifier: Apache-2.0
// yield_queue_model_test.cpp — every interleaving of an owner's short program with thieves on
// rt/sched/yield_queue.{h,cpp}: each entry is taken once or still there, and the owner takes the remaining ones in the
// order of its pushes, also while the ring is replaced, with a heavy fence and without.
#include "rt/sched/yield_queue.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"
#include "tests/models/taken.h"

namespace {

using janus::Runnable;
using janus::YieldQueue;
using janus::model::Fences;
using janus::model::require;
using janus::model::Taken;

// 'p': push, 't': take, 'y': take, and push the taken entry again, 'z': the same in the two steps of a task that
// yields. Each thief tries `steals` times.
struct YieldQueueWorld {
  const char* program;
  unsigned thieves;
  int steals;
  unsigned log2_capacity;
  YieldQueue queue{};
  Taken taken{};
  // The order of the pushes.
  std::uint8_t pushed = 0, last = 0;
  std::uint8_t turn_of[8] = {};

  unsigned threads() const { return 1 + thieves; }
  void begin() { require(queue.init(log2_capacity), "there is memory"); }

  void run(unsigned thread) {
    if (thread == 0) return own();
    for (int i = 0; i < steals; ++i) {
      Runnable* stolen[4];
      const std::size_t count = queue.steal(stolen, 4);
      for (std::size_t k = 0; k < count; ++k) taken.take(stolen[k]);
    }
  }

  void own() {
    for (const char* what = program; *what != '\0'; ++what) {
      if (*what == 'p') push(taken.next());
      if (*what == 't') leave_with(in_turn(queue.take()));
      if (*what == 'y') {
        if (Runnable* const first = in_turn(queue.take())) push(first);
      }
      if (*what == 'z') {
        Runnable* const first = in_turn(queue.take<janus::Path::kFast>());
        if (first == nullptr) continue;
        turn_of[Taken::number(first)] = ++pushed;
        queue.reserve_tail(first);
        queue.commit_tail();
      }
    }
  }
  void push(Runnable* runnable) {
    turn_of[Taken::number(runnable)] = ++pushed;
    require(queue.push(runnable), "there is room");
  }
  Runnable* in_turn(Runnable* first) {
    if (first == nullptr) return nullptr;
    const std::uint8_t turn = turn_of[Taken::number(first)];
    require(turn > last, "first in, first out");
    last = turn;
    return first;
  }
  void leave_with(Runnable* runnable) {
    if (runnable != nullptr) taken.take(runnable);
  }

  void end() {
    while (Runnable* const rest = in_turn(queue.take())) taken.take(rest);
    taken.require_all();
  }
};

constexpr const char* kPrograms[] = {"pt",    "pptt",   "ppyt",   "pppttt", "pptptt",
                                     "ppyyt", "pppytt", "pppptt", "ptptpt", "pyyt"};

bool goes_well(const char* program, unsigned thieves, int steals, Fences fences, unsigned log2_capacity = 2) {
  return janus::model::goes_well<YieldQueueWorld>(program, fences, program, thieves, steals, log2_capacity);
}

TEST(yield_queue_model, an_owner_and_a_thief) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 1, 3, Fences::kHeavy));
}

TEST(yield_queue_model, an_owner_and_two_thieves) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 2, 1, Fences::kHeavy));
}

TEST(yield_queue_model, a_task_that_yields) {
  for (const char* program : {"pzt", "ppzt", "ppzzt", "pppztz"}) REQUIRE(goes_well(program, 1, 2, Fences::kHeavy));
}

TEST(yield_queue_model, a_ring_that_is_replaced) {
  for (const char* program : {"pppt", "pptptpt", "ppptyt"}) {
    REQUIRE(goes_well(program, 1, 2, Fences::kHeavy, 1));
    REQUIRE(goes_well(program, 2, 1, Fences::kHeavy, 1));
  }
}

TEST(yield_queue_model, without_a_heavy_fence) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 1, 2, Fences::kOwn));
}

}  // namespace
