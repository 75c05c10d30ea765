// SPDX-License-Identifier: Apache-2.0
// broadcast_test.cpp — janus/broadcast.h and janus/watch.h: every reader gets every element that is kept, or the latest.
#include <janus/broadcast.h>
#include <janus/watch.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

template <std::size_t kCapacity>
struct Broadcast {
  Broadcast() { CHECK_EQ(janus_broadcast_init(&raw, room, sizeof room[0], kCapacity), 0); }
  int send(std::uint64_t word) { return janus_broadcast_send(&raw, &word); }
  janus_broadcast raw;
  std::uint64_t room[kCapacity];
};

void wait_until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

// Nothing comes any more, and the mutex is free.
void expect_nothing(janus_broadcast& channel, janus_broadcast_reader& reader) {
  std::uint64_t word = 0, missed = 0;
  CHECK_EQ(janus_broadcast_recv_until(&channel, &reader, &word, &missed, 1), JANUS_E_TIMEOUT);
  CHECK_EQ(janus_broadcast_recv_until(&channel, &reader, &word, &missed, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
}

}  // namespace

TEST(broadcast, every_reader_gets_what_is_sent_from_its_subscription_on) {
  on_any_workers([] {
    Broadcast<4> channel;
    CHECK_EQ(channel.send(1), 0);
    janus_broadcast_reader early = {}, late;
    CHECK_EQ(janus_broadcast_subscribe(&channel.raw, &late), 0);
    for (std::uint64_t i = 2; i < 4; ++i) CHECK_EQ(channel.send(i), 0);
    std::uint64_t word = 0, missed = 9;
    for (std::uint64_t i = 1; i < 4; ++i) {
      CHECK_EQ(janus_broadcast_recv(&channel.raw, &early, &word, &missed), 0);
      CHECK_EQ(word, i);
      CHECK_EQ(missed, 0u);
      if (i == 1) continue;
      CHECK_EQ(janus_broadcast_recv(&channel.raw, &late, &word, nullptr), 0);
      CHECK_EQ(word, i);
    }
    expect_nothing(channel.raw, early);
    expect_nothing(channel.raw, late);
  });
}

TEST(broadcast, a_reader_that_lags_is_told_how_many_it_missed) {
  on_any_workers([] {
    Broadcast<3> channel;
    janus_broadcast_reader reader = {};
    for (std::uint64_t i = 0; i < 10; ++i) CHECK_EQ(channel.send(i), 0);
    std::uint64_t word = 0, missed = 0;
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &reader, &word, &missed), 0);
    CHECK_EQ(word, 7u);
    CHECK_EQ(missed, 7u);
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &reader, &word, &missed), 0);
    CHECK_EQ(word, 8u);
    CHECK_EQ(missed, 0u);
    CHECK_EQ(channel.send(10), 0);
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &reader, &word, &missed), 0);
    CHECK_EQ(word, 9u);
    CHECK_EQ(missed, 0u);
  });
}

TEST(broadcast, a_close_lets_readers_read_what_is_kept) {
  on_any_workers([] {
    Broadcast<2> channel;
    janus_broadcast_reader behind = {}, ahead = {1};
    CHECK_EQ(channel.send(5), 0);
    auto waiter = [&] {
      std::uint64_t word = 0;
      CHECK_EQ(janus_broadcast_recv(&channel.raw, &ahead, &word, nullptr), JANUS_E_CLOSED);
    };
    Scope scope;
    wait_until_blocked(scope.go(waiter));
    CHECK_EQ(janus_broadcast_close(&channel.raw), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(janus_broadcast_close(&channel.raw), JANUS_E_CLOSED);
    CHECK_EQ(channel.send(6), JANUS_E_CLOSED);
    std::uint64_t word = 0;
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &behind, &word, nullptr), 0);
    CHECK_EQ(word, 5u);
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &behind, &word, nullptr), JANUS_E_CLOSED);
  });
}

TEST(broadcast, a_cancel_ends_a_wait_and_a_cancelled_task_can_close) {
  on_any_workers([] {
    Broadcast<2> channel;
    auto task = [&] {
      janus_broadcast_reader reader = {};
      std::uint64_t word = 0;
      CHECK_EQ(janus_broadcast_recv(&channel.raw, &reader, &word, nullptr), JANUS_CANCELLED);
      CHECK_EQ(channel.send(1), JANUS_CANCELLED);
      CHECK_EQ(janus_broadcast_close(&channel.raw), 0);
    };
    Scope scope;
    wait_until_blocked(scope.go(task));
    scope.cancel();
    scope.end();
    CHECK_EQ(channel.send(2), JANUS_E_CLOSED);
  });
}

