// SPDX-License-Identifier: Apache-2.0
// deque_test.cpp — every entry is taken exactly once, by the owner or a thief. The rings are tiny, so that wrapping,
// growing and races for the last entry are frequent.
#include "rt/sched/deque.h"
#include "tests/harness/thread_group.h"
#include "tests/sched/tally.h"

namespace janus::test {

namespace {

// Entries made of numbers instead of pointers: they are never dereferenced. The numbers are even, since an entry uses
// its lowest bit itself.
Entry entry_of(std::uintptr_t number) {
  return Entry::from_bits(number * 2);
}
std::uintptr_t number_of(Entry entry) {
  return entry.bits() / 2;
}

struct Tiny : Deque {
  Tiny() { CHECK(init(1)); }  // a ring of two entries
  ~Tiny() { destroy(); }
};

constexpr unsigned kMany = 20000, kFew = 500;

Tally<kMany> tally;

// Takes entries with `take` until the owner has finished and the deque is empty.
template <class Take>
void rob(std::atomic<bool>& is_over, Take take) {
  Entry entry;
  for (;;) {
    const bool is_last_look = is_over.load();
    const Deque::Steal outcome = take(entry);
    if (outcome == Deque::Steal::kTaken) tally.take(number_of(entry));
    if (outcome == Deque::Steal::kEmpty && is_last_look) return;
  }
}

}  // namespace

TEST(deque, the_owner_takes_the_newest_first) {
  Tiny deque;
  for (unsigned i = 1; i <= 100; ++i) CHECK(deque.push(entry_of(i)));
  for (unsigned i = 100; i >= 1; --i) CHECK_EQ(number_of(deque.pop()), i);
  CHECK(!deque.pop());
}

TEST(deque, a_thief_takes_the_oldest_first) {
  Tiny deque;
  for (unsigned i = 1; i <= 100; ++i) CHECK(deque.push(entry_of(i)));
  Entry stolen;
  for (unsigned i = 1; i <= 100; ++i) {
    CHECK_EQ(deque.steal(stolen), Deque::Steal::kTaken);
    CHECK_EQ(number_of(stolen), i);
  }
  CHECK_EQ(deque.steal(stolen), Deque::Steal::kEmpty);
}

TEST(deque, an_empty_one_gives_nothing_however_often_it_is_asked) {
  Tiny deque;
  Entry entry;
  for (int i = 0; i < 1000; ++i) {
    CHECK(!deque.pop());
    CHECK(!deque.take_oldest());
    CHECK_EQ(deque.steal(entry), Deque::Steal::kEmpty);
    CHECK_EQ(deque.size(), 0);
  }
  CHECK(deque.push(entry_of(1)));
  CHECK_EQ(number_of(deque.pop()), 1u);
}

TEST(deque, it_wraps_around) {
  Tiny deque;
  for (unsigned i = 1; i <= 10000; ++i) {
    CHECK(deque.push(entry_of(i)));
    CHECK(deque.push(entry_of(i + 20000)));
    CHECK_EQ(number_of(deque.take_oldest()), i);
    CHECK_EQ(number_of(deque.pop()), i + 20000);
  }
}

TEST(deque, an_entry_remembers_whose_it_is_and_whether_it_was_woken) {
  auto* const runnable = reinterpret_cast<Runnable*>(std::uintptr_t{0x7000});
  for (const Entry entry : {Entry::fresh(runnable), Entry::woken(runnable)}) {
    CHECK(static_cast<bool>(entry));
    CHECK(entry.runnable() == runnable);
    CHECK_EQ(Entry::from_bits(entry.bits()).was_woken(), entry.was_woken());
  }
  CHECK(!Entry::fresh(runnable).was_woken());
  CHECK(Entry::woken(runnable).was_woken());
  CHECK(!Entry());
}

TEST(deque, the_next_entry_can_be_seen_without_taking_it) {
  Tiny deque;
  CHECK(!deque.upcoming(0));
  for (unsigned i = 1; i <= 3; ++i) CHECK(deque.push(entry_of(i)));
  CHECK_EQ(number_of(deque.upcoming(0)), 3u);
  CHECK_EQ(number_of(deque.upcoming(2)), 1u);
  CHECK(!deque.upcoming(3));
  CHECK_EQ(deque.size(), 3);
}

TEST(deque, oldest_shows_the_top_and_takes_nothing) {
  Tiny deque;
  deque.push(Entry::from_bits(4));
  deque.push(Entry::from_bits(8 | 1));
  CHECK_EQ(deque.oldest().bits(), 4u);
  CHECK_EQ(deque.size(), 2);
  CHECK_EQ(deque.pop().bits(), 9u);
  CHECK(!deque.oldest().was_woken());
  CHECK_EQ(deque.size(), 1);
}

TEST(deque, owner_and_thieves_take_each_entry_once) {
  for (unsigned thieves : {1u, 3u}) {
    const unsigned many = scaled(kMany, kFew);
    tally.clear();
    Tiny deque;
    std::atomic<bool> is_over{false};
    auto thief = [&] { rob(is_over, [&](Entry& entry) { return deque.steal(entry); }); };
    ThreadGroup threads;
    for (unsigned i = 0; i < thieves; ++i) threads.start(thief);
    unsigned dice = 1;
    for (unsigned i = 1; i <= many;) {
      dice = dice * 1103515245 + 12345;
      for (unsigned n = dice >> 16 & 7; n != 0 && i <= many; --n) deque.push(entry_of(i++));
      for (unsigned n = dice >> 20 & 7; n != 0; --n) {
        if (const Entry entry = (dice >> 24 & 7) == 0 ? deque.take_oldest() : deque.pop()) tally.take(number_of(entry));
      }
    }
    while (const Entry entry = deque.pop()) tally.take(number_of(entry));
    is_over.store(true);
    threads.join();
    tally.check_each_once(many);
  }
}

TEST(deque, the_last_entry_has_one_taker) {
  const unsigned rounds = scaled(kMany, kFew);
  Tiny deque;
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> stolen{0};
  auto thief = [&] {
    Entry entry;
    while (!is_over.load()) {
      if (deque.steal(entry) == Deque::Steal::kTaken) stolen.fetch_add(1);
    }
  };
  ThreadGroup threads;
  threads.start(thief);
  unsigned popped = 0;
  for (unsigned i = 1; i <= rounds; ++i) {
    deque.push(entry_of(i));
    popped += deque.pop() ? 1 : 0;
  }
  is_over.store(true);
  threads.join();
  CHECK_EQ(popped + stolen.load(), rounds);
  CHECK_EQ(deque.size(), 0);
}

TEST(deque, it_grows_while_thieves_read_the_old_ring) {
  const unsigned many = scaled(kMany, kFew);
  tally.clear();
  Tiny deque;
  std::atomic<bool> is_over{false};
  auto thief = [&] { rob(is_over, [&](Entry& entry) { return deque.steal(entry); }); };
  ThreadGroup threads;
  threads.start(thief);
  for (unsigned i = 1; i <= many; ++i) deque.push(entry_of(i));
  is_over.store(true);
  threads.join();
  tally.check_each_once(many);
}

}  // namespace janus::test
