// SPDX-License-Identifier: Apache-2.0
// yield_queue_test.cpp — every runnable is taken exactly once: the owner takes the oldest, thieves take half of the
// queue. The ring is tiny, so that wrapping, growing, gaps and races for the last runnable are frequent.
#include "rt/sched/yield_queue.h"
#include "tests/harness/thread_group.h"
#include "tests/sched/tally.h"

namespace janus::test {

namespace {

// Runnables made of numbers instead of pointers: they are never dereferenced.
Runnable* runnable_of(std::uintptr_t number) {
  return reinterpret_cast<Runnable*>(number);
}
std::uintptr_t number_of(Runnable* runnable) {
  return reinterpret_cast<std::uintptr_t>(runnable);
}

struct Tiny : YieldQueue {
  Tiny() { CHECK(init(1)); }  // a ring of two slots
  ~Tiny() { destroy(); }
  void fill(unsigned first, unsigned last) {
    for (unsigned i = first; i <= last; ++i) CHECK(push(runnable_of(i)));
  }
};

constexpr unsigned kMany = 40000, kFew = 500;
constexpr std::size_t kBatch = 8;

Tally<kMany> counts;

// Steals until the owner has finished and the queue is empty.
void plunder(YieldQueue& queue, std::atomic<bool>& is_over, std::size_t most) {
  Runnable* batch[kBatch];
  for (;;) {
    const bool is_last_look = is_over.load();
    const std::size_t count = queue.steal(batch, most);
    for (std::size_t i = 0; i < count; ++i) counts.take(number_of(batch[i]));
    if (count == 0 && is_last_look && queue.size() == 0) return;
  }
}

}  // namespace

TEST(yield_queue, the_owner_takes_the_oldest_first) {
  Tiny queue;
  queue.fill(1, 100);
  CHECK_EQ(queue.size(), 100);
  for (unsigned i = 1; i <= 100; ++i) CHECK_EQ(number_of(queue.take()), i);
  CHECK(queue.take() == nullptr);
  CHECK_EQ(queue.size(), 0);
}

TEST(yield_queue, it_wraps_around) {
  Tiny queue;
  for (unsigned i = 1; i <= 1000; ++i) {
    queue.fill(2 * i, 2 * i + 1);
    CHECK_EQ(number_of(queue.take()), 2 * i);
    CHECK_EQ(number_of(queue.take()), 2 * i + 1);
  }
}

TEST(yield_queue, a_thief_takes_the_younger_half_and_no_more_than_it_wants) {
  Tiny queue;
  Runnable* batch[64];
  CHECK_EQ(queue.steal(batch, 64), 0u);
  queue.fill(1, 11);
  CHECK_EQ(queue.steal(batch, 64), 6u);
  for (unsigned i = 0; i < 6; ++i) CHECK_EQ(number_of(batch[i]), i + 6);
  CHECK_EQ(queue.size(), 5);
  CHECK_EQ(queue.steal(batch, 2), 2u);
  CHECK_EQ(number_of(batch[0]), 4u);
  CHECK_EQ(queue.size(), 3);
}

TEST(yield_queue, the_owner_skips_stolen_entries) {
  Tiny queue;
  Runnable* batch[64];
  queue.fill(1, 4);
  CHECK_EQ(queue.steal(batch, 64), 2u);
  queue.fill(5, 6);
  CHECK_EQ(number_of(queue.take()), 1u);
  CHECK_EQ(number_of(queue.take()), 2u);
  CHECK_EQ(number_of(queue.take()), 5u);
  CHECK_EQ(number_of(queue.take()), 6u);
  CHECK(queue.take() == nullptr);
}

TEST(yield_queue, thieves_take_all_before_and_behind_the_gap_of_an_absent_owner) {
  Tiny queue;
  Runnable* batch[64];
  queue.fill(1, 9);
  std::uint64_t seen = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t count; (count = queue.steal(batch, 3)) != 0;)
      for (std::size_t i = 0; i < count; ++i) seen |= std::uint64_t{1} << number_of(batch[i]);
    if (round == 0) queue.fill(10, 15);
  }
  CHECK_EQ(seen, 0xfffeu);
  CHECK_EQ(queue.size(), 0);
  CHECK(queue.take() == nullptr);
  queue.fill(16, 16);
  CHECK_EQ(number_of(queue.take()), 16u);
}

TEST(yield_queue, the_next_entry_can_be_seen_without_taking_it) {
  Tiny queue;
  queue.fill(1, 3);
  CHECK_EQ(number_of(queue.upcoming(0)), 1u);
  CHECK_EQ(number_of(queue.upcoming(2)), 3u);
  CHECK(queue.upcoming(3) == nullptr);
  CHECK_EQ(queue.size(), 3);
}

TEST(yield_queue, owner_and_thieves_take_each_once) {
  const unsigned many = scaled(kMany, kFew);
  for (unsigned thieves : {1u, 3u}) {
    for (std::size_t most : {std::size_t{1}, kBatch}) {
      counts.clear();
      Tiny queue;
      std::atomic<bool> is_over{false};
      auto thief = [&] { plunder(queue, is_over, most); };
      ThreadGroup threads;
      for (unsigned i = 0; i < thieves; ++i) threads.start(thief);
      unsigned dice = 1;
      for (unsigned i = 1; i <= many;) {
        dice = dice * 1103515245 + 12345;
        for (unsigned n = dice >> 16 & 7; n != 0 && i <= many; --n) CHECK(queue.push(runnable_of(i++)));
        for (unsigned n = dice >> 20 & 7; n != 0; --n) {
          if (Runnable* const mine = queue.take()) counts.take(number_of(mine));
        }
      }
      is_over.store(true);
      threads.join();
      while (Runnable* const mine = queue.take()) counts.take(number_of(mine));
      counts.check_each_once(many);
    }
  }
}

TEST(yield_queue, the_last_one_has_one_taker) {
  const unsigned rounds = scaled(kMany / 2, kFew);
  Tiny queue;
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> stolen{0};
  auto thief = [&] {
    Runnable* one[1];
    while (!is_over.load()) stolen.fetch_add(static_cast<unsigned>(queue.steal(one, 1)));
  };
  ThreadGroup threads;
  threads.start(thief);
  unsigned taken = 0;
  for (unsigned i = 1; i <= rounds; ++i) {
    CHECK(queue.push(runnable_of(i)));
    taken += queue.take() != nullptr ? 1 : 0;
  }
  is_over.store(true);
  threads.join();
  while (queue.take() != nullptr) ++taken;
  CHECK_EQ(taken + stolen.load(), rounds);
  CHECK_EQ(queue.size(), 0);
}

}  // namespace janus::test