// Its time passes while the mutex is locked, and the element comes before it gets the mutex again.
TEST(broadcast, a_reader_that_is_late_looks_once_more) {
  run_in(deterministic(1, 1), [] {
    Broadcast<2> channel;
    const std::uint64_t until = janus_now_ns() + kMs;
    auto reader = [&] {
      janus_broadcast_reader place = {};
      std::uint64_t word = 0;
      CHECK_EQ(janus_broadcast_recv_until(&channel.raw, &place, &word, nullptr, until), 0);
      CHECK_EQ(word, 6u);
    };
    Scope scope;
    wait_until_blocked(scope.go(reader));
    CHECK_EQ(janus_mutex_lock(&channel.raw.mutex), 0);
    CHECK_EQ(janus_sleep_until(until + kMs), 0);
    CHECK_EQ(janus_mutex_unlock(&channel.raw.mutex), 0);
    CHECK_EQ(channel.send(6), 0);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(broadcast, senseless_arguments_are_refused) {
  on_any_workers([] {
    janus_broadcast channel;
    janus_broadcast_reader reader = {};
    std::uint64_t room[2] = {}, word = 0;
    CHECK_EQ(janus_broadcast_init(&channel, room, 8, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_init(&channel, nullptr, 8, 2), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_init(nullptr, room, 8, 2), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_init(&channel, nullptr, 0, 2), 0);
    CHECK_EQ(janus_broadcast_send(&channel, nullptr), 0);  // elements of no bytes
    CHECK_EQ(janus_broadcast_recv(&channel, &reader, nullptr, nullptr), 0);
    CHECK_EQ(janus_broadcast_init(&channel, room, 8, 2), 0);
    CHECK_EQ(janus_broadcast_send(&channel, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_recv(&channel, &reader, nullptr, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_recv(&channel, nullptr, &word, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_subscribe(nullptr, &reader), JANUS_E_INVALID);
    CHECK_EQ(janus_broadcast_close(nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_watch_get(nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_watch_set(nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_watch_close(nullptr), JANUS_E_INVALID);
  });
  janus_broadcast channel;
  std::uint64_t room[2] = {};
  CHECK_EQ(janus_broadcast_init(&channel, room, 8, 2), 0);
  CHECK_EQ(janus_broadcast_close(&channel), JANUS_E_NO_TASK);
  CHECK_EQ(janus_broadcast_send(&channel, room), JANUS_E_NO_TASK);
}

// A sender and a reader whose memory is bad panic with the mutex locked.
TEST(broadcast, tasks_that_end_in_the_middle_leave_the_channel_whole) {
  on_any_workers([] {
    Broadcast<2> channel;
    void* const volatile bad = reinterpret_cast<void*>(0x18);  // or the compiler complains
    for (std::uint64_t i = 1; i < 4; ++i) CHECK_EQ(channel.send(i), 0);
    auto sender = [&] { return janus_broadcast_send(&channel.raw, bad); };
    auto reader = [&] {
      janus_broadcast_reader place = {};
      return janus_broadcast_recv(&channel.raw, &place, bad, nullptr);
    };
    janus_broadcast_reader waiting = {3}, other = {};
    std::uint64_t word = 0, missed = 0;
    auto waiter = [&] {
      std::uint64_t got = 0;
      CHECK_EQ(janus_broadcast_recv(&channel.raw, &waiting, &got, nullptr), 0);
      CHECK_EQ(got, 4u);
    };
    Scope waiters, scope(JANUS_ON_ERROR_COLLECT);
    wait_until_blocked(waiters.go(waiter));
    scope.go(reader);
    scope.go(sender);
    CHECK_EQ(scope.end(), JANUS_PANIC);
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &other, &word, &missed), 0);
    CHECK_EQ(word, 3u);  // the oldest one's place may have been written to
    CHECK_EQ(missed, 2u);
    CHECK_EQ(channel.send(4), 0);
    CHECK_EQ(waiters.end(), 0);
    CHECK_EQ(janus_broadcast_recv(&channel.raw, &other, &word, &missed), 0);
    CHECK_EQ(word, 4u);
    CHECK_EQ(missed, 0u);
  });
}

TEST(broadcast, many_readers_see_one_order_and_count_what_they_missed) {
  on_any_workers([] {
    constexpr int kReaders = 3;
    constexpr std::uint64_t kSenders = 2;
    const auto each = static_cast<std::uint64_t>(scaled(500, 100));
    Broadcast<16> channel;
    std::atomic<std::uint64_t> sent{0};
    auto sender = [&] {
      for (std::uint64_t i = 0; i < each; ++i) {
        CHECK_EQ(channel.send(i), 0);
        ++sent;
        if (i % 8 == 0) janus_yield();
      }
    };
    auto reader = [&] {
      janus_broadcast_reader place = {};
      std::uint64_t word = 0, missed = 0, read = 0, lost = 0;
      int answer;
      while ((answer = janus_broadcast_recv(&channel.raw, &place, &word, &missed)) == 0) {
        ++read;
        lost += missed;
        CHECK(word < each);
      }
      CHECK_EQ(answer, JANUS_E_CLOSED);
      CHECK_EQ(read + lost, kSenders * each);
    };
    Scope readers, senders;
    for (int i = 0; i < kReaders; ++i) readers.go(reader);
    for (std::uint64_t i = 0; i < kSenders; ++i) senders.go(sender);
    CHECK_EQ(senders.end(), 0);
    CHECK_EQ(janus_broadcast_close(&channel.raw), 0);
    CHECK_EQ(readers.end(), 0);
    CHECK_EQ(sent.load(), kSenders * each);
  });
}

TEST(watch, readers_get_the_latest_value) {
  on_any_workers([] {
    std::uint64_t room = 7, got = 0;
    janus_watch watch;
    CHECK_EQ(janus_watch_init(&watch, &room, sizeof room), 0);
    CHECK_EQ(janus_watch_get(&watch, &got), 0);
    CHECK_EQ(got, 7u);
    janus_broadcast_reader reader = {};
    CHECK_EQ(janus_watch_next(&watch, &reader, &got), 0);
    CHECK_EQ(got, 7u);
    CHECK_EQ(janus_watch_next_until(&watch, &reader, &got, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    for (std::uint64_t i = 8; i < 12; ++i) CHECK_EQ(janus_watch_set(&watch, &i), 0);
    CHECK_EQ(janus_watch_next(&watch, &reader, &got), 0);
    CHECK_EQ(got, 11u);
    CHECK_EQ(janus_watch_next_until(&watch, &reader, &got, 1), JANUS_E_TIMEOUT);
    const std::uint64_t last = 12;
    CHECK_EQ(janus_watch_set(&watch, &last), 0);
    CHECK_EQ(janus_watch_close(&watch), 0);
    CHECK_EQ(janus_watch_set(&watch, &last), JANUS_E_CLOSED);
    CHECK_EQ(janus_watch_next(&watch, &reader, &got), 0);
    CHECK_EQ(got, 12u);
    CHECK_EQ(janus_watch_next(&watch, &reader, &got), JANUS_E_CLOSED);
    CHECK_EQ(janus_watch_get(&watch, &got), 0);
    CHECK_EQ(got, 12u);
  });
}

TEST(watch, after_a_setter_that_ended_in_the_middle_readers_wait_for_the_next_value) {
  on_any_workers([] {
    std::uint64_t room = 7, got = 0;
    janus_watch watch;
    CHECK_EQ(janus_watch_init(&watch, &room, sizeof room), 0);
    void* const volatile bad = reinterpret_cast<void*>(0x18);  // or the compiler complains
    auto setter = [&] { return janus_watch_set(&watch, bad); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(setter);
    CHECK_EQ(scope.end(), JANUS_PANIC);
    janus_broadcast_reader reader = {};
    CHECK_EQ(janus_watch_next_until(&watch, &reader, &got, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    const std::uint64_t next = 8;
    CHECK_EQ(janus_watch_set(&watch, &next), 0);
    CHECK_EQ(janus_watch_get(&watch, &got), 0);
    CHECK_EQ(got, 8u);
  });
}

TEST(watch, a_waiting_reader_is_woken_by_the_next_value) {
  on_any_workers([] {
    std::uint64_t room = 1;
    janus_watch watch;
    CHECK_EQ(janus_watch_init(&watch, &room, sizeof room), 0);
    auto reader = [&] {
      janus_broadcast_reader place = {1};
      std::uint64_t last = 1, got = 0;
      while (janus_watch_next(&watch, &place, &got) == 0) {
        CHECK(got > last);
        last = got;
      }
      return static_cast<std::int64_t>(last);
    };
    Scope scope;
    const janus_task first = scope.go(reader), second = scope.go(reader);
    for (std::uint64_t i = 2; i <= 100; ++i) {
      CHECK_EQ(janus_watch_set(&watch, &i), 0);
      if (i % 3 == 0) janus_yield();
    }
    CHECK_EQ(janus_watch_close(&watch), 0);
    for (const janus_task task : {first, second}) {
      std::int64_t last = 0;
      CHECK_EQ(janus_task_join(task, &last), 0);
      CHECK_EQ(last, 100);
    }
    CHECK_EQ(scope.end(), 0);
  });
}

}  // namespace janus::test
