// SPDX-License-Identifier: Apache-2.0
// numbered_test.cpp — sets in the order of numbers.
#include "rt/base/numbered.h"

#include "tests/harness/test.h"

namespace janus::test {

namespace {

struct Thing : Numbered {
  bool is_in = false;
};

unsigned depth_of(const Numbered* at) {
  if (at == nullptr) return 0;
  const unsigned lower = depth_of(at->lower), higher = depth_of(at->higher);
  return 1 + (lower > higher ? lower : higher);
}

constexpr unsigned kThings = 600;
Thing things[kThings + 1];

// What the set says, compared with a look at all things.
void check_all(const NumberedSet<Thing>& set, unsigned last) {
  Thing* before = nullptr;
  for (unsigned number = 0; number <= last; ++number) {
    const bool is_in = number != 0 && things[number].is_in;
    CHECK(set.find(number) == (is_in ? &things[number] : nullptr));
    CHECK(set.before(number) == before);
    if (is_in) before = &things[number];
  }
  Thing* after = nullptr;
  for (unsigned number = last + 1; number-- > 0;) {
    CHECK(set.after(number) == after);
    if (number != 0 && things[number].is_in) after = &things[number];
  }
  CHECK_EQ(set.is_empty(), after == nullptr);
}

}  // namespace

TEST(numbered, it_finds_what_is_there_its_neighbours_and_nothing_else) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    NumberedSet<Thing> set;
    set.salt(seed * 0x9e3779b97f4a7c15);
    for (Thing& thing : things) thing = Thing{};
    Rng rng(seed);
    unsigned last = 0;
    for (unsigned step = 0; step < 3 * kThings; ++step) {
      if (last < kThings && rng.below(3) != 0) {
        Thing& thing = things[++last];
        thing.number = last;
        thing.is_in = true;
        set.add_last(thing);
      } else if (last != 0) {
        Thing& thing = things[1 + rng.below(last)];
        if (thing.is_in) set.remove(thing);
        thing.is_in = false;
      }
      if (step % 37 == 0) check_all(set, last);
    }
    for (unsigned number = 1; number <= last; ++number) {
      if (things[number].is_in) set.remove(things[number]);
      things[number].is_in = false;
    }
    check_all(set, last);
  }
}

TEST(numbered, it_is_not_deep_whatever_is_taken_out) {
  NumberedSet<Thing> set;
  set.salt(77);
  for (unsigned number = 1; number <= kThings; ++number) {
    things[number].number = number;
    set.add_last(things[number]);
  }
  for (unsigned number = 1; number <= kThings; ++number)
    if (number % 4 != 0) set.remove(things[number]);
  const Numbered* root = set.after(0);  // the lowest; the deepest path from the root is no longer than from any
  unsigned deepest = 0;
  for (unsigned number = 4; number <= kThings; number += 4) {
    const unsigned depth = depth_of(&things[number]);
    if (depth > deepest) deepest = depth;
  }
  CHECK(root == &things[4]);
  CHECK(deepest >= 8 && deepest < 32);  // of 150
}

}  // namespace janus::test
