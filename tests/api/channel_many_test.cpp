// SPDX-License-Identifier: Apache-2.0
// channel_many_test.cpp — several elements in one call: how many, in which order, and why none.
#include "tests/api/world.h"

namespace janus::test {

namespace {

using Word = std::uint64_t;

struct Opened {
  explicit Opened(std::size_t capacity, std::size_t bytes = sizeof(Word)) : raw(janus_channel_create(bytes, capacity)) {
    CHECK(raw != nullptr);
  }
  ~Opened() { janus_channel_release(raw); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  operator janus_channel*() const { return raw; }

  janus_channel* raw;
};

void wait_until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

// Sends `n` words from `first` on.
int put(janus_channel* channel, Word first, std::size_t n) {
  Word words[64];
  for (std::size_t i = 0; i < n; ++i) words[i] = first + i;
  return janus_channel_send_many(channel, words, n);
}
// Receives up to `n` words, which have to be those from `first` on. How many.
int get(janus_channel* channel, Word first, std::size_t n) {
  Word words[64];
  const int got = janus_channel_recv_many(channel, words, n);
  for (int i = 0; i < got; ++i) CHECK_EQ(words[i], first + static_cast<Word>(i));
  return got;
}

}  // namespace

TEST(channel_many, moves_as_many_as_there_is_room_for_in_order) {
  on_any_workers([] {
    const Opened channel(8);
    Word first = 0;
    for (int turn = 0; turn < 20; ++turn) {  // the place in the buffer differs each time
      CHECK_EQ(put(channel, first, 3), 3);
      CHECK_EQ(put(channel, first + 3, 16), 5);
      CHECK_EQ(get(channel, first, 2), 2);
      CHECK_EQ(put(channel, first + 8, 4), 2);
      CHECK_EQ(get(channel, first + 2, 16), 8);
      Word none = 0;
      CHECK_EQ(janus_channel_try_recv(channel, &none), JANUS_E_WOULD_BLOCK);
      first += 10;
      CHECK_EQ(put(channel, first, 1), 1);
      CHECK_EQ(get(channel, first++, 1), 1);
    }
  });
}

TEST(channel_many, elements_of_any_size_arrive_whole) {
  on_any_workers([] {
    static unsigned char sent[3 * 5000], got[3 * 5000];
    for (const std::size_t size : {1, 2, 3, 7, 8, 9, 16, 63, 255, 4096, 5000}) {
      const Opened channel(4, size);
      for (int turn = 0; turn < 4; ++turn) {
        for (std::size_t i = 0; i < 3 * size; ++i)
          sent[i] = static_cast<unsigned char>(i * 7 + size + static_cast<unsigned>(turn)), got[i] = 0;
        CHECK_EQ(janus_channel_send_many(channel, sent, 3), 3);
        CHECK_EQ(janus_channel_recv_many(channel, got, 3), 3);
        CHECK_EQ(__builtin_memcmp(sent, got, 3 * size), 0);
      }
    }
  });
}

TEST(channel_many, elements_of_no_bytes_are_counted) {
  on_any_workers([] {
    const Opened channel(1'000'000, 0);
    CHECK_EQ(janus_channel_send_many(channel, nullptr, INT32_MAX), 1'000'000);
    CHECK_EQ(janus_channel_recv_many(channel, nullptr, 10), 10);
    CHECK_EQ(janus_channel_recv_many(channel, nullptr, INT32_MAX), 999'990);
  });
}

TEST(channel_many, none_and_too_many_are_answered_at_once) {
  on_any_workers([] {
    const Opened channel(1);
    Word word = 5;
    CHECK_EQ(janus_channel_send_many(channel, &word, 0), 0);
    CHECK_EQ(janus_channel_recv_many(channel, nullptr, 0), 0);
    CHECK_EQ(janus_channel_send_many(channel, &word, std::size_t{1} << 31), JANUS_E_INVALID);
    CHECK_EQ(janus_channel_recv_many(channel, &word, SIZE_MAX), JANUS_E_INVALID);
    CHECK_EQ(janus_channel_send_many(channel, nullptr, 1), JANUS_E_INVALID);
    CHECK_EQ(janus_channel_send_many(nullptr, &word, 1), JANUS_E_INVALID);
    CHECK_EQ(janus_channel_send_many(nullptr, &word, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_channel_try_recv(channel, &word), JANUS_E_WOULD_BLOCK);
    janus_channel* const gone = janus_channel_create(8, 1);
    janus_channel_release(gone);
    CHECK_EQ(janus_channel_send_many(gone, &word, 2), JANUS_E_STALE);
    CHECK_EQ(janus_channel_recv_many(gone, &word, 0), JANUS_E_STALE);
  });
}

TEST(channel_many, a_sender_waits_while_nothing_is_sent) {
  on_any_workers([] {
    const Opened channel(2);
    CHECK_EQ(put(channel, 0, 2), 2);
    auto sender = [&] { return put(channel, 2, 3); };
    Scope scope;
    const janus_task task = scope.go(sender);
    wait_until_blocked(task);
    CHECK_EQ(get(channel, 0, 2), 2);  // so the waiting element comes into the buffer
    std::int64_t sent = 0;
    CHECK_EQ(janus_task_join(task, &sent), 0);
    CHECK_EQ(sent, 2);  // and one more has room
    CHECK_EQ(get(channel, 2, 5), 2);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(channel_many, a_receiver_waits_while_nothing_is_received) {
  on_any_workers([] {
    for (const std::size_t capacity : {0, 4}) {
      const Opened channel(capacity);
      Word words[4] = {};
      auto receiver = [&] { return janus_channel_recv_many(channel, words, 4); };
      Scope scope;
      const janus_task task = scope.go(receiver);
      wait_until_blocked(task);
      CHECK_EQ(put(channel, 7, 3), capacity == 0 ? 1 : 3);  // the waiting task takes one
      std::int64_t got = 0;
      CHECK_EQ(janus_task_join(task, &got), 0);
      CHECK(got >= 1 && got <= (capacity == 0 ? 1 : 3));
      for (std::int64_t i = 0; i < got; ++i) CHECK_EQ(words[i], 7u + static_cast<Word>(i));
      if (got != 3 && capacity != 0) CHECK_EQ(get(channel, 7u + static_cast<Word>(got), 4), 3 - static_cast<int>(got));
      CHECK_EQ(scope.end(), 0);
    }
  });
}

TEST(channel_many, without_a_buffer_each_waiting_task_has_one) {
  on_any_workers([] {
    const Opened channel(0);
    std::atomic<Word> sum{0};
    auto receiver = [&] {
      Word word = 0;
      CHECK_EQ(janus_channel_recv_many(channel, &word, 1), 1);
      sum += word;
    };
    auto sender = [&] {
      Word word = 3;
      CHECK_EQ(janus_channel_send_many(channel, &word, 1), 1);
    };
    Scope scope;
    for (int i = 0; i < 5; ++i) wait_until_blocked(scope.go(receiver));
    CHECK_EQ(put(channel, 10, 8), 5);
    for (int i = 0; i < 5; ++i) wait_until_blocked(scope.go(sender));
    Word words[8] = {};
    CHECK_EQ(janus_channel_recv_many(channel, words, 8), 5);
    for (int i = 0; i < 5; ++i) CHECK_EQ(words[i], 3u);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(sum.load(), 10u + 11 + 12 + 13 + 14);
  });
}

// More senders than one hold of the lock serves, behind a small buffer.
TEST(channel_many, a_crowd_of_senders_is_served_in_the_order_of_coming) {
  on_any_workers([] {
    constexpr unsigned kCrowd = 600;
    const Opened channel(3);
    struct Sender {
      janus_channel* channel;
      Word word;
      std::int64_t operator()() { return janus_channel_send(channel, &word); }
    };
    static Sender senders[kCrowd];
    static Word words[kCrowd + 3];
    CHECK_EQ(put(channel, 0, 3), 3);
    Scope scope;
    for (unsigned i = 0; i < kCrowd; ++i) {
      senders[i] = {channel, i + 3};
      wait_until_blocked(scope.go(senders[i]));
    }
    std::size_t got = 0;
    while (got != kCrowd + 3) {
      const int more = janus_channel_recv_many(channel, words + got, kCrowd + 3 - got);
      if (!CHECK(more > 0)) break;
      got += static_cast<unsigned>(more);
    }
    for (std::size_t i = 0; i < got; ++i) CHECK_EQ(words[i], i);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(channel_many, a_closed_channel_gives_what_is_left) {
  on_any_workers([] {
    const Opened channel(4);
    Word word = 0;
    CHECK_EQ(put(channel, 0, 4), 4);
    CHECK_EQ(janus_channel_close(channel), 0);
    CHECK_EQ(put(channel, 4, 2), JANUS_E_CLOSED);
    CHECK_EQ(get(channel, 0, 3), 3);
    CHECK_EQ(put(channel, 4, 2), JANUS_E_CLOSED);  // although there is room
    CHECK_EQ(get(channel, 3, 3), 1);
    CHECK_EQ(get(channel, 0, 3), JANUS_E_CLOSED);
    CHECK_EQ(janus_channel_recv_many(channel, &word, 0), 0);
  });
}

TEST(channel_many, a_close_and_a_cancel_end_a_wait_that_has_moved_nothing) {
  on_any_workers([] {
    for (const bool closes : {true, false}) {
      for (const std::size_t capacity : {0, 2}) {
        const Opened empty(capacity), full(capacity);
        if (capacity != 0) CHECK_EQ(put(full, 0, 2), 2);
        const int wanted = closes ? JANUS_E_CLOSED : JANUS_CANCELLED;
        auto sender = [&] { CHECK_EQ(put(full, 9, 3), wanted); };
        auto receiver = [&] { CHECK_EQ(get(empty, 0, 3), wanted); };
        Scope scope;
        wait_until_blocked(scope.go(sender));
        wait_until_blocked(scope.go(receiver));
        if (closes) {
          janus_channel_close(full);
          janus_channel_close(empty);
        } else {
          scope.cancel();
        }
        scope.end();
        Word word = 0;
        if (capacity != 0) CHECK_EQ(get(full, 0, 5), 2);  // and nothing of the sender's
        CHECK_EQ(janus_channel_try_recv(full, &word), closes ? JANUS_E_CLOSED : JANUS_E_WOULD_BLOCK);
      }
    }
  });
}

TEST(channel_many, a_cancelled_task_moves_nothing) {
  on_any_workers([] {
    const Opened channel(4);
    CHECK_EQ(put(channel, 0, 2), 2);
    auto task = [&] {
      while (janus_yield() == 0) {
      }
      CHECK_EQ(put(channel, 2, 2), JANUS_CANCELLED);
      CHECK_EQ(get(channel, 0, 2), JANUS_CANCELLED);
      CHECK_EQ(put(channel, 2, 0), JANUS_CANCELLED);
    };
    Scope scope;
    CHECK(has_started(scope.go(task)));
    scope.cancel();
    scope.end();
    CHECK_EQ(get(channel, 0, 5), 2);
  });
}

// A select that waits on the other side is served as any other wait, and stepped over if it has taken another case.
TEST(channel_many, serves_selects_that_wait) {
  on_any_workers([] {
    const Opened one(0), other(0);
    std::atomic<Word> sum{0};
    auto selecting = [&] {
      Word a = 0, b = 0;
      janus_select_case cases[] = {{one, &a, JANUS_RECV, 0}, {other, &b, JANUS_RECV, 0}};
      CHECK_GE(janus_select(cases, 2, -1), 0);
      sum += a + b;
    };
    auto sending = [&] {
      Word a = 20, b = 20;
      janus_select_case cases[] = {{one, &a, JANUS_SEND, 0}, {other, &b, JANUS_SEND, 0}};
      CHECK_GE(janus_select(cases, 2, -1), 0);
    };
    Scope scope;
    for (int i = 0; i < 4; ++i) wait_until_blocked(scope.go(selecting));
    CHECK_EQ(put(one, 1, 2), 2);
    CHECK_EQ(put(other, 3, 8), 2);
    for (int i = 0; i < 4; ++i) wait_until_blocked(scope.go(sending));
    Word words[8];
    CHECK_EQ(janus_channel_recv_many(one, words, 3), 3);
    CHECK_EQ(janus_channel_recv_many(other, words, 3), 1);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(sum.load(), 1u + 2 + 3 + 4);
  });
}

// Senders, receivers and selects of all kinds at once: each element arrives once, those of one sender in order.
TEST(channel_many, nothing_is_lost_doubled_or_overtaken) {
  constexpr Word kSenders = 4, kShift = 32;
  on_any_workers([] {
    const auto each = static_cast<Word>(scaled(600, 100));
    for (const std::size_t capacity : {0, 1, 5, 64}) {
      const Opened channel(capacity);
      std::atomic<Word> next_sender{0}, received{0}, sum{0};
      auto sender = [&] {
        const Word mine = next_sender.fetch_add(1);
        Dice dice(mine + 1);
        for (Word at = 0; at < each;) {
          const Word n = 1 + dice.below(each - at < 20 ? each - at : 20);
          const int sent = put(channel, mine << kShift | at, n);
          if (!CHECK(sent > 0)) return;
          at += static_cast<Word>(sent);
        }
      };
      auto receiver = [&] {
        Dice dice(next_sender.load() + 77);
        Word last[kSenders] = {}, words[32];
        for (;;) {
          int got;
          if (dice.below(4) == 0) {
            janus_select_case one = {channel, words, JANUS_RECV, 0};
            got = janus_select(&one, 1, -1);
            got = got == 0 && one.status == 0 ? 1 : JANUS_E_CLOSED;
          } else {
            got = janus_channel_recv_many(channel, words, 1 + dice.below(32));
          }
          if (got == JANUS_E_CLOSED) break;
          if (!CHECK(got > 0)) break;
          for (int i = 0; i < got; ++i) {
            const Word from = words[i] >> kShift, at = (words[i] & 0xffff'ffff) + 1;
            if (!CHECK(from < kSenders && at > last[from])) return;
            last[from] = at;
            sum += at;
          }
          received += static_cast<Word>(got);
        }
      };
      Scope reading, writing;
      for (int i = 0; i < 3; ++i) reading.go(receiver);
      for (Word i = 0; i < kSenders; ++i) writing.go(sender);
      CHECK_EQ(writing.end(), 0);
      janus_channel_close(channel);
      CHECK_EQ(reading.end(), 0);
      CHECK_EQ(received.load(), kSenders * each);
      CHECK_EQ(sum.load(), kSenders * (each * (each + 1) / 2));
    }
  });
}

TEST(channel_many, one_seed_gives_one_order) {
  const auto hash = [](std::uint64_t seed) {
    janus_stats stats = {};
    run_in(
        deterministic(4, seed),
        [] {
          const Opened channel(5);
          auto sender = [&] {
            for (Word at = 0; at < 200;) at += static_cast<Word>(put(channel, at, 7));
          };
          auto receiver = [&] {
            Word words[9];
            while (janus_channel_recv_many(channel, words, 9) > 0) {
            }
          };
          Scope reading, writing;
          for (int i = 0; i < 3; ++i) reading.go(receiver), writing.go(sender);
          writing.end();
          janus_channel_close(channel);
          reading.end();
        },
        &stats);
    return stats.order_hash;
  };
  CHECK_EQ(hash(3), hash(3));
  CHECK(hash(3) != hash(4));
}

// The account pays for exactly what is moved, and a task beside it is never refused what is there.
TEST(channel_many, a_budget_bounds_how_many_are_moved) {
  on_any_workers([] {
    const Opened channel(64);
    janus_budget budget = budget_of(1'000'000);
    budget.channel_ops = 7;
    const auto left = [] { return janus_budget_get_current().channel_ops; };
    auto task = [&] {
      CHECK_EQ(put(channel, 0, 5), 5);
      CHECK_EQ(left(), 2);
      CHECK_EQ(put(channel, 5, 16), 2);
      CHECK_EQ(left(), 0);
      CHECK_EQ(put(channel, 7, 16), JANUS_E_BUDGET);
    };
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
    cage.go(task);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(get(channel, 0, 64), 7);
    auto none = [&] { CHECK_EQ(put(channel, 0, 2), JANUS_E_NO_CAP); };
    budget.channel_ops = 0;
    Scope without(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
    without.go(none);
    CHECK_EQ(without.end(), 0);
  });
}

}  // namespace janus::test
