// SPDX-License-Identifier: Apache-2.0
// deque_model_test.cpp — every interleaving of an owner's short program with thieves on rt/sched/deque.{h,cpp}: each
// entry is taken once or still there, also while the ring grows, with a heavy fence and without.
#include "rt/sched/deque.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"
#include "tests/models/taken.h"

namespace {

using janus::Deque;
using janus::Entry;
using janus::model::Fences;
using janus::model::Taken;

// 'p': push, 'o': pop, 'q': pop as with a heavy fence, 't': take the oldest. Each thief tries `steals` times.
struct DequeWorld {
  const char* program;
  unsigned thieves;
  int steals;
  Deque deque{};
  Taken taken{};

  unsigned threads() const { return 1 + thieves; }
  void begin() { janus::model::require(deque.init(1), "there is memory"); }

  void run(unsigned thread) {
    if (thread == 0) return own();
    for (int i = 0; i < steals; ++i) {
      Entry entry;
      if (deque.steal(entry) == Deque::Steal::kTaken) taken.take(entry.runnable());
    }
  }
  void own() {
    for (const char* what = program; *what != '\0'; ++what) {
      Entry entry;
      if (*what == 'p') janus::model::require(deque.push(Entry::fresh(taken.next())), "there is room");
      if (*what == 'o') entry = deque.pop();
      if (*what == 'q') entry = deque.pop<janus::Path::kFast>();
      if (*what == 't') entry = deque.take_oldest();
      if (entry) taken.take(entry.runnable());
    }
  }
  void end() {
    while (const Entry entry = deque.pop()) taken.take(entry.runnable());
    taken.require_all();
  }
};

constexpr const char* kPrograms[] = {"po",     "poo",    "pooppo", "ppoo",   "ppopoo", "popopo",
                                     "pppooo", "ptpoto", "pptoo",  "popppo", "ppppoo", "poptpo"};

bool goes_well(const char* program, unsigned thieves, int steals, Fences fences) {
  return janus::model::goes_well<DequeWorld>(program, fences, program, thieves, steals);
}

TEST(deque_model, an_owner_and_a_thief) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 1, 2, Fences::kHeavy));
}

TEST(deque_model, an_owner_and_two_thieves) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 2, 1, Fences::kHeavy));
}

TEST(deque_model, the_pop_of_a_fast_path) {
  for (const char* program : {"pq", "pqq", "ppqq", "pqppq", "pppqqq", "ptpqtq"})
    REQUIRE(goes_well(program, 1, 2, Fences::kHeavy));
}

TEST(deque_model, without_a_heavy_fence) {
  for (const char* program : kPrograms) REQUIRE(goes_well(program, 1, 2, Fences::kOwn));
}

}  // namespace
