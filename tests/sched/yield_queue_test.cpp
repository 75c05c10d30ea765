// SPDX-License-Identifier: Apache-2.0
// fifo_test.cpp — every runnable is taken exactly once, oldest first by the owner, by halves by thieves. The ring is
// tiny, so that wrapping, growing, gaps and the fight for the last one come often.
#include "rt/sched/yield_queue.h"
#include "tests/sched/crew.h"
#include "tests/sched/tally.h"

namespace janus::test {

namespace {

// Numbers in place of runnables: never looked into.
Runnable* runnable_of(std::uintptr_t number) {
  return reinterpret_cast<Runnable*>(number);
}
std::uintptr_t number_of(Runnable* runnable) {
  return reinterpret_cast<std::uintptr_t>(runnable);
}

struct Tiny : Fifo {
  Tiny() { CHECK(init(1)); }  // two slots
  ~Tiny() { destroy(); }
  void fill(unsigned first, unsigned last) {
    for (unsigned i = first; i <= last; ++i) CHECK(push(runnable_of(i)));
  }
};

constexpr unsigned kMany = 40000;
constexpr std::size_t kBatch = 8;

Tally<kMany> counts;

// Until the owner is through and nothing is left.
void plunder(Fifo& fifo, std::atomic<bool>& is_over, std::size_t most) {
  Runnable* batch[kBatch];
  for (;;) {
    const bool is_last_look = is_over.load();
    const std::size_t count = fifo.steal(batch, most);
    for (std::size_t i = 0; i < count; ++i) counts.take(number_of(batch[i]));
    if (count == 0 && is_last_look && fifo.size() == 0) return;
  }
}

}  // namespace

TEST(fifo, the_owner_takes_the_oldest_first) {
  Tiny fifo;
  fifo.fill(1, 100);
  CHECK_EQ(fifo.size(), 100);
  for (unsigned i = 1; i <= 100; ++i) CHECK_EQ(number_of(fifo.take()), i);
  CHECK(fifo.take() == nullptr);
  CHECK_EQ(fifo.size(), 0);
}

TEST(fifo, it_wraps_around) {
  Tiny fifo;
  for (unsigned i = 1; i <= 1000; ++i) {
    fifo.fill(2 * i, 2 * i + 1);
    CHECK_EQ(number_of(fifo.take()), 2 * i);
    CHECK_EQ(number_of(fifo.take()), 2 * i + 1);
  }
}

TEST(fifo, a_thief_takes_the_younger_half_and_no_more_than_it_wants) {
  Tiny fifo;
  Runnable* batch[64];
  CHECK_EQ(fifo.steal(batch, 64), 0u);
  fifo.fill(1, 11);
  CHECK_EQ(fifo.steal(batch, 64), 6u);
  for (unsigned i = 0; i < 6; ++i) CHECK_EQ(number_of(batch[i]), i + 6);
  CHECK_EQ(fifo.size(), 5);
  CHECK_EQ(fifo.steal(batch, 2), 2u);
  CHECK_EQ(number_of(batch[0]), 4u);
  CHECK_EQ(fifo.size(), 3);
}

TEST(fifo, the_owner_leaps_over_what_was_stolen) {
  Tiny fifo;
  Runnable* batch[64];
  fifo.fill(1, 4);
  CHECK_EQ(fifo.steal(batch, 64), 2u);
  fifo.fill(5, 6);
  CHECK_EQ(number_of(fifo.take()), 1u);
  CHECK_EQ(number_of(fifo.take()), 2u);
  CHECK_EQ(number_of(fifo.take()), 5u);
  CHECK_EQ(number_of(fifo.take()), 6u);
  CHECK(fifo.take() == nullptr);
}

TEST(fifo, behind_and_before_the_gap_thieves_take_all_of_an_owner_that_never_comes) {
  Tiny fifo;
  Runnable* batch[64];
  fifo.fill(1, 9);
  std::uint64_t seen = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t count; (count = fifo.steal(batch, 3)) != 0;)
      for (std::size_t i = 0; i < count; ++i) seen |= std::uint64_t{1} << number_of(batch[i]);
    if (round == 0) fifo.fill(10, 15);
  }
  CHECK_EQ(seen, 0xfffeu);
  CHECK_EQ(fifo.size(), 0);
  CHECK(fifo.take() == nullptr);
  fifo.fill(16, 16);
  CHECK_EQ(number_of(fifo.take()), 16u);
}

TEST(fifo, what_comes_next_can_be_seen_without_taking_it) {
  Tiny fifo;
  fifo.fill(1, 3);
  CHECK_EQ(number_of(fifo.upcoming(0)), 1u);
  CHECK_EQ(number_of(fifo.upcoming(2)), 3u);
  CHECK(fifo.upcoming(3) == nullptr);
  CHECK_EQ(fifo.size(), 3);
}

TEST(fifo, owner_and_thieves_take_each_once) {
  for (unsigned thieves : {1u, 3u}) {
    for (std::size_t most : {std::size_t{1}, kBatch}) {
      counts.clear();
      Tiny fifo;
      std::atomic<bool> is_over{false};
      auto thief = [&] { plunder(fifo, is_over, most); };
      Crew crew;
      for (unsigned i = 0; i < thieves; ++i) crew.start(thief);
      unsigned dice = 1;
      for (unsigned i = 1; i <= kMany;) {
        dice = dice * 1103515245 + 12345;
        for (unsigned n = dice >> 16 & 7; n != 0 && i <= kMany; --n) CHECK(fifo.push(runnable_of(i++)));
        for (unsigned n = dice >> 20 & 7; n != 0; --n) {
          if (Runnable* const mine = fifo.take()) counts.take(number_of(mine));
        }
      }
      is_over.store(true);
      crew.join();
      while (Runnable* const mine = fifo.take()) counts.take(number_of(mine));
      counts.check_each_once();
    }
  }
}

TEST(fifo, the_last_one_has_one_taker) {
  constexpr unsigned kRounds = 20000;
  Tiny fifo;
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> stolen{0};
  auto thief = [&] {
    Runnable* one[1];
    while (!is_over.load()) stolen.fetch_add(static_cast<unsigned>(fifo.steal(one, 1)));
  };
  Crew crew;
  crew.start(thief);
  unsigned taken = 0;
  for (unsigned i = 1; i <= kRounds; ++i) {
    CHECK(fifo.push(runnable_of(i)));
    taken += fifo.take() != nullptr ? 1 : 0;
  }
  is_over.store(true);
  crew.join();
  while (fifo.take() != nullptr) ++taken;
  CHECK_EQ(taken + stolen.load(), kRounds);
  CHECK_EQ(fifo.size(), 0);
}

}  // namespace janus::test
